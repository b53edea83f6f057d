/* The crowd's threads that call the library by themselves, each over a connection of its own: claim a few,
 * end each as its fate says, in transactions of different kinds. Deadlocks and timeouts are answered as an
 * application would: roll back, and the same again. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "crowd/crowd.h"
#include "ops/for_workers.h"

enum { MATES = 32, TAKEN = 50 };

enum style {
    STYLE_SINGLY,     /* a transaction for each task */
    STYLE_ALL_IN_ONE, /* one transaction for all, task by task */
    STYLE_TOGETHER,   /* one transaction, in which what is done is completed by tp_complete_many */
    STYLES
};

struct mate {
    pthread_t thread;
    struct board *board;
    tp_conn *conn;
    int number;
    bool holds;
    unsigned chance; /* of rand_r */
    enum style style;
    int64_t stamp_us; /* before the last call: what was claimed was held until then */
    tp_batch *batch;
    size_t count;
    struct board_entry *entries[TAKEN];
    enum board_end ends[TAKEN]; /* as they are to be */
};

static bool now_and_then(struct mate *mate, int one_of) {
    return rand_r(&mate->chance) % one_of == 0;
}

static bool broken(struct mate *mate, const char *what) {
    crowd_break(mate->board, what);
    return false;
}

static bool again(tp_status status) {
    return status < TP_OK && status != TP_DISCONNECTED && tp_status_may_retry(status);
}

static void stamp(struct mate *mate) {
    mate->stamp_us = board_now_us();
}

/* ---- One task ------------------------------------------------------------------------------------------ */

static enum board_end wanted(struct mate *mate, const tp_task *task) {
    if (now_and_then(mate, 40)) return BOARD_RELEASED;
    switch (crowd_fate(task->id)) {
    case CROWD_FAIL_FIRST:
        return task->failures == 0 ? BOARD_FAILED : BOARD_DONE;
    case CROWD_GIVE_UP:
        return BOARD_GAVE_UP;
    case CROWD_SKIP:
        return BOARD_SKIPPED;
    default:
        return BOARD_DONE;
    }
}

static tp_status pay(struct mate *mate, const tp_task *task) {
    return crowd_effect(mate->conn, task) ? TP_OK : TP_CONFLICT;
}

/* In the transaction that is open, or alone. */
static tp_status settle(struct mate *mate, size_t i) {
    const tp_task *task = tp_batch_task(mate->batch, i);
    tp_status status;
    stamp(mate);
    switch (mate->ends[i]) {
    case BOARD_DONE:
        status = pay(mate, task);
        return status == TP_OK ? tp_complete(mate->conn, task) : status;
    case BOARD_FAILED:
        return tp_fail(mate->conn, task, "meant to fail", &crowd_retry);
    case BOARD_GAVE_UP:
        status = tp_give_up(mate->conn, task, "meant to be given up");
        return status == TP_EXHAUSTED ? TP_OK : status;
    case BOARD_SKIPPED:
        return tp_skip(mate->conn, task, "meant to be skipped");
    default:
        return tp_release(mate->conn, task, 0);
    }
}

static void write_down(struct mate *mate, size_t i, enum board_end end) {
    board_end(mate->board, mate->entries[i], end, mate->stamp_us);
}

/* ---- Transactions -------------------------------------------------------------------------------------- */

static tp_status settle_together(struct mate *mate) {
    const tp_task *done[TAKEN];
    size_t count = 0;
    tp_status status = TP_OK;
    for (size_t i = 0; i < mate->count && status == TP_OK; i++) {
        const tp_task *task = tp_batch_task(mate->batch, i);
        if (mate->ends[i] != BOARD_DONE) {
            status = settle(mate, i);
        } else {
            status = pay(mate, task);
            done[count++] = task;
        }
    }
    stamp(mate);
    return status == TP_OK && count ? tp_complete_many(mate->conn, done, count, NULL) : status;
}

/* From first on, count tasks. */
static tp_status settle_each(struct mate *mate, size_t first, size_t count) {
    tp_status status = TP_OK;
    for (size_t i = first; i < first + count && status == TP_OK; i++)
        status = settle(mate, i);
    return status;
}

static tp_status settle_in_tx(struct mate *mate, size_t first, size_t count) {
    tp_status status =
        mate->style == STYLE_TOGETHER ? settle_together(mate) : settle_each(mate, first, count);
    if (status != TP_OK) return status;
    stamp(mate);
    return tp_commit(mate->conn);
}

/* A failure of TP_MISUSE: the commit has rolled back already. */
static bool roll_back(struct mate *mate) {
    tp_status status = tp_rollback(mate->conn);
    return status == TP_OK || status == TP_MISUSE;
}

/* Again until it is done; under a lease the tasks stay ours. */
static bool settle_by_lease(struct mate *mate, size_t first, size_t count) {
    tp_status status;
    do {
        status = tp_begin(mate->conn);
        if (status == TP_OK) status = settle_in_tx(mate, first, count);
        if (status != TP_OK && !roll_back(mate)) return broken(mate, "rollback");
    } while (again(status));
    if (status != TP_OK) return broken(mate, "settle in a transaction");
    for (size_t i = first; i < first + count; i++)
        write_down(mate, i, mate->ends[i]);
    return true;
}

/* What a failing handler has written goes; what is settled without an effect needs no transaction of ours. */
static bool settle_alone(struct mate *mate, size_t i) {
    tp_status status = TP_OK;
    if (mate->ends[i] == BOARD_DONE) return settle_by_lease(mate, i, 1);
    if (mate->ends[i] == BOARD_FAILED) {
        if (tp_begin(mate->conn) == TP_OK) pay(mate, tp_batch_task(mate->batch, i));
        if (!roll_back(mate)) return broken(mate, "rollback of an effect");
    }
    do
        status = settle(mate, i);
    while (again(status));
    if (status != TP_OK) return broken(mate, "settle");
    write_down(mate, i, mate->ends[i]);
    return true;
}

static bool settle_all(struct mate *mate) {
    if (mate->style != STYLE_SINGLY) return settle_by_lease(mate, 0, mate->count);
    for (size_t i = 0; i < mate->count; i++)
        if (!settle_alone(mate, i)) return false;
    return true;
}

/* Under plan hold a transaction that is undone gives all back. */
static bool settle_held(struct mate *mate) {
    tp_status status = now_and_then(mate, 40) ? TP_CONFLICT : settle_in_tx(mate, 0, mate->count);
    if (status != TP_OK && !roll_back(mate)) return broken(mate, "rollback of what was held");
    if (status != TP_OK && !again(status)) return broken(mate, "settle what is held");
    for (size_t i = 0; i < mate->count; i++)
        write_down(mate, i, status == TP_OK ? mate->ends[i] : BOARD_RELEASED);
    return true;
}

/* ---- Claims -------------------------------------------------------------------------------------------- */

static bool extend(struct mate *mate) {
    const tp_task *tasks[TAKEN];
    tp_status status;
    for (size_t i = 0; i < mate->count; i++)
        tasks[i] = tp_batch_task(mate->batch, i);
    do
        status = mate->count == 1 ? tp_extend(mate->conn, tasks[0], CROWD_LEASE_MS)
                                  : tpi_extend_many(mate->conn, tasks, mate->count, CROWD_LEASE_MS, NULL);
    while (again(status));
    return status == TP_OK || broken(mate, "extend");
}

/* TP_NONE: nothing is there. With the token kept, until there is an answer; but plan hold begins anew. */
static tp_status claim(struct mate *mate) {
    static const size_t limits[] = {1, 3, 8, 20, TAKEN};
    char other[TP_HANDLER_MAX];
    const char *handlers[CROWD_HANDLERS];
    tp_claim_request request = TP_CLAIM_INIT;
    tp_status status;
    crowd_handlers(other, handlers);
    request.handlers = handlers;
    request.handler_count = CROWD_HANDLERS;
    if (mate->number % 2) {
        request.handlers = &handlers[now_and_then(mate, 3)];
        request.handler_count = 1;
    }
    request.limit = limits[rand_r(&mate->chance) % 5];
    request.lease_ms = CROWD_LEASE_MS;
    request.plan = pool.plan;
    do {
        status = mate->holds ? tp_begin(mate->conn) : TP_OK;
        if (status == TP_OK) status = tp_claim(mate->conn, &request, &mate->batch);
        if (mate->holds && status != TP_OK && !roll_back(mate)) return TP_DISCONNECTED;
    } while (again(status));
    return status;
}

static bool enter(struct mate *mate) {
    mate->count = tp_batch_count(mate->batch);
    mate->style = (enum style)(rand_r(&mate->chance) % STYLES);
    for (size_t i = 0; i < mate->count; i++) {
        const tp_task *task = tp_batch_task(mate->batch, i);
        mate->entries[i] = board_enter(mate->board, task, mate->number);
        if (!mate->entries[i]) return broken(mate, "the board is full");
        mate->ends[i] = wanted(mate, task);
    }
    return true;
}

static bool take_and_settle(struct mate *mate) {
    tp_status status = claim(mate);
    if (status == TP_NONE) return sched_yield() == 0;
    if (status != TP_OK) return broken(mate, "claim");
    stamp(mate);
    if (!enter(mate)) return false;
    if (mate->holds) return settle_held(mate);
    if (now_and_then(mate, 20) && !extend(mate)) return false;
    return settle_all(mate);
}

static void *live(void *arg) {
    struct mate *mate = arg;
    bool well = true;
    while (well && !board_over(mate->board)) {
        mate->batch = NULL;
        well = take_and_settle(mate);
        tp_batch_free(mate->batch);
    }
    return NULL;
}

void crowd_threads(struct board *board, int threads) {
    static struct mate mates[MATES];
    for (int i = 0; i < threads; i++) {
        mates[i] = (struct mate){.board = board,
                                 .number = i,
                                 .holds = pool_plan_holds(pool.plan),
                                 .chance = (unsigned)(board_now_us() * 31 + i)};
        if (tp_conn_open(pool.env, &mates[i].conn) != TP_OK) crowd_break(board, "connect");
    }
    for (int i = 0; i < threads; i++)
        if (pthread_create(&mates[i].thread, NULL, live, &mates[i])) abort();
    for (int i = 0; i < threads; i++) {
        pthread_join(mates[i].thread, NULL);
        tp_conn_close(mates[i].conn);
    }
}
