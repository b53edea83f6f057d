/* The main, set-up and handlers of the worker's tests. See rig.h. */
#include "worker/rig.h"

#include <dirent.h>
#include <unistd.h>

#include "base/uuid.h"
#include "ops/conn.h"
#include "support/locked.h"
#include "worker/canceller.h"
#include "worker/watchdog.h"
#include "worker/worker.h"

enum { WORKERS = 4, PUT_MAX = 1000, TEST_LIMIT_S = 1200 };

struct rig rig;

static tp_worker *open_workers[WORKERS]; /* those that the test has not closed yet */
static int sockets_before;

static const int64_t quick_delays[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
const tp_retry rig_quick_retries = {.size = sizeof(tp_retry), .delays_ms = quick_delays, .count = 10};
const tp_retry rig_no_retries = {.size = sizeof(tp_retry)};

/* ---- The program --------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    if (role_is_played(argc, argv)) {
        pool_join();
        snprintf(pool.handler, sizeof pool.handler, "%s", argv[3]);
        return role_play(argc, argv);
    }
    rig.argument = argc > 1 ? argv[1] : NULL;
    faults_open();
    pool_open();
    faults_spare(&pool.a->store.link);
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
    int failed = test_run(&(struct test_group){.set_up = rig_set_up, .tear_down = rig_tear_down});
    pool_close();
    return failed;
}

/* ---- Around the tests --------------------------------------------------------------------------------- */

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
    alarm(TEST_LIMIT_S); /* one that hangs ends the program */
    int code = pool_fresh(state);
    faults_clear();
    watch_open(&rig.watch);
    gate_init(&rig.gate);
    atomic_store(&rig.runs, 0);
    rig.arg = NULL;
    rig.options = NULL;
    together = false;
    tpi_lease_parts = 3;
    tpi_canceller_every_ms = 1000;
    tpi_watchdog_limit_ms = 3600000; /* a call is late on a busy machine; a test of silence sets its own */
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
    alarm(0);
    return overlaps || left > 0;
}

/* ---- What a test needs --------------------------------------------------------------------------------- */

void rig_needs_hold(void) {
    if (pool_plan_possible("hold")) return;
    print_message("SKIPPED: plan hold is not possible here\n");
    skip();
}

void rig_needs_sessions_that_can_be_ended(void) {
    if (engine_ends_sessions()) return;
    print_message("SKIPPED: there are no sessions here that could be ended\n");
    skip();
}

/* ---- Workers ------------------------------------------------------------------------------------------ */

static void replace(tp_worker *old, tp_worker *new) {
    for (int i = 0; i < WORKERS; i++) {
        if (open_workers[i] != old) continue;
        open_workers[i] = new;
        return;
    }
}

tp_worker *rig_open_by(const tp_worker_options *o, tp_handler_fn fn) {
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, o, &worker));
    for (int i = 0; i < WORKERS; i++)
        together = together || open_workers[i];
    replace(NULL, worker);
    must(tp_worker_handle_by(worker, pool.handler, fn, rig.arg, rig.options));
    return worker;
}

tp_worker *rig_start_by(int tasks, const tp_worker_options *o, tp_handler_fn fn) {
    if (tasks) rig_put(tasks, "x");
    tp_worker *worker = rig_open_by(o, fn);
    must(tp_worker_start(worker));
    return worker;
}

tp_worker *rig_open(tp_handler_fn fn) {
    return rig_open_by(&RIG_OPTIONS(.drain = 0), fn);
}

tp_worker *rig_start(int tasks, tp_handler_fn fn) {
    return rig_start_by(tasks, &RIG_OPTIONS(.drain = 0), fn);
}

void rig_close(tp_worker *worker) {
    replace(worker, NULL);
    tp_worker_close(worker);
}

void rig_finish(tp_worker *worker) {
    must(tp_worker_join(worker));
    rig_close(worker);
}

void rig_let_finish(tp_worker *worker) {
    gate_open(&rig.gate);
    rig_finish(worker);
}

void rig_stop(tp_worker *worker) {
    tp_worker_stop(worker);
    rig_let_finish(worker);
}

void rig_finish_late(tp_worker *worker) {
    gate_open(&rig.gate);
    while (tp_worker_join(worker) == TP_TIMEOUT)
        continue;
    rig_finish(worker);
}

void rig_finish_at(tp_event event, int tasks, tp_worker *worker) {
    if (tasks) rig_put(tasks, "x");
    rig.watch.stop_at = worker;
    rig.watch.stop_on = event;
    must(tp_worker_start(worker));
    rig_finish(worker);
}

void rig_run(int tasks, tp_handler_fn fn) {
    rig_finish(rig_start_by(tasks, &RIG_OPTIONS(.drain = 1), fn));
}

tp_worker_info rig_info(tp_worker *worker) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    must(tp_worker_about(worker, &info));
    return info;
}

void rig_extend_often(void) {
    tpi_lease_parts = 300;
}

void rig_look_for_no_cancels(void) {
    tpi_canceller_every_ms = 3600000;
}

static int count_unwanted(struct tpi_jobs *jobs) {
    int count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (struct tpi_job *job = jobs->oldest; job; job = job->newer)
        count += atomic_load(&job->stop_notice) != NULL;
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

void rig_await_unwanted(tp_worker *worker, int count) {
    for (int i = 0; count_unwanted(&worker->jobs) != count && i < 30000; i++)
        rig_pause_10_ms();
    expect_number(count_unwanted(&worker->jobs), count);
}

static int end_leases(struct tpi_jobs *jobs) {
    int count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (struct tpi_job *job = jobs->oldest; job; job = job->newer) {
        count += job->lease.until != 0; /* a claim's tasks come one after the other */
        job->lease.until = 0;
    }
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

void rig_let_leases_run_out(int tasks) {
    for (int i = 0; tasks > 0 && i < 30000; i++) {
        tasks -= end_leases(&open_workers[0]->jobs);
        if (tasks > 0) rig_pause_10_ms();
    }
}

void rig_await_queued(tp_worker *worker, size_t count) {
    for (int i = 0; rig_info(worker).queued != count && i < 30000; i++)
        rig_pause_10_ms();
    expect_number(rig_info(worker).queued, count);
}

void rig_check_step(tp_worker *worker, size_t count, const char *file, int line) {
    size_t handled = 99;
    check_status(count ? TP_OK : TP_NONE, tp_worker_step(worker, &handled), "tp_worker_step", file, line);
    check_number((int64_t)handled, (int64_t)count, "handled", file, line);
}

void rig_pause_10_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

tp_status rig_advance(tp_conn *conn, int64_t ms) {
    tp_status status = tp_test_advance(conn, ms);
    for (int i = 0; status == TP_CONFLICT && i < 100; i++)
        status = tp_test_advance(conn, ms);
    return status;
}

/* ---- Tasks -------------------------------------------------------------------------------------------- */

void rig_put(int count, const char *params) {
    static tp_new_task tasks[PUT_MAX];
    size_t inserted = 0;
    if (count > PUT_MAX) fail_msg("%d tasks; at most %d", count, PUT_MAX);
    for (int i = 0; i < count; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = pool.handler;
        tasks[i].params = params;
    }
    must(tp_enqueue_many(pool.a, tasks, (size_t)count, &inserted));
    expect_number(inserted, count);
}

int64_t rig_set_due(int64_t due_at) {
    return sql_run(pool.eye, "UPDATE tp_pending SET due_at = %lld WHERE handler = '%s'", (long long)due_at,
                   pool.handler);
}

tp_batch *rig_claim(tp_conn *conn, size_t limit) {
    const char *handler = pool.handler;
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = &handler;
    request.handler_count = 1;
    request.limit = limit;
    request.lease_ms = 600000;
    tp_status status = tp_claim(conn, &request, &batch);
    if (status != TP_NONE) must(status);
    return batch;
}

int rig_count_where(const char *table, const char *condition) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE handler = '%s' AND %s", table,
                           pool.handler, condition);
}

int rig_count(const char *in) {
    return rig_count_where(in, "1 = 1");
}

int rig_count_state(const char *in, const char *state) {
    char condition[40];
    snprintf(condition, sizeof condition, "state = '%s'", state);
    return rig_count_where(in, condition);
}

int rig_failures(const char *in) {
    return (int)sql_number(pool.eye, "SELECT SUM(failures) FROM tp_%s WHERE handler = '%s'", in,
                           pool.handler);
}

int rig_effects(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s'", pool.handler);
}

int rig_tasks_with_effect(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(DISTINCT task_id) FROM tp_fx WHERE note = '%s'",
                           pool.handler);
}

void rig_delete_pending(void) {
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

bool rig_steal(const tp_task *task) {
    char token[TPI_UUID_SIZE];
    tpi_uuid_random(token);
    return sql_try(pool.eye, "UPDATE tp_pending SET owner = '%s', due_at = due_at + 3600000 WHERE id = '%s'",
                   token, task->id);
}

/* ---- What came of it ----------------------------------------------------------------------------------- */

int rig_told(tp_event event) {
    return watch_count(&rig.watch, event);
}

#define CHECK(member, got)                                                                                   \
    if (wanted->member != RIG_ANY) check_number((got), wanted->member, #member, file, line)

static void show_errors(int wanted) {
    if (wanted == RIG_ANY || rig_told(TP_EVENT_ERROR) == wanted) return;
    LOCKED(&rig.watch.lock);
    print_error("errors that were told:\n%s", rig.watch.errors);
}

static void check_events(const struct rig_outcome *wanted, const char *file, int line) {
    show_errors(wanted->errors);
    CHECK(claimed, rig_told(TP_EVENT_CLAIMED));
    CHECK(done, rig_told(TP_EVENT_DONE));
    CHECK(retried, rig_told(TP_EVENT_RETRY));
    CHECK(gave_up, rig_told(TP_EVENT_GAVE_UP));
    CHECK(skipped, rig_told(TP_EVENT_SKIPPED));
    CHECK(released, rig_told(TP_EVENT_RELEASED));
    CHECK(lost, rig_told(TP_EVENT_LOST));
    CHECK(offline, rig_told(TP_EVENT_OFFLINE));
    CHECK(online, rig_told(TP_EVENT_ONLINE));
    CHECK(errors, rig_told(TP_EVENT_ERROR));
}

void rig_check(const struct rig_outcome *outcome, const char *file, int line) {
    struct rig_outcome all = *outcome, *wanted = &all;
    if (all.paid != RIG_ANY) {
        all.pending = all.failed = all.failures = 0;
        all.finished = all.effects = all.paid;
    }
    CHECK(pending, rig_count("pending"));
    CHECK(finished, rig_count("finished"));
    CHECK(failed, rig_count("failed"));
    CHECK(failures, rig_failures("pending") + rig_failures("finished") + rig_failures("failed"));
    CHECK(effects, rig_effects());
    CHECK(paid, rig_tasks_with_effect());
    CHECK(runs, atomic_load(&rig.runs));
    CHECK(hits, faults_all_hits());
    check_events(wanted, file, line);
}

void rig_check_told(tp_event event, const char *words, const char *file, int line) {
    const char *text = rig.watch.texts[event];
    if (strstr(text, words)) return;
    print_error("the text of event %s does not hold \"%s\": %s\n", tp_event_name(event), words, text);
    _fail(file, line);
}

void rig_expect_unstored(struct faults_aim commit, const char *plan) {
    faults_lose(commit, TPI_FAULT_ANSWER_LOST, 0, 1);
    size_t asked = faults_refuse("settled", FAULTS_PERMANENT, 0, 1000);
    tp_worker *worker = rig_start_with(1, rig_pay, .plan = plan);
    rig_await(TP_EVENT_ERROR, 1);
    tp_worker_stop(worker);
    must(tp_worker_join(worker));
    expect_number(rig_info(worker).unstored, 1);
    rig_finish(worker);
    rig_expect_told(TP_EVENT_ERROR, "if it stays open, nothing of it is");
    assert_in_range(faults_hits(asked), 1,
                    2); /* plan hold asks once more after a pause, which the stop may end */
    rig_expect_paid(1, .runs = 1, .done = 0, .errors = 1);
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

tp_verdict rig_fail_for_good(tp_run *run, void *arg) {
    tp_run_no_retry(run);
    return rig_fail(run, arg);
}

tp_verdict rig_wait(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    gate_pass(&rig.gate);
    return TP_RUN_DONE;
}
