/* Time zones in the child of a fork. What they say is tested by what uses them: test_cron.c, test_planned.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/zone.h"
#include "support/test.h"

enum { FORKS = 100, CHILD_SECONDS = 300 };

static atomic_bool enough;

static bool read_one(void) {
    struct tpi_zone *zone = NULL;
    if (tpi_zone_open("Europe/Berlin", &zone) != TP_OK) return false;
    tpi_zone_close(zone);
    return true;
}

static void *read_many(void *arg) {
    while (!atomic_load(&enough))
        (void)read_one();
    return arg;
}

TEST(test_zone__the_child_of_a_fork_waits_for_no_thread_that_reads_one) {
    pthread_t thread;
    int status = 0;
    assert_int_equal(pthread_create(&thread, NULL, read_many, NULL), 0);
    for (int i = 0; i < FORKS && !status; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(CHILD_SECONDS);
            _exit(read_one() ? 0 : 1);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    atomic_store(&enough, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, 0);
}
