/* Answers requests below /api/v1, and those of machines: who may ask for what is decided here. Must not know
 * HTTP's library. Read next: looks.h, actions.h. */
#ifndef CONSOLE_API_H
#define CONSOLE_API_H

#include "console.h"

struct call {
    const char *method, *path; /* GET, POST or DELETE; the path, decoded */
    const char *address;       /* of who asks */
    const char *csrf;          /* as the request says; "": it does not */
    char session[TOKEN_SIZE];  /* of the cookie; "": none */
    struct person person;
    struct request request;
};

/* Below /api/v1/, or /metrics, /healthz, /readyz. */
void api_answer(struct console *console, struct call *call, struct answer *answer);
/* Whose events: NULL: answered why not. */
struct pool *api_events(struct console *console, const struct call *call, struct answer *answer);

#endif
