/* The claiming thread: how many to claim and when, and what is left over at the end. A claim that got no
 * answer keeps its token and its arguments, so that asking again brings what the first try took. */
#include "worker/worker.h"

#include <string.h>

#include "base/clock.h"

struct claimer {
    struct tp_worker *worker;
    struct tpi_line line;
    tp_claim_request request;
    const char *names[TP_CLAIM_HANDLERS_MAX];
    int64_t asked_ms; /* when the claim under this token was first asked */
    bool more;        /* the last claim got all it asked for, so there may be more */
};

static void prepare(struct claimer *claimer, struct tp_worker *worker) {
    *claimer = (struct claimer){.worker = worker, .request = TP_CLAIM_INIT};
    tpi_line_init(&claimer->line, worker, "claimer");
    claimer->line.conn = worker->first;
    worker->first = NULL;
    for (size_t i = 0; i < worker->handler_count; i++)
        claimer->names[i] = worker->handlers[i].name;
    claimer->request.handlers = claimer->names;
    claimer->request.handler_count = worker->handler_count;
    claimer->request.lease_ms = worker->options.lease_ms;
    claimer->request.retry = worker->options.retry;
}

/* The owner hears of each task before any other word about it. */
static void feed(struct claimer *claimer, struct tpi_hand *hand, tp_batch *batch) {
    struct tp_worker *worker = claimer->worker;
    tpi_hand_take(worker, hand, batch, claimer->asked_ms);
    tpi_trace(TPI_TRACE_WORKER, "claimed %zu of %zu", hand->count, claimer->request.limit);
    for (size_t i = 0; i < hand->count; i++) {
        struct tpi_item *item = &hand->items[i];
        tpi_notice_send(worker, TP_EVENT_CLAIMED, item->task, NULL);
        tpi_queue_push(worker, item);
    }
    tpi_hand_unref(worker, hand);
}

static tp_status ask_claim(struct claimer *claimer, tp_batch **batch) {
    tp_status status = tpi_line_ready(&claimer->line);
    if (status != TP_OK) return status;
    status = tp_claim(claimer->line.conn, &claimer->request, batch);
    tpi_line_note(&claimer->line, status);
    return status;
}

static tp_status claim(struct claimer *claimer, size_t room) {
    bool again = claimer->request.token[0] != '\0';
    if (!again) {
        claimer->request.limit = room;
        claimer->asked_ms = tpi_clock_mono_ms();
    }
    claimer->more = false;
    struct tpi_hand *hand = tpi_hand_new(claimer->request.limit);
    if (!hand) {
        claimer->line.tries++;
        return tpi_error(TP_NOMEM, "out of memory for a claim of %zu tasks", claimer->request.limit);
    }
    tp_batch *batch = NULL;
    tp_status status = ask_claim(claimer, &batch);
    if (status != TP_OK) {
        tpi_hand_free(hand);
        return status;
    }
    /* What an earlier try took says nothing about what has become due since. */
    claimer->more = again || tp_batch_count(batch) == claimer->request.limit;
    feed(claimer, hand, batch);
    return TP_OK;
}

struct open_tasks {
    const struct claimer *claimer;
    int64_t count;
};

static void count_open(const tp_stat *stat, void *arg) {
    struct open_tasks *open = arg;
    if (strcmp(stat->pool, "pending") != 0) return;
    for (size_t i = 0; i < open->claimer->request.handler_count; i++)
        if (strcmp(stat->handler, open->claimer->names[i]) == 0) open->count += stat->count;
}

/* Tasks that are not due, and those that other workers hold, are open too: they may come back. */
static bool drained(struct claimer *claimer) {
    struct open_tasks open = {claimer, 0};
    if (tpi_line_ready(&claimer->line) != TP_OK) return false;
    tp_status status = tp_stats(claimer->line.conn, 0, count_open, &open);
    tpi_line_note(&claimer->line, status);
    return status == TP_OK && open.count == 0;
}

static void rest(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    int64_t poll_ms = worker->options.poll_ms;
    if (!worker->options.drain) {
        tpi_worker_pause(worker, poll_ms, false);
        return;
    }
    if (!tpi_hand_wait_empty(worker, poll_ms)) return;
    if (drained(claimer))
        tp_worker_stop(worker);
    else
        tpi_worker_pause(worker, poll_ms < TPI_DRAIN_POLL_MS ? poll_ms : TPI_DRAIN_POLL_MS, false);
}

/* Never silent, never busy: a failure that will not pass is told each time. */
static void recover(struct claimer *claimer, tp_status status) {
    if (!tpi_line_hope(&claimer->line, status))
        tpi_notice_send(claimer->worker, TP_EVENT_ERROR, NULL, tp_last_error()->text);
    tpi_line_pause(&claimer->line, TPI_UNTIL_STOP);
}

static void claim_until_stop(struct claimer *claimer) {
    size_t room;
    while ((room = tpi_queue_room(claimer->worker)) > 0) {
        tp_status status = claim(claimer, room);
        if (status < 0)
            recover(claimer, status);
        else if (!claimer->more)
            rest(claimer);
    }
}

/* A claim that the stop left without an answer may have taken tasks. One more try brings them here to be
 * released, rather than to wait for their lease and be counted as crashed. */
static void ask_once_more(struct claimer *claimer) {
    if (claimer->request.token[0] == '\0' || !claimer->line.broken) return;
    tp_status status = claim(claimer, 0);
    if (status < 0) tpi_notice_send(claimer->worker, TP_EVENT_ERROR, NULL, tp_last_error()->text);
}

static void release_left(struct claimer *claimer) {
    struct tp_worker *worker = claimer->worker;
    struct tpi_item *item;
    bool answers = true;
    while ((item = tpi_queue_left(worker)) != NULL) {
        if (tpi_item_settle(worker, item) && answers) answers = tpi_settle_release(&claimer->line, item);
        tpi_item_end(worker, item);
    }
}

void *tpi_claimer_main(void *arg) {
    struct tp_worker *worker = arg;
    struct claimer claimer;
    prepare(&claimer, worker);
    claim_until_stop(&claimer);
    ask_once_more(&claimer);
    release_left(&claimer);
    tpi_line_close(&claimer.line);
    tpi_hand_no_more(worker);
    return NULL;
}
