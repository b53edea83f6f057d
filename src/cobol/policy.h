/* What a TPCLAIM block asks for, as the library takes it. */
#ifndef COBOL_POLICY_H
#define COBOL_POLICY_H

#include "call.h"

struct policy {
    struct claim_block block;
    int64_t delays[BLOCK_DELAYS];
    tp_retry retry;
    const tp_retry *chosen; /* NULL: the library's own */
    char handlers[BLOCK_HANDLERS][HANDLER_FIELD + 1];
    const char *names[BLOCK_HANDLERS];
    tp_claim_request request;
};

/* The whole block; policy holds what the request points to. */
TP_CHECKED tp_status policy_claim(struct call *call, struct policy *policy, const void *block);
/* Only when what failed is tried again. block NULL (OMITTED): as the library does. */
TP_CHECKED tp_status policy_retry(struct call *call, struct policy *policy, const void *block);
/* Notes in the program's block what a claim that failed had asked for. */
void policy_keep_token(const struct policy *policy, void *block);

#endif
