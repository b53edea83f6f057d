/* The crowd's workers: a tp_worker in each process, whose handlers end each task as its fate says. Some write
 * an effect in the task's own transaction, the others end by settles in groups. */
#include <string.h>

#include "crowd/crowd.h"

static tp_verdict verdict_for(const tp_task *task, enum board_end *end) {
    switch (crowd_fate(task->id)) {
    case CROWD_FAIL_FIRST:
        *end = task->failures == 0 ? BOARD_FAILED : BOARD_DONE;
        return task->failures == 0 ? TP_RUN_FAILED : TP_RUN_DONE;
    case CROWD_GIVE_UP:
        *end = BOARD_GAVE_UP;
        return TP_RUN_FAILED;
    case CROWD_SKIP:
        *end = BOARD_SKIPPED;
        return TP_RUN_SKIPPED;
    default:
        *end = BOARD_DONE;
        return TP_RUN_DONE;
    }
}

static bool pay(tp_run *run) {
    tp_conn *conn = NULL;
    return tp_run_conn(run, &conn) == TP_OK && crowd_effect(conn, tp_run_task(run));
}

/* One of 40 is put back, by a number that is another each time. */
static tp_verdict handle(tp_run *run, void *arg) {
    struct board *board = arg;
    const tp_task *task = tp_run_task(run);
    enum board_end end = BOARD_OPEN;
    tp_verdict verdict = verdict_for(task, &end);
    struct board_entry *entry = board_enter(board, task, 0);
    if (!entry) return TP_RUN_FAILED;
    if (tp_shard_of(task->owner, 40) == 1 && tp_shard_of(task->id, 2) == 1) {
        verdict = TP_RUN_LATER;
        end = BOARD_RELEASED;
    }
    if (end == BOARD_GAVE_UP) tp_run_no_retry(run);
    int64_t held_us = board_now_us(); /* a deadlock in what follows lets another have it */
    /* Without its effect it is not done: the worker has to undo it and run it again. */
    if (end == BOARD_DONE && crowd_pays(task->id) && !pay(run)) verdict = TP_RUN_LATER;
    board_end(board, entry, verdict == TP_RUN_LATER ? BOARD_RELEASED : end, held_us);
    return verdict;
}

static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    if (event == TP_EVENT_DONE || event == TP_EVENT_SKIPPED || event == TP_EVENT_GAVE_UP)
        board_notice(arg, task, BOARD_SETTLED);
    if (event == TP_EVENT_LOST) {
        board_notice(arg, task, BOARD_LOST);
        board_trouble_by("(lost)", "", 0, 0, text);
    }
    if (event == TP_EVENT_ERROR) board_trouble_by("(error event)", "", 0, 0, text);
    if (event == TP_EVENT_OFFLINE) crowd_break(arg, "offline");
}

void crowd_worker(struct board *board, int threads) {
    char other[TP_HANDLER_MAX];
    const char *handlers[CROWD_HANDLERS];
    tp_worker *worker = NULL;
    tp_worker_options options = TP_WORKER_INIT;
    crowd_handlers(other, handlers);
    options.threads = threads;
    options.batch = 50;
    options.queue = 50;
    options.lease_ms = CROWD_LEASE_MS;
    options.poll_ms = 20;
    options.plan = pool.plan;
    options.retry = &crowd_retry;
    options.drain = 1;
    options.on_event = on_event;
    options.event_arg = board;
    tp_status status = tp_worker_open(pool.env, &options, &worker);
    for (int i = 0; i < CROWD_HANDLERS && status == TP_OK; i++)
        status = tp_worker_handle(worker, handlers[i], handle, board);
    if (status == TP_OK) status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    if (status != TP_OK) crowd_break(board, "worker");
    tp_worker_close(worker);
}
