/* See wait.h. */
#include "wait.h"

#include <string.h>

#include "batch.h"
#include "common/args.h"
#include "common/clocks.h"

enum { SLICE_MS = 3600000 };

struct waiting {
    const char *id;
    int64_t until; /* by clock_ms; INT64_MAX: for ever */
    tp_batch *ended;
};

/* Not ended in this time, or a lock in the way: it is asked again as long as there is time. */
static tp_status ask_await(tp_conn *conn, void *arg) {
    struct waiting *waiting = arg;
    int64_t left = waiting->until - clock_ms();
    tp_status status;

    if (left < 0) left = 0;
    status = tp_await(conn, waiting->id, left < SLICE_MS ? left : SLICE_MS, &waiting->ended);
    return status == TP_TIMEOUT ? TP_EXISTS : status;
}

static enum cli_exit code_of(const tp_task *task) {
    if (strcmp(task->state, "done") == 0) return EXIT_DONE;
    return strcmp(task->state, "skipped") == 0 ? EXIT_SKIPPED : EXIT_FAILED;
}

static enum cli_exit report(const tp_task *task, bool inserted) {
    enum cli_exit code = code_of(task);

    if (common.json)
        out_members(MEMBERS(MEMBER_TEXT("id", task->id), MEMBER_YES_NO("inserted", inserted),
                            MEMBER_TEXT("state", task->state), MEMBER_TEXT("result", task->result),
                            MEMBER_TEXT("reason", task->reason)));
    else if (*task->result)
        out_text("%s\n", task->result);
    if (code == EXIT_DONE) return code;
    return cli_fail(code, "task %s %s: %s", task->id,
                    code == EXIT_SKIPPED ? "was skipped" : "is in the failed pool",
                    *task->reason ? task->reason : "no reason given");
}

enum cli_exit wait_for_end(tp_conn *conn, const char *id, bool inserted, int64_t wait_ms, int64_t retry_ms) {
    struct waiting waiting = {.id = id, .until = INT64_MAX};
    enum cli_exit code;
    bool lost = false;
    tp_status status;

    if (!common.quiet && !common.json)
        cli_warn(inserted ? "waiting for task %s" : "already there; waiting for task %s", id);
    if (wait_ms >= 0) waiting.until = clock_ms() + wait_ms;
    do
        status = ask_until(conn, retry_ms, ask_await, &waiting, &lost, NULL);
    while (status == TP_EXISTS && clock_ms() < waiting.until);
    if (status == TP_EXISTS)
        return cli_fail(EXIT_WAITED, "task %s has not ended yet; taskpool show %s", id, id);
    if (status == TP_NONE) return cli_fail(EXIT_NOTHING, "task %s is gone: purged meanwhile", id);
    if (status < 0) return cli_fail_tp(status);
    code = report(tp_batch_task(waiting.ended, 0), inserted);
    tp_batch_free(waiting.ended);
    return code;
}
