/* See rig.h. */
#include "worker/rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/uuid.h"
#include "ops/conn.h"

enum { WORKERS = 4, PUT_MAX = 1000 };

struct rig rig;

static tp_worker *open_workers[WORKERS]; /* those that the test has not closed yet */
static int sockets_before;

static const int64_t quick_delays[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const tp_retry quick = {.size = sizeof(tp_retry), .delays_ms = quick_delays, .count = 10};

/* ---- Around the tests --------------------------------------------------------------------------------- */

void rig_begin(void) {
    const char *filter = getenv("TASKPOOL_TEST_FILTER");
    if (filter) cmocka_set_test_filter(filter);
    faults_open();
    pool_open();
    faults_spare(&pool.a->store.link);
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
}

void rig_end(void) {
    pool_close();
}

/* Sessions of this process at a server. */
static int count_sockets(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0) count++;
    }
    closedir(folder);
    return count;
}

/* Each worker tells of one event at a time; two of them may tell at once. */
static bool together;

int rig_set_up(void **state) {
    int code = pool_fresh(state);
    faults_clear();
    watch_open(&rig.watch);
    gate_init(&rig.gate);
    atomic_store(&rig.runs, 0);
    together = false;
    sockets_before = count_sockets();
    return code;
}

/* A test that failed leaves its worker running. */
static void close_workers(void) {
    faults_clear();
    gate_open(&rig.gate);
    for (int i = 0; i < WORKERS; i++) {
        tp_worker_close(open_workers[i]);
        open_workers[i] = NULL;
    }
}

int rig_tear_down(void **state) {
    (void)state;
    close_workers();
    int overlaps = together ? 0 : atomic_load(&rig.watch.overlaps);
    int left = count_sockets() - sockets_before;
    watch_close(&rig.watch);
    if (overlaps) print_error("%d events were told while another was\n", overlaps);
    if (left > 0) print_error("%d connections were left open\n", left);
    return overlaps || left > 0;
}

/* ---- Workers ------------------------------------------------------------------------------------------ */

tp_worker_options rig_options(void) {
    tp_worker_options o = TP_WORKER_INIT;
    o.threads = 3;
    o.batch = 10;
    o.poll_ms = 20;
    o.retry = &quick;
    o.drain = 1;
    o.on_event = watch_event;
    o.event_arg = &rig.watch;
    return o;
}

static void replace(tp_worker *old, tp_worker *new) {
    for (int i = 0; i < WORKERS; i++) {
        if (open_workers[i] != old) continue;
        open_workers[i] = new;
        return;
    }
}

tp_worker_options rig_undrained(void) {
    tp_worker_options o = rig_options();
    o.drain = 0;
    return o;
}

tp_worker *rig_open(const tp_worker_options *o, tp_handler_fn fn, void *arg) {
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, o, &worker));
    for (int i = 0; i < WORKERS; i++)
        together = together || open_workers[i];
    replace(NULL, worker);
    must(tp_worker_handle(worker, pool.handler, fn, arg));
    return worker;
}

tp_worker *rig_start(const tp_worker_options *o, tp_handler_fn fn) {
    tp_worker *worker = rig_open(o, fn, NULL);
    must(tp_worker_start(worker));
    return worker;
}

void rig_finish(tp_worker *worker) {
    must(tp_worker_join(worker));
    replace(worker, NULL);
    tp_worker_close(worker);
}

void rig_stop_and_finish(tp_worker *worker) {
    gate_open(&rig.gate);
    tp_worker_stop(worker);
    rig_finish(worker);
}

tp_worker_info rig_info(tp_worker *worker) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    must(tp_worker_about(worker, &info));
    return info;
}

void rig_run(tp_handler_fn fn) {
    tp_worker_options o = rig_options();
    rig_finish(rig_start(&o, fn));
}

void rig_run_singly(tp_handler_fn fn) {
    tp_worker_options o = rig_options();
    o.settle_count = 1;
    rig_finish(rig_start(&o, fn));
}

/* ---- Tasks -------------------------------------------------------------------------------------------- */

void rig_put(int count, const char *params) {
    static tp_new_task tasks[PUT_MAX];
    size_t inserted = 0;
    for (int i = 0; i < count; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = pool.handler;
        tasks[i].params = params;
    }
    must(tp_enqueue_many(pool.a, tasks, (size_t)count, &inserted));
    expect_number(inserted, count);
}

int rig_count(const char *in) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE handler = '%s'", in, pool.handler);
}

int rig_count_state(const char *in, const char *state) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE handler = '%s' AND state = '%s'", in,
                           pool.handler, state);
}

int rig_failures(const char *in) {
    return (int)sql_number(pool.eye, "SELECT SUM(failures) FROM tp_%s WHERE handler = '%s'", in,
                           pool.handler);
}

int rig_effects(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s'", pool.handler);
}

static int effect_tasks(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(DISTINCT task_id) FROM tp_fx WHERE note = '%s'",
                           pool.handler);
}

void rig_check(int pending, int finished, int failed, const char *file, int line) {
    check_number(rig_count("pending"), pending, "tasks pending", file, line);
    check_number(rig_count("finished"), finished, "tasks finished", file, line);
    check_number(rig_count("failed"), failed, "tasks failed", file, line);
}

void rig_check_paid(int count, const char *file, int line) {
    rig_check(0, count, 0, file, line);
    check_number(rig_effects(), count, "effects", file, line);
    check_number(effect_tasks(), count, "tasks with an effect", file, line);
    check_number(rig_failures("finished"), 0, "failures", file, line);
}

int rig_told(tp_event event) {
    return watch_count(&rig.watch, event);
}

bool rig_steal(const tp_task *task) {
    char token[TPI_UUID_SIZE];
    tpi_uuid_random(token);
    return sql_try(pool.eye, "UPDATE tp_pending SET owner = '%s', due_at = due_at + 3600000 WHERE id = '%s'",
                   token, task->id);
}

/* ---- Aims that depend on the database ------------------------------------------------------------------ */

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* Of one handler. */
static bool skips_in_one(void) {
    return (pool.eye->store.caps & (TPI_CAP_SKIP_RETURNING | TPI_CAP_SKIP_UPDATE)) != 0;
}

struct faults_aim rig_aim_at_settle(const char *move) {
    bool in_two = (pool.eye->store.caps & TPI_CAP_MOVE_IN_TWO) != 0;
    const char *last = is(move, "move_failed") ? "history_add" : "move_delete";
    return in_two ? (struct faults_aim){.statement = "commit", .after = last}
                  : (struct faults_aim){.statement = move};
}

struct faults_aim rig_aim_at_claim(void) {
    const tp_conn_info *about = tp_conn_about(pool.eye);
    if (is(about->plan, "cas")) return (struct faults_aim){.statement = "claim_cas"};
    if (is(about->plan, "skip") && !skips_in_one())
        return (struct faults_aim){.statement = "commit", .after = "claim_mark_many"};
    if (is(about->plan, "batch") && (pool.eye->store.caps & TPI_CAP_BATCH_PICKED))
        return (struct faults_aim){.statement = "claim_mark_many"};
    return (struct faults_aim){.statement = rig_claim_statement()};
}

const char *rig_claim_statement(void) {
    const tp_conn_info *about = tp_conn_about(pool.eye);
    if (is(about->plan, "cas")) return "claim_candidates";
    if (is(about->plan, "batch") && (pool.eye->store.caps & TPI_CAP_BATCH)) return "claim_batch";
    return is(about->plan, "skip") && skips_in_one() ? "claim_skip" : "claim_pick";
}

/* ---- Handlers ----------------------------------------------------------------------------------------- */

tp_verdict rig_effect(tp_run *run, tp_verdict verdict) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) {
        tp_run_reason(run, "no connection");
        return TP_RUN_FAILED;
    }
    if (sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", tp_run_task(run)->id,
                pool.handler))
        return verdict;
    tp_run_reason(run, sql_reason());
    return TP_RUN_FAILED;
}

tp_verdict rig_done(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    return TP_RUN_DONE;
}

tp_verdict rig_pay(tp_run *run, void *arg) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    return rig_effect(run, TP_RUN_DONE);
}

tp_verdict rig_fail(tp_run *run, void *arg) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    tp_run_reason(run, "no money");
    return TP_RUN_FAILED;
}

tp_verdict rig_wait(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    gate_pass(&rig.gate);
    return TP_RUN_DONE;
}
