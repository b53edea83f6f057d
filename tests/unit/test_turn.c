/* Turns at writing: one at a time, handed on in a moment, and nobody waits for ever. */
#include <pthread.h>
#include <sched.h>

#include "odbc/link.h"
#include "odbc/source.h"
#include "odbc/turn.h"
#include "support/test.h"

static const struct tpi_driver polling = {.polls_for_lock = true}, waiting = {0};

struct pair {
    struct tpi_source source;
    struct tpi_link first, second;
};

static void open_pair(struct pair *pair, const struct tpi_driver *driver) {
    *pair = (struct pair){0};
    tpi_turn_init(&pair->source.turn);
    pair->first = pair->second = (struct tpi_link){.driver = driver, .source = &pair->source};
}

static void close_pair(struct pair *pair) {
    tpi_turn_destroy(&pair->source.turn);
}

static void *take_second(void *arg) {
    struct pair *pair = arg;
    tpi_turn_take(&pair->second);
    return NULL;
}

static void wait_for_the_second(struct tpi_turn *turn) {
    for (bool waits = false; !waits; sched_yield()) {
        pthread_mutex_lock(&turn->lock);
        waits = turn->waiting > 0;
        pthread_mutex_unlock(&turn->lock);
    }
}

TEST(test_write_slot__is_handed_to_the_one_that_waits) {
    struct pair pair;
    pthread_t thread;
    open_pair(&pair, &polling);
    tpi_turn_take(&pair.first);
    tpi_turn_take(&pair.first); /* changes nothing */
    assert_int_equal(pthread_create(&thread, NULL, take_second, &pair), 0);
    wait_for_the_second(&pair.source.turn);
    tpi_turn_give(&pair.first);
    pthread_join(thread, NULL);
    assert_false(pair.first.has_turn);
    assert_true(pair.second.has_turn);
    tpi_turn_give(&pair.second);
    tpi_turn_take(&pair.first);
    assert_true(pair.first.has_turn);
    close_pair(&pair);
}

TEST(test_write_slot__is_done_without_by_one_that_waited_long) {
    struct pair pair;
    open_pair(&pair, &polling);
    tpi_turn_take(&pair.first);
    tpi_turn_take(&pair.second);
    assert_true(pair.first.has_turn);
    assert_false(pair.second.has_turn);
    tpi_turn_give(&pair.second); /* it has nothing to give */
    assert_true(pair.source.turn.taken);
    tpi_turn_give(&pair.first);
    tpi_turn_take(&pair.second);
    assert_true(pair.second.has_turn);
    close_pair(&pair);
}

TEST(test_write_slot__is_not_taken_where_the_driver_waits_itself_or_the_connection_is_borrowed) {
    struct pair pair;
    open_pair(&pair, &waiting);
    tpi_turn_take(&pair.first);
    assert_false(pair.first.has_turn);
    close_pair(&pair);
    open_pair(&pair, &polling);
    pair.first.source = NULL;
    tpi_turn_take(&pair.first);
    assert_false(pair.first.has_turn);
    close_pair(&pair);
}
