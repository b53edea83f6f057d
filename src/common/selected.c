/* See selected.h. */
#include "selected.h"

void selected_for_action(const tp_list_request *request, tp_selection *action) {
    action->ids = request->ids;
    action->id_count = request->id_count;
    action->pool = request->pool;
    action->handler = request->handler;
    action->state = request->state;
    action->reason = request->reason;
    action->reason_like = request->reason_like;
    action->biz_key = request->biz_key;
    action->dedup_key = request->dedup_key;
    action->worker = request->worker;
    action->since = request->since;
    action->until = request->until;
    action->group = request->group;
    action->gate = request->gate;
}

bool selected_is_one_id(const tp_selection *action) {
    bool narrow = action->pool || action->handler || action->state || action->reason || action->biz_key ||
                  action->dedup_key || action->reason_like || action->worker || action->group || action->gate;
    bool bounded = action->older_ms || action->limit || action->since || action->until || action->dry_run;

    return action->id_count == 1 && !narrow && !bounded;
}

const char *cancel_word(tp_cancel_answer answer) {
    static const char *const words[] = {"unknown", "skipped", "asked", "late"};

    return words[answer];
}
