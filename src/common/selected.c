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
}
