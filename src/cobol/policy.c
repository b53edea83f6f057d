/* TPCLAIM blocks; see policy.h. */
#include "policy.h"

#include <string.h>

#include "fields.h"

static tp_status read_retry(struct call *call, struct policy *policy) {
    const struct claim_block *block = &policy->block;
    if (block->delay_count < -1 || block->delay_count > BLOCK_DELAYS)
        return call_refuse(call, TP_MISUSE, "TPC-DELAY-COUNT is %d, must be -1 to %d",
                           (int)block->delay_count, BLOCK_DELAYS);
    static const int64_t usual[] = {60000, 300000, 1200000};
    size_t count = block->delay_count > 0 ? (size_t)block->delay_count : 0;
    memcpy(policy->delays, block->delay_ms, sizeof policy->delays);
    policy->retry = (tp_retry)TP_RETRY_INIT;
    policy->retry.delays_ms = policy->delays;
    policy->retry.count = count;
    if (block->delay_count == 0) {
        policy->retry.delays_ms = usual;
        policy->retry.count = sizeof usual / sizeof usual[0];
    }
    policy->retry.on_lapse = (tp_lapse)block->on_lapse;
    policy->chosen = &policy->retry;
    return TP_OK;
}

tp_status policy_retry(struct call *call, struct policy *policy, const void *block) {
    policy->chosen = NULL;
    if (!block) return TP_OK;
    tp_status status = call_block(call, &policy->block, block, sizeof policy->block, "TPCLAIM");
    return status == TP_OK ? read_retry(call, policy) : status;
}

static tp_status read_handlers(struct call *call, struct policy *policy) {
    const struct claim_block *block = &policy->block;
    if (block->handler_count < 1 || block->handler_count > BLOCK_HANDLERS)
        return call_refuse(call, TP_MISUSE, "TPC-HANDLER-COUNT is %d, must be 1 to %d",
                           (int)block->handler_count, BLOCK_HANDLERS);
    tp_status status = TP_OK;
    for (int32_t i = 0; i < block->handler_count && status == TP_OK; i++) {
        status = call_text(call, "TPC-HANDLER", block->handler[i], HANDLER_FIELD, policy->handlers[i]);
        policy->names[i] = policy->handlers[i];
    }
    return status;
}

tp_status policy_claim(struct call *call, struct policy *policy, const void *block) {
    tp_status status = call_block(call, &policy->block, block, sizeof policy->block, "TPCLAIM");
    if (status == TP_OK) status = read_retry(call, policy);
    if (status == TP_OK) status = read_handlers(call, policy);
    if (status != TP_OK) return status;
    tp_claim_request *request = &policy->request;
    *request = (tp_claim_request)TP_CLAIM_INIT;
    request->handlers = policy->names;
    request->handler_count = (size_t)policy->block.handler_count;
    request->limit = 1;
    request->lease_ms = policy->block.lease_ms;
    request->retry = policy->chosen;
    request->in_order = policy->block.in_order;
    return call_text_whole(call, "TPC-TOKEN", policy->block.token, sizeof policy->block.token,
                           request->token);
}

void policy_keep_token(const struct policy *policy, void *block) {
    char *token = (char *)block + offsetof(struct claim_block, token);
    field_fill(token, ID_FIELD, policy->request.token);
}
