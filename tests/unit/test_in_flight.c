/* What this process knows of the tasks that are in progress in it, and what a child of a fork knows. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/batch.h"
#include "support/test.h"
#include "worker/in_flight.h"
#include "worker/job.h"

#define ONE "018bcfe5-6800-7000-8000-000000000001"

enum { CHILD_SECONDS = 300 };

static struct tpi_jobs jobs = {.lock = PTHREAD_MUTEX_INITIALIZER};
static const struct tpi_slot slot = {.task = {.id = ONE, .biz_key = "", .params = "x"}};
static const tp_task *const task = &slot.task;
static atomic_int asker; /* the number of the thread */

static void *ask_known(void *arg) {
    atomic_store(&asker, (int)syscall(SYS_gettid));
    *(enum tpi_known *)arg = tpi_in_flight_known(NULL, task);
    return NULL;
}

/* It waits for a lock, for there is nothing else that it could wait for. */
static bool sleeps(int thread) {
    char path[64], line[200] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const char *state = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    (void)fclose(file);
    return state && strncmp(state, ") S", 3) == 0;
}

static void await_sleep(void) {
    int tries = 0;
    for (; tries < 30000 && !sleeps(atomic_load(&asker)); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(tries < 30000);
}

/* The thread that has the table at that moment is one that the child does not have, and so are the jobs. */
TEST(test_in_flight__the_child_of_a_fork_begins_with_nothing_in_progress) {
    struct tpi_job job = {.jobs = &jobs, .task = task, .running = true}, *rival = NULL;
    enum tpi_known known = TPI_KNOWN_NOTHING;
    pthread_t thread;
    int status = -1;
    assert_int_equal(tpi_in_flight_enter(&job, &rival), TPI_IN_FLIGHT_ENTERED);
    pthread_mutex_lock(&jobs.lock);
    assert_int_equal(pthread_create(&thread, NULL, ask_known, &known), 0);
    await_sleep();
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(tpi_in_flight_known(NULL, task) == TPI_KNOWN_NOTHING ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    pthread_mutex_unlock(&jobs.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(known, TPI_KNOWN_RUNS);
    tpi_in_flight_leave(&job);
}

static void enter(struct tpi_job *job) {
    struct tpi_job *rival = NULL;
    assert_int_equal(tpi_in_flight_enter(job, &rival), TPI_IN_FLIGHT_ENTERED);
}

/* The second claim had it written as failed, and ended first; then a person had it tried again. */
TEST(test_in_flight__what_was_done_is_the_next_claims_to_know_and_of_none_after_that) {
    struct tpi_job first = {.jobs = &jobs, .task = task}, second = first, third = first;
    enter(&first);
    first.done = true;
    assert_int_equal(tpi_in_flight_known(NULL, task), TPI_KNOWN_DONE);
    enter(&second);
    assert_true(second.done);
    assert_int_equal(tpi_in_flight_known(NULL, task), TPI_KNOWN_DONE);
    tpi_in_flight_leave(&second);
    assert_int_equal(tpi_in_flight_known(NULL, task), TPI_KNOWN_NOTHING);
    enter(&third);
    assert_false(third.done);
    tpi_in_flight_leave(&third);
    tpi_in_flight_leave(&first);
}
