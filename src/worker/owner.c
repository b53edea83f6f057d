/* Whose claim a task's row is under, when a settle was told that it is not the one it names. A claim's token
 * ends in digits of the process that made it. Read next: completer.c. */
#include "worker/owner.h"

#include <string.h>

#include "base/uuid.h"

static tp_status ask_owner(tp_conn *conn, void *arg) {
    const char *id = arg;
    const size_t digits = strlen(tpi_uuid_process());
    tp_batch *batch = NULL;
    tp_status status = tp_show(conn, id, &batch);
    if (status != TP_OK) return status;
    const tp_task *now = tp_batch_task(batch, 0);
    size_t length = strlen(now->owner);
    bool ours = strcmp(now->state, "handling") == 0 && length > digits &&
                strcmp(now->owner + length - digits, tpi_uuid_process()) == 0;
    tp_batch_free(batch);
    return ours ? TP_OK : TP_NONE;
}

tp_status tpi_owner_ask(struct tpi_session *session, const tp_task *task) {
    return tpi_session_try(session, ask_owner, (void *)(uintptr_t)task->id);
}
