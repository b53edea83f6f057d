/* Who asked for the end of a task, of what its life tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/life.h"
#include "common/messages.h"
#include "support/test.h"

/* As programs have it. */
void *cli_must(void *ptr) {
    if (!ptr) abort();
    return ptr;
}

static struct life life;

/* 0: nobody; else when it was. The events come a millisecond after one another, from 1 on. */
static int64_t asked(const char *in_pool, const char *const *events) {
    const tp_task task = {.pool = in_pool};

    life.count = 0;
    for (; *events; events++) {
        struct moment *moment = &life.moments[life.count++];
        *moment = (struct moment){.at = (int64_t)life.count};
        snprintf(moment->event, sizeof moment->event, "%s", *events);
    }
    return life_asked(&life, &task) ? life_asked(&life, &task)->at : 0;
}

#define EVENTS(...) ((const char *const[]){"enqueued", __VA_ARGS__, NULL})

TEST(test_life__a_cancel_of_an_open_task_holds_until_a_retry_takes_it_back) {
    assert_int_equal(asked("pending", EVENTS("claimed")), 0);
    assert_int_equal(asked("pending", EVENTS("claimed", "cancel")), 3);
    assert_int_equal(asked("pending", EVENTS("claimed", "cancel", "lapsed", "released")), 3);
    assert_int_equal(asked("pending", EVENTS("cancel", "gave-up", "retried")), 0);
    assert_int_equal(asked("pending", EVENTS("cancel", "retried", "claimed", "cancel")), 5);
    assert_int_equal(asked("failed", EVENTS("claimed", "cancel", "gave-up")), 0);
    assert_int_equal(asked("finished", EVENTS("claimed", "cancel", "canceled")), 0);
}
