/* Who waits for the end of a task in this process, and what a child of a fork knows of that. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/ended.h"
#include "support/test.h"

#define ONE   "018bcfe5-6800-7000-8000-000000000001"
#define OTHER "018bcfe5-6800-7000-8000-000000000002"

TEST(test_ended__who_waits_for_a_task_is_notified_of_that_one) {
    struct tpi_ended ended;
    tpi_ended_add(&ended, ONE);
    tpi_ended_notify(OTHER);
    assert_false(tpi_ended_wait(&ended, 1));
    tpi_ended_notify(ONE);
    assert_true(tpi_ended_wait(&ended, 60000));
    assert_false(tpi_ended_wait(&ended, 1));
    tpi_ended_remove(&ended);
}

/* What waited is on the stack of a thread that the child does not have. */
TEST(test_ended__the_child_of_a_fork_begins_with_nobody_who_waits) {
    struct tpi_ended parents, own;
    int status = -1;
    tpi_ended_add(&parents, ONE);
    pid_t child = fork();
    if (child == 0) {
        tpi_ended_notify(ONE);
        bool left_alone = !parents.notified;
        tpi_ended_add(&own, ONE);
        tpi_ended_notify(ONE);
        _exit(left_alone && tpi_ended_wait(&own, 60000) ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    tpi_ended_notify(ONE);
    assert_true(tpi_ended_wait(&parents, 60000));
    tpi_ended_remove(&parents);
}
