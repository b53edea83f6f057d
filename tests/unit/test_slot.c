/* The slots of odbc/slot.h: one connection at a time has the write slot, the next one gets it at once, and
 * nobody waits for ever; in the child of a fork nobody connects. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "odbc/link.h"
#include "odbc/slot.h"
#include "odbc/source.h"
#include "support/test.h"

static const struct tpi_driver polling = {.polls_for_lock = true}, waiting = {0};

struct pair {
    struct tpi_source source;
    struct tpi_link first, second;
};

static void open_pair(struct pair *pair, const struct tpi_driver *driver) {
    *pair = (struct pair){0};
    tpi_write_slot_init(&pair->source.write_slot);
    pair->first = pair->second = (struct tpi_link){.driver = driver, .source = &pair->source};
}

static void close_pair(struct pair *pair) {
    tpi_write_slot_destroy(&pair->source.write_slot);
}

/* On a busy machine it may have waited for too long before anybody sees that it waits. */
static void *take_second(void *arg) {
    struct pair *pair = arg;
    while (!pair->second.has_write_slot)
        tpi_write_slot_take(&pair->second);
    return NULL;
}

static void wait_for_the_second(struct tpi_write_slot *slot) {
    for (bool waits = false; !waits; sched_yield()) {
        pthread_mutex_lock(&slot->lock);
        waits = slot->waiting > 0;
        pthread_mutex_unlock(&slot->lock);
    }
}

TEST(test_write_slot__is_handed_to_the_one_that_waits) {
    struct pair pair;
    pthread_t thread;
    open_pair(&pair, &polling);
    tpi_write_slot_take(&pair.first);
    tpi_write_slot_take(&pair.first); /* changes nothing */
    assert_int_equal(pthread_create(&thread, NULL, take_second, &pair), 0);
    wait_for_the_second(&pair.source.write_slot);
    tpi_write_slot_give(&pair.first);
    pthread_join(thread, NULL);
    assert_false(pair.first.has_write_slot);
    assert_true(pair.second.has_write_slot);
    tpi_write_slot_give(&pair.second);
    tpi_write_slot_take(&pair.first);
    assert_true(pair.first.has_write_slot);
    close_pair(&pair);
}

TEST(test_write_slot__is_done_without_by_one_that_waited_long) {
    struct pair pair;
    open_pair(&pair, &polling);
    tpi_write_slot_take(&pair.first);
    tpi_write_slot_take(&pair.second);
    assert_true(pair.first.has_write_slot);
    assert_false(pair.second.has_write_slot);
    tpi_write_slot_give(&pair.second); /* it has nothing to give */
    assert_true(pair.source.write_slot.taken);
    tpi_write_slot_give(&pair.first);
    tpi_write_slot_take(&pair.second);
    assert_true(pair.second.has_write_slot);
    close_pair(&pair);
}

TEST(test_write_slot__is_not_taken_where_the_driver_waits_itself_or_the_connection_is_borrowed) {
    struct pair pair;
    open_pair(&pair, &waiting);
    tpi_write_slot_take(&pair.first);
    assert_false(pair.first.has_write_slot);
    close_pair(&pair);
    open_pair(&pair, &polling);
    pair.first.source = NULL;
    tpi_write_slot_take(&pair.first);
    assert_false(pair.first.has_write_slot);
    close_pair(&pair);
}

/* Less than it waits for who connects; on a busy machine not each time. */
TEST(test_connect_slot__the_child_of_a_fork_waits_for_no_thread_that_connects) {
    enum { TRIES = 20, SOON_MS = 500 };
    int status = -1;
    unsigned long holder = tpi_connect_slot_take();
    for (int i = 0; i < TRIES && status; i++) {
        pid_t child = fork();
        if (child == 0) {
            int64_t begin = tpi_clock_mono_ms();
            (void)tpi_connect_slot_take();
            _exit(tpi_clock_mono_ms() - begin < SOON_MS ? 0 : 1);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
    }
    tpi_connect_slot_give(holder);
    assert_int_equal(status, 0);
}
