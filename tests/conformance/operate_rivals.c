/* Operators edit, erase, retry, skip, release and drain at random while workers pay: no task is paid twice,
 * none is paid with content that its row does not have, and none goes away unrecorded. */
#include <pthread.h>
#include <stdatomic.h>

#include "suite.h"
#include "worker/heartbeat.h"

THEME(operate_rivals, ONCE);

enum { TASKS = 120, KEYS = 60, OPERATORS = 3, ACTIONS = 100, DRAINED = 2, ACTIONS_MAX = 20000 };

static char ids[TASKS][ID];
static atomic_int wrong, drained;
static atomic_bool over, ended; /* over: no more workers are started; ended: the last one has ended */

/* ---- The workers --------------------------------------------------------------------------------------- */

/* Pays in the task's own transaction, and then fails every other time: that is taken back. */
static tp_verdict pay(tp_run *run, void *arg) {
    static atomic_int calls;
    tp_conn *conn = NULL;
    const tp_task *task = tp_run_task(run);
    (void)arg;
    tp_run_reason(run, "no money");
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    if (!sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", task->id, task->params))
        return TP_RUN_FAILED;
    return atomic_fetch_add(&calls, 1) % 2 ? TP_RUN_DONE : TP_RUN_FAILED;
}

/* Until it is drained. */
static tp_status work(void) {
    static const int64_t delays[] = {1, 5};
    static const tp_retry quick = {.size = sizeof(tp_retry), .delays_ms = delays, .count = 2};
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    options.threads = 3;
    options.poll_ms = 5;
    options.retry = &quick;
    options.name = pool.handler;
    tp_status status = tp_worker_open(pool.env, &options, &worker);
    if (status == TP_OK) status = tp_worker_handle(worker, pool.handler, pay, NULL);
    if (status == TP_OK) status = tp_worker_start(worker);
    if (status == TP_OK) status = tp_worker_join(worker);
    tp_worker_close(worker);
    return status;
}

/* One after the other. */
static void *work_on(void *arg) {
    (void)arg;
    while (!atomic_load(&over)) {
        tp_status status = work();
        atomic_fetch_add(&drained, 1);
        if (status == TP_OK) continue;
        print_error("a worker ended with %s: %s\n", tp_status_name(status), tp_last_error()->text);
        atomic_fetch_add(&wrong, 1);
    }
    atomic_store(&ended, true);
    return NULL;
}

static void end_work(pthread_t workers) {
    atomic_store(&over, true);
    while (!atomic_load(&ended)) {
        tp_status status = tp_drain(pool.a, pool.handler, "ann", NULL);
        if (status < TP_OK && status != TP_CONFLICT && status != TP_TIMEOUT) must(status);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    pthread_join(workers, NULL);
}

/* ---- The operators ------------------------------------------------------------------------------------- */

static unsigned chance(unsigned *seed) {
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 12;
}

/* One that failed lately. */
static tp_status edit(tp_conn *conn, unsigned *seed) {
    char params[16];
    tp_batch *batch = NULL;
    tp_list_request failed = TP_LIST_INIT;
    tp_edit_request request = TP_EDIT_INIT;
    failed.handler = pool.handler;
    failed.state = "failed";
    failed.pool = "all";
    tp_status status = tp_list(conn, &failed, &batch);
    if (status != TP_OK) return status;
    snprintf(params, sizeof params, "p%u", chance(seed) % 1000);
    request.params = params;
    request.fields = TP_EDIT_PARAMS;
    request.retry = chance(seed) % 2;
    status =
        tp_edit(conn, tp_batch_task(batch, chance(seed) % tp_batch_count(batch))->id, &request, "ann", NULL);
    tp_batch_free(batch);
    return status;
}

static tp_status erase(tp_conn *conn, unsigned *seed) {
    char key[16];
    snprintf(key, sizeof key, "k%u", chance(seed) % KEYS);
    return tp_erase(conn, key, "ann", NULL, 0, NULL);
}

static tp_status operate(tp_conn *conn, tp_action action, size_t limit) {
    tp_selection selection = selection_with(.limit = limit);
    return tp_operate(conn, action, &selection, NULL);
}

static tp_status act(tp_conn *conn, unsigned what, unsigned *seed) {
    if (what < 2) return edit(conn, seed);
    if (what < 4) return erase(conn, seed);
    if (what == 4) return operate(conn, TP_ACTION_SKIP, 2);
    if (what == 7) return tp_drain(conn, pool.handler, "ann", NULL);
    return operate(conn, what == 5 ? TP_ACTION_RELEASE : TP_ACTION_RETRY, what == 5 ? 1 : 5);
}

/* What another session was quicker with is an answer; that the server ended the statement as well. */
static bool is_answer(tp_status status) {
    return status >= TP_OK || status == TP_MISUSE || status == TP_CONFLICT || status == TP_TIMEOUT;
}

static void *operate_at_random(void *arg) {
    unsigned seed = *(unsigned *)arg * 7919u + 17u;
    tp_conn *conn = NULL;
    if (tp_conn_open(pool.env, &conn) != TP_OK) atomic_fetch_add(&wrong, 1);
    for (int i = 0; conn && i < ACTIONS_MAX && (i < ACTIONS || atomic_load(&drained) < DRAINED); i++) {
        unsigned what = chance(&seed) % 8;
        tp_status status = act(conn, what, &seed);
        if (is_answer(status)) continue;
        print_error("action %u answered %s: %s\n", what, tp_status_name(status), tp_last_error()->text);
        atomic_fetch_add(&wrong, 1);
    }
    tp_conn_close(conn);
    return NULL;
}

/* ---- The judge ----------------------------------------------------------------------------------------- */

static void judge(const char *id, int *gone) {
    struct row row = row_of(id);
    int64_t effects = effects_of(id);
    *gone += row.copies == 0;
    bool done = strcmp(row.state, "done") == 0;
    bool paid_right = row.copies ? effects == done : effects <= 1;
    if (done &&
        strcmp(text_of("note FROM tp_fx WHERE task_id = '%s'", id), task_shown(pool.b, id)->params) != 0)
        paid_right = false;
    if (row.copies < 2 && paid_right) return;
    print_error("task %s: %d copies, %s, paid %d times\n", id, row.copies, row.state, (int)effects);
    atomic_fetch_add(&wrong, 1);
}

static void add_erased(const struct sql_row *row, void *arg) {
    *(int64_t *)arg += strtoll(row->cell[0], NULL, 10);
}

TEST(test_operate_rivals__no_task_is_paid_twice_or_with_other_content_or_lost) {
    pthread_t workers, threads[OPERATORS];
    unsigned numbers[OPERATORS];
    int64_t erased = 0;
    int gone = 0;
    atomic_store(&wrong, 0);
    atomic_store(&drained, 0);
    atomic_store(&over, false);
    atomic_store(&ended, false);
    tpi_heartbeat_every_ms = 20; /* they soon hear that they are to end */
    for (int i = 0; i < TASKS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i % KEYS);
        snprintf(ids[i], ID, "%s", enqueue(pool.a, .biz_key = key, .params = "p").id);
    }
    expect_number(pthread_create(&workers, NULL, work_on, NULL), 0);
    for (unsigned i = 0; i < OPERATORS; i++) {
        numbers[i] = i;
        expect_number(pthread_create(&threads[i], NULL, operate_at_random, &numbers[i]), 0);
    }
    for (int i = 0; i < OPERATORS; i++)
        pthread_join(threads[i], NULL);
    end_work(workers);
    tpi_heartbeat_every_ms = 10000;
    for (int i = 0; i < TASKS; i++)
        judge(ids[i], &gone);
    sql_raw_each(tp_conn_dbc(pool.eye), add_erased, &erased,
                 "SELECT reason FROM tp_history WHERE event = 'erased'");
    expect_number(erased, gone);
    expect_number(atomic_load(&wrong), 0);
    if (atomic_load(&drained) < DRAINED) fail_msg("%d workers were drained", atomic_load(&drained));
    expect_sound_pools();
}
