/* What child processes do. They check nothing: they say what they got, and end with 1 when the library
 * answers what it must not. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static int bad(const char *what) {
    child_say("error %s: %s", what, tp_last_error()->text);
    return 1;
}

/* How many tasks of the handler nobody has taken yet; -1: cannot tell. */
static int64_t untaken(void) {
    int64_t number = 0;
    bool done = sql_try_number(pool.a, &number,
                               "SELECT COUNT(*) FROM tp_pending WHERE handler = '%s' AND state = 'pending'",
                               pool.handler);
    return done ? number : -1;
}

/* Claims, with the token kept while the answer says that asking again may help. */
static tp_status claim_stubbornly(tp_claim_request *request, tp_batch **batch) {
    tp_status status;
    do
        status = tp_claim(pool.a, request, batch);
    while (status < TP_OK && tp_status_may_retry(status) && status != TP_DISCONNECTED);
    return status;
}

static void read_arguments(char **arguments, tp_claim_request *request) {
    pool.plan = arguments[0];
    snprintf(pool.handler, sizeof pool.handler, "%s", arguments[1]);
    *request = claim_request((size_t)strtol(arguments[2], NULL, 10));
}

/* Effect and settle in one transaction, again until it is done. */
static bool pay(const tp_task *task) {
    for (int try = 0; try < 50; try++) {
        tp_status status = tp_begin(pool.a);
        if (status == TP_OK &&
            !sql_try(pool.a, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", task->id, pool.handler))
            status = TP_CONFLICT;
        if (status == TP_OK) status = tp_complete(pool.a, task);
        if (status == TP_OK) status = tp_commit(pool.a);
        if (status == TP_OK) return true;
        if (!tp_status_may_retry(status) || status == TP_DISCONNECTED) return false;
        if (tp_rollback(pool.a) == TP_DISCONNECTED) return false;
    }
    return false;
}

/* PLAN HANDLER LIMIT: claims until nothing is left and says every id; with handle, pays and completes each.
 */
static int take_all(char **arguments, bool handle) {
    tp_claim_request request;
    read_arguments(arguments, &request);
    child_say("ready");
    child_wait_for_go();
    while (untaken() != 0) {
        tp_batch *batch = NULL;
        tp_status status = claim_stubbornly(&request, &batch);
        if (status < TP_OK) return bad("tp_claim");
        for (size_t i = 0; i < tp_batch_count(batch); i++) {
            child_say("%s", tp_batch_task(batch, i)->id);
            if (handle && !pay(tp_batch_task(batch, i))) return bad("pay");
        }
        tp_batch_free(batch);
    }
    return 0;
}

/* PLAN HANDLER LIMIT LEASE_MS: claims, says the ids, and stays until it is killed. */
static int hold(char **arguments) {
    tp_claim_request request;
    tp_batch *batch = NULL;
    read_arguments(arguments, &request);
    request.lease_ms = strtol(arguments[3], NULL, 10);
    if (claim_stubbornly(&request, &batch) != TP_OK) return bad("tp_claim");
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        child_say("%s", tp_batch_task(batch, i)->id);
    child_say("held");
    child_wait_for_go();
    return 0;
}

/* PLAN HANDLER LIMIT LEASE_MS: claims, writes the effect, completes, and stays before the commit. Plan hold
 * claims inside the transaction. */
static int pay_and_wait(char **arguments) {
    tp_claim_request request;
    tp_batch *batch = NULL;
    read_arguments(arguments, &request);
    request.lease_ms = strtol(arguments[3], NULL, 10);
    bool holds = pool_plan_holds(pool.plan);
    if (holds && tp_begin(pool.a) != TP_OK) return bad("tp_begin");
    if (claim_stubbornly(&request, &batch) != TP_OK) return bad("tp_claim");
    const tp_task *task = tp_batch_task(batch, 0);
    if (!holds && tp_begin(pool.a) != TP_OK) return bad("tp_begin");
    if (!sql_try(pool.a, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", task->id, pool.handler))
        return bad("effect");
    if (tp_complete(pool.a, task) != TP_OK) return bad("tp_complete");
    child_say("%s", task->id);
    child_wait_for_go();
    return 0;
}

/* HANDLER COUNT: enqueues COUNT tasks with the dedup_keys HANDLER.0, HANDLER.1, ... and says how many were
 * new. */
static int enqueue_keys(char **arguments) {
    int inserted = 0;
    snprintf(pool.handler, sizeof pool.handler, "%s", arguments[0]);
    child_say("ready");
    child_wait_for_go();
    for (long i = 0; i < strtol(arguments[1], NULL, 10); i++) {
        char key[TP_KEY_MAX + 1];
        tp_new_task task = task_new("x");
        tp_status status;
        snprintf(key, sizeof key, "%s.%ld", pool.handler, i);
        task.dedup_key = key;
        do
            status = tp_enqueue(pool.a, &task);
        while (status < TP_OK && tp_status_may_retry(status) && status != TP_DISCONNECTED);
        if (status < TP_OK) return bad("tp_enqueue");
        if (status == TP_OK) inserted++;
    }
    child_say("%d", inserted);
    return 0;
}

/* Fires until an answer says what became of it. Negative: a failure that asking again cannot cure. */
static int64_t fire_stubbornly(void) {
    size_t fired = 0;
    tp_status status;
    do
        status = tp_schedule_fire(pool.a, &fired, NULL);
    while (tp_status_may_retry(status) && status != TP_DISCONNECTED);
    return status == TP_OK ? (int64_t)fired : -1;
}

/* HANDLER: at each go fires, and says how many tasks. */
static int fire_when_told(char **arguments) {
    (void)arguments;
    for (;;) {
        child_wait_for_go();
        int64_t fired = fire_stubbornly();
        if (fired < 0) return bad("tp_schedule_fire");
        child_say("%lld", (long long)fired);
    }
}

/* HANDLER: lets minutes pass and fires, for ever; says something each time. */
static int fire_on(char **arguments) {
    (void)arguments;
    for (;;) {
        tp_status status;
        do
            status = tp_test_advance(pool.a, 60000);
        while (tp_status_may_retry(status) && status != TP_DISCONNECTED);
        if (status != TP_OK) return bad("tp_test_advance");
        if (fire_stubbornly() < 0) return bad("tp_schedule_fire");
        child_say("fired");
    }
}

int role_run(const char *role, char **arguments) {
    pool_join();
    if (strcmp(role, "take") == 0) return take_all(arguments, false);
    if (strcmp(role, "work") == 0) return take_all(arguments, true);
    if (strcmp(role, "hold") == 0) return hold(arguments);
    if (strcmp(role, "pay") == 0) return pay_and_wait(arguments);
    if (strcmp(role, "keys") == 0) return enqueue_keys(arguments);
    if (strcmp(role, "fire") == 0) return fire_when_told(arguments);
    if (strcmp(role, "fire-on") == 0) return fire_on(arguments);
    return 2;
}
