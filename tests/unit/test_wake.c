/* Who is woken by an enqueue in this process, and what a child of a fork knows of that. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wake.h"
#include "support/test.h"
#include "worker/watch.h"

enum { CHILD_SECONDS = 300 };

static struct gate gate; /* who is being woken waits there */
static int woken;

static bool wants_all(const struct tpi_arrival *arrival, void *arg) {
    (void)arrival;
    (void)arg;
    return true;
}

static void wait_at_gate(const struct tpi_arrival *arrival, void *arg) {
    (void)arrival;
    (void)arg;
    woken++;
    gate_pass(&gate);
}

static void *enqueue(void *arg) {
    (void)arg;
    tpi_wake_signal(&(struct tpi_arrival){NULL, 0});
    return NULL;
}

/* The thread that has the list at that moment is one that the child does not have, and so are the workers. */
TEST(test_wake__the_child_of_a_fork_wakes_nobody_and_waits_for_nobody) {
    struct tpi_wake parents = {.wants = wants_all, .wake = wait_at_gate};
    pthread_t thread;
    int status = -1;
    gate_init(&gate);
    tpi_wake_add(&parents);
    assert_int_equal(pthread_create(&thread, NULL, enqueue, NULL), 0);
    assert_true(gate_wait_arrived(&gate, 1));
    pid_t child = fork();
    if (child == 0) {
        struct tpi_wake own = {.wants = wants_all, .wake = wait_at_gate};
        alarm(CHILD_SECONDS);
        (void)enqueue(NULL);
        bool left_alone = woken == 1;
        gate_init(&gate);
        gate_open(&gate);
        tpi_wake_add(&own);
        (void)enqueue(NULL);
        _exit(left_alone && woken == 2 ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    gate_open(&gate);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)enqueue(NULL);
    assert_int_equal(woken, 2);
    tpi_wake_remove(&parents);
}
