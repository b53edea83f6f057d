/* What the pool hears of a worker until its last task has ended, and of whom it is said that he is gone. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "base/who.h"
#include "worker/worker.h"

enum { SILENT_MS = 61000 }; /* longer than the pool waits for a heartbeat */

static tp_worker_options undrained(void) {
    tp_worker_options o = rig_options();
    o.drain = 0;
    return o;
}

/* ---- What the table says ------------------------------------------------------------------------------- */

struct seen {
    char state[9];
    bool fresh; /* heard of within the time after which it is taken for dead */
    int64_t running;
};

static void see(const tp_worker_row *presence, void *arg) {
    struct seen *seen = arg;
    if (strcmp(presence->handlers, pool.handler) != 0) return;
    snprintf(seen->state, sizeof seen->state, "%s", presence->state);
    seen->fresh = presence->seen_ago_ms < SILENT_MS;
    seen->running = presence->running;
}

static struct seen look(void) {
    struct seen seen = {.state = "none"};
    tp_status status = tp_worker_each(pool.a, see, &seen);
    if (status < TP_OK) must(status);
    return seen;
}

static void rest(void) {
    struct timespec pause = {.tv_nsec = 10000000};
    nanosleep(&pause, NULL);
}

/* Until the table says it of a worker that was heard of lately; 20 seconds at most. */
static void await_state(const char *state) {
    struct seen seen = look();
    for (int i = 0; i < 2000 && !(seen.fresh && strcmp(seen.state, state) == 0); i++) {
        rest();
        seen = look();
    }
    if (!seen.fresh) fail_msg("not heard of the worker, which is %s", state);
    if (strcmp(seen.state, state) != 0) fail_msg("the worker is %s, and said to be %s", state, seen.state);
}

/* Its last heartbeat is long ago; another worker's takes it for dead if no other has come. */
static void outlast_silence(const char *state) {
    tp_worker_row other = {.handlers = "another", .plan = "skip"};
    tpi_uuid_random(other.id);
    must(tp_test_advance(pool.b, SILENT_MS));
    await_state(state);
    must(tpi_worker_heartbeat(pool.b, &other));
    await_state(state);
}

/* ---- Heartbeats ---------------------------------------------------------------------------------------- */

static void test_heartbeat__goes_on_while_a_stopping_worker_waits_for_its_tasks(void **state) {
    (void)state;
    tp_worker_options o = undrained();
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    await_state("running");
    tp_worker_stop(worker);
    await_state("stopping");
    expect_number(look().running, 1);
    outlast_silence("stopping");
    gate_open(&rig.gate);
    rig_finish(worker);
    await_state("ended");
}

/* Its leases are given up then, but it is there. */
static void test_heartbeat__goes_on_when_the_deadline_of_the_stop_has_passed(void **state) {
    (void)state;
    tp_worker_options o = undrained();
    o.stop_ms = 1;
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    outlast_silence("stopping");
    gate_open(&rig.gate);
    while (tp_worker_join(worker) == TP_TIMEOUT)
        continue;
    rig_finish(worker);
    await_state("ended");
}

/* Nothing is due, so that nothing else writes. */
static void test_heartbeat__says_that_the_database_cannot_be_written(void **state) {
    (void)state;
    tp_worker_options o = undrained();
    tp_worker *worker = rig_start(&o, rig_done);
    await_state("running");
    size_t aim = faults_add((struct faults_aim){
        .statement = "worker_update", .times = 1000, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_FULL});
    atomic_store(&worker->heartbeat.due, 0);
    tpi_queue_wake(&worker->queue);
    assert_true(watch_wait(&rig.watch, TP_EVENT_ERROR, 1));
    assert_true(faults_wait_seen(aim, 3));
    expect_number(rig_told(TP_EVENT_ERROR), 1);
    faults_clear();
    tp_worker_stop(worker);
    rig_finish(worker);
}

/* One handler thread: it is idle, or runs one of those that run. */
static bool claimer_runs(tp_worker *worker) {
    pthread_mutex_lock(&worker->queue.lock);
    bool runs = worker->runs.running + worker->queue.idle == 2;
    pthread_mutex_unlock(&worker->queue.lock);
    return runs;
}

/* When its queue of one is full, the claimer runs the task itself. */
static void test_heartbeat__goes_on_while_the_claimer_runs_a_task_itself(void **state) {
    (void)state;
    tp_worker_options o = undrained();
    o.threads = 1;
    o.queue = 1;
    rig_put(4, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    for (int i = 0; i < 2000 && !claimer_runs(worker); i++)
        rest();
    assert_true(claimer_runs(worker));
    outlast_silence("running");
    tp_worker_stop(worker);
    await_state("stopping");
    outlast_silence("stopping");
    gate_open(&rig.gate);
    rig_finish(worker);
    await_state("ended");
}

/* A heartbeat hangs, as over a session that answers no more, while a handler runs. */
static struct {
    atomic_bool handling, let_go;
    size_t extensions;
} stuck;

static int set_up(void **state) {
    atomic_store(&stuck.handling, false);
    atomic_store(&stuck.let_go, false);
    return rig_set_up(state);
}

/* A test that failed leaves it hanging. */
static int tear_down(void **state) {
    atomic_store(&stuck.let_go, true);
    return rig_tear_down(state);
}

#define STUCK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void hang_while_handling(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    for (int i = 0; i < 6000 && atomic_load(&stuck.handling) && !atomic_load(&stuck.let_go); i++)
        rest();
}

static tp_verdict await_extensions(tp_run *run, void *arg) {
    (void)arg;
    (void)run;
    atomic_store(&stuck.handling, true);
    bool extended = faults_wait_seen(stuck.extensions, faults_seen(stuck.extensions) + 4);
    atomic_store(&stuck.let_go, true);
    return extended ? TP_RUN_DONE : TP_RUN_FAILED;
}

static void test_heartbeat__that_hangs_holds_up_no_lease(void **state) {
    (void)state;
    tp_worker_options o = undrained();
    int64_t usual = tpi_heartbeat_every_ms;
    tpi_heartbeat_every_ms = 200;
    o.lease_ms = 3000;
    stuck.extensions = faults_add((struct faults_aim){.statement = "settle_extend"});
    (void)faults_add(
        (struct faults_aim){.statement = "worker_update", .times = 100000, .meet = hang_while_handling});
    rig_put(1, "x");
    tp_worker *worker = rig_start(&o, await_extensions);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 1));
    tp_worker_stop(worker);
    rig_finish(worker);
    tpi_heartbeat_every_ms = usual;
    rig_expect(0, 1, 0);
    expect_number(rig_told(TP_EVENT_LOST), 0);
}

/* The claimer has its own to send when it is back from the task. */
static void await_due(tp_worker *worker) {
    while (tpi_clock_mono_ms() < tpi_heartbeat_next(&worker->heartbeat))
        rest();
}

static void hang(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    for (int i = 0; i < 60000 && !atomic_load(&stuck.let_go); i++)
        rest();
}

/* It is the other thread's: the claimer runs a task itself. */
static void test_heartbeat__that_hangs_holds_up_no_claim_and_no_stop(void **state) {
    enum { TASKS = 4, MORE = 20 };
    (void)state;
    tp_worker_options o = undrained();
    o.threads = 1;
    o.queue = 1;
    o.stop_ms = 500;
    rig_put(TASKS, "x");
    tp_worker *worker = rig_start(&o, rig_wait);
    for (int i = 0; i < 2000 && !claimer_runs(worker); i++)
        rest();
    assert_true(claimer_runs(worker));
    size_t beats =
        faults_add((struct faults_aim){.statement = "worker_update", .times = 100000, .meet = hang});
    assert_true(faults_wait_seen(beats, 1));
    await_due(worker);
    gate_open(&rig.gate);
    rig_put(MORE, "x");
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, TASKS + MORE));
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_number(faults_seen(beats), 1);
    atomic_store(&stuck.let_go, true);
    while (tp_worker_join(worker) == TP_TIMEOUT)
        continue;
    rig_finish(worker);
    await_state("ended");
    rig_expect(0, TASKS + MORE, 0);
}

/* ---- Who is gone --------------------------------------------------------------------------------------- */

/* A number that no process has. */
static pid_t ended_process(void) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static int said_to_have_died(const char *id) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_worker WHERE id = '%s' AND state = 'died'", id);
}

/* Containers share a host name, and each counts its processes from 1. */
static void test_presence__a_pid_counts_only_where_it_was_given(void **state) {
    (void)state;
    if (!pool_plan_possible("hold")) {
        print_message("SKIPPED: plan hold is not possible here\n");
        skip();
    }
    char host[128] = "", place[TPI_PID_SPACE_SIZE];
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    tp_worker_row here = {.handlers = "another", .plan = "skip", .host = host, .pid = ended_process()};
    tp_worker_row elsewhere = here;
    here.state = "stopping";
    tpi_uuid_random(here.id);
    tpi_uuid_random(elsewhere.id);
    assert_true(tpi_who_pid_space(place));
    memcpy(here.id + sizeof here.id - sizeof place, place, sizeof place);
    must(tpi_worker_heartbeat(pool.a, &here));
    must(tpi_worker_heartbeat(pool.a, &elsewhere));
    size_t looks = faults_add((struct faults_aim){.statement = "worker_died"});
    tp_worker_options o = undrained();
    o.plan = "hold";
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(looks, 1));
    await_state("running");
    tp_worker_stop(worker);
    rig_finish(worker);
    expect_number(said_to_have_died(here.id), 1);
    expect_number(said_to_have_died(elsewhere.id), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_heartbeat__goes_on_while_a_stopping_worker_waits_for_its_tasks),
        RIG_TEST(test_heartbeat__goes_on_when_the_deadline_of_the_stop_has_passed),
        RIG_TEST(test_heartbeat__goes_on_while_the_claimer_runs_a_task_itself),
        RIG_TEST(test_heartbeat__says_that_the_database_cannot_be_written),
        STUCK_TEST(test_heartbeat__that_hangs_holds_up_no_lease),
        STUCK_TEST(test_heartbeat__that_hangs_holds_up_no_claim_and_no_stop),
        RIG_TEST(test_presence__a_pid_counts_only_where_it_was_given),
    };
    tpi_heartbeat_every_ms = 100;
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
