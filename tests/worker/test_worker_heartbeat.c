/* The rows of workers: a heartbeat is written until the last task has ended, and which workers are declared
 * dead. */
#include "ops/for_workers.h"
#include "worker/rig.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_name.h"
#include "base/uuid.h"
#include "worker/worker.h"

enum { SILENT_MS = 61000 }; /* longer than the pool waits for a heartbeat */

/* A heartbeat that hangs, as over a session that answers no more, while a handler runs. */
static struct {
    atomic_bool handling, let_go;
    size_t extensions;
} stuck;

static struct gate claim; /* that has no answer */

static int set_up(void **state) {
    tpi_heartbeat_every_ms = 100;
    atomic_store(&stuck.handling, false);
    atomic_store(&stuck.let_go, false);
    gate_init(&claim);
    return rig_set_up(state);
}

/* A test that failed leaves it hanging. */
static int tear_down(void **state) {
    atomic_store(&stuck.let_go, true);
    gate_open(&claim);
    return rig_tear_down(state);
}

#define HEARTBEAT_TEST(name) TEST_BETWEEN(name, set_up, tear_down)

struct seen {
    char state[9];
    bool fresh; /* heard of within the time after which it is taken for dead */
    int64_t running;
};

static void see(const tp_worker_row *row, void *arg) {
    struct seen *seen = arg;
    if (strcmp(row->handlers, pool.handler) != 0) return;
    snprintf(seen->state, sizeof seen->state, "%s", row->state);
    seen->fresh = row->seen_ago_ms < SILENT_MS;
    seen->running = row->running;
}

static struct seen look(void) {
    struct seen seen = {.state = "none"};
    tp_status status = tp_worker_each(pool.a, see, &seen);
    if (status < TP_OK) must(status);
    return seen;
}

/* Until the table says it of a worker that was heard of lately; minutes at most. */
static void await_state(const char *state) {
    struct seen seen = look();
    for (int i = 0; i < 30000 && !(seen.fresh && strcmp(seen.state, state) == 0); i++) {
        rig_pause_10_ms();
        seen = look();
    }
    if (!seen.fresh) fail_msg("not heard of the worker, which is %s", state);
    if (strcmp(seen.state, state) != 0) fail_msg("the worker is %s, and said to be %s", state, seen.state);
}

/* Its last heartbeat is long ago; another worker's takes it for dead if no other has come. */
static void outlast_silence(const char *state) {
    tp_worker_row other = {.handlers = "another", .plan = "skip"};
    tpi_uuid_random(other.id);
    must(rig_advance(pool.b, SILENT_MS));
    await_state(state);
    tp_status status = TP_CONFLICT;
    for (int i = 0; status == TP_CONFLICT && i < 100; i++) /* by a deadlock with the worker's */
        status = tpi_worker_heartbeat(pool.b, &other, NULL);
    must(status);
    await_state(state);
}

HEARTBEAT_TEST(test_heartbeat__goes_on_while_a_stopping_worker_waits_for_its_tasks) {
    tp_worker *worker = rig_start(1, rig_wait);
    rig_await_arrived(1);
    await_state("running");
    tp_worker_stop(worker);
    await_state("stopping");
    expect_number(look().running, 1);
    outlast_silence("stopping");
    rig_let_finish(worker);
    await_state("ended");
}

/* Its leases are given up then, but it is there. */
HEARTBEAT_TEST(test_heartbeat__goes_on_when_the_deadline_of_the_stop_has_passed) {
    tp_worker *worker = rig_start_with(1, rig_wait, .stop_ms = 1);
    rig_await_arrived(1);
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    outlast_silence("stopping");
    rig_finish_late(worker);
    await_state("ended");
}

/* Nothing is due, so that nothing else writes. */
HEARTBEAT_TEST(test_heartbeat__says_that_the_database_cannot_be_written) {
    tp_worker *worker = rig_start(0, rig_done);
    await_state("running");
    size_t aim = faults_refuse("worker_update", FAULTS_FULL, 0, 1000);
    atomic_store(&worker->heartbeat.due, 0);
    tpi_queue_wake(&worker->queue);
    rig_await(TP_EVENT_ERROR, 1);
    rig_await_seen(aim, 3);
    rig_expect(.errors = 1);
    faults_clear();
    rig_stop(worker);
}

MEET(hold_claim) {
    gate_pass(&claim);
}

/* A worker with a task that runs, whose next claim gets no answer until the gate is opened. */
static tp_worker *start_with_a_claim_without_an_answer(int64_t stop_ms) {
    tp_worker *worker = rig_start_with(1, rig_wait, .stop_ms = stop_ms);
    rig_await_arrived(1);
    faults_at(.statement = "claim_lanes", .times = 1, .meet = hold_claim);
    assert_true(gate_wait_arrived(&claim, 1));
    return worker;
}

HEARTBEAT_TEST(test_heartbeat__goes_on_while_a_claim_has_no_answer) {
    tp_worker *worker = start_with_a_claim_without_an_answer(0);
    outlast_silence("running");
    tp_worker_stop(worker);
    await_state("stopping");
    outlast_silence("stopping");
    gate_open(&claim);
    rig_let_finish(worker);
    await_state("ended");
}

MEET(hang_while_handling) {
    for (int i = 0; i < 60000 && atomic_load(&stuck.handling) && !atomic_load(&stuck.let_go); i++)
        rig_pause_10_ms();
}

HANDLER(await_extensions) {
    atomic_store(&stuck.handling, true);
    bool extended = faults_wait_seen(stuck.extensions, faults_seen(stuck.extensions) + 4);
    atomic_store(&stuck.let_go, true);
    return extended ? TP_RUN_DONE : TP_RUN_FAILED;
}

HEARTBEAT_TEST(test_heartbeat__that_hangs_holds_up_no_lease) {
    tpi_heartbeat_every_ms = 200;
    rig_extend_often();
    stuck.extensions = faults_count("settle_extend");
    faults_at(.statement = "worker_update", .times = 100000, .meet = hang_while_handling);
    tp_worker *worker = rig_start(1, await_extensions);
    rig_await(TP_EVENT_DONE, 1);
    rig_stop(worker);
    rig_expect(0, 1, 0, .lost = 0);
}

/* The claimer has its own to send when its claim is answered. */
static void await_due(tp_worker *worker) {
    while (tpi_clock_mono_ms() < tpi_heartbeat_next(&worker->heartbeat))
        rig_pause_10_ms();
}

MEET(hang) {
    for (int i = 0; i < 60000 && !atomic_load(&stuck.let_go); i++)
        rig_pause_10_ms();
}

/* It is the other thread's: the claimer waits for an answer. */
HEARTBEAT_TEST(test_heartbeat__that_hangs_holds_up_no_claim_and_no_stop) {
    enum { MORE = 20 };
    tp_worker *worker = start_with_a_claim_without_an_answer(500);
    size_t beats = faults_at(.statement = "worker_update", .times = 100000, .meet = hang);
    rig_await_seen(beats, 1);
    await_due(worker);
    gate_open(&claim);
    gate_open(&rig.gate);
    rig_put(MORE, "x");
    rig_await(TP_EVENT_DONE, 1 + MORE);
    tp_worker_stop(worker);
    expect(TP_TIMEOUT, tp_worker_join(worker));
    expect_number(faults_seen(beats), 1);
    atomic_store(&stuck.let_go, true);
    rig_finish_late(worker);
    await_state("ended");
    rig_expect(0, 1 + MORE, 0);
}

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

#ifdef TP_PLAIN_POSIX
static const bool spaces_have_names = false;
#else
static const bool spaces_have_names = true;
#endif

/* Containers share a host name, and each counts its processes from 1. Where the system has no name for such a
 * space, no number counts. */
HEARTBEAT_TEST(test_worker_row__a_pid_counts_only_where_it_was_given) {
    rig_needs_hold();
    char host[128] = "", place[TPI_PID_SPACE_SIZE] = "0123456789ab";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    tp_worker_row here = {.handlers = "another", .plan = "skip", .host = host, .pid = ended_process()};
    tp_worker_row elsewhere = here;
    here.state = "stopping";
    tpi_uuid_random(here.id);
    tpi_uuid_random(elsewhere.id);
    assert_int_equal(tpi_process_pid_space(place), spaces_have_names);
    memcpy(here.id + sizeof here.id - sizeof place, place, sizeof place);
    must(tpi_worker_heartbeat(pool.a, &here, NULL));
    must(tpi_worker_heartbeat(pool.a, &elsewhere, NULL));
    size_t polls = faults_count("worker_died");
    tp_worker *worker = rig_start_with(0, rig_done, .plan = "hold");
    if (spaces_have_names) rig_await_seen(polls, 1); /* else nothing is asked */
    await_state("running");
    rig_stop(worker);
    expect_number(said_to_have_died(here.id), spaces_have_names);
    expect_number(said_to_have_died(elsewhere.id), 0);
}
