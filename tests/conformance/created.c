/* What was put in within a period: tp_created_each. */
#include "suite.h"

THEME(created, ONCE);

struct found {
    char wanted[10][ID];
    int seen[10];
    char places[10][20];
    int64_t first, last;
};

static void see(const tp_created *task, void *arg) {
    struct found *found = arg;
    for (int i = 0; i < 10; i++) {
        if (strcmp(task->id, found->wanted[i]) != 0) continue;
        found->seen[i]++;
        snprintf(found->places[i], sizeof found->places[i], "%s %s", task->pool, task->state);
        assert_string_equal(task->handler, pool.handler);
        if (!found->first || task->created_at < found->first) found->first = task->created_at;
        if (task->created_at > found->last) found->last = task->created_at;
    }
}

static struct found look(const struct found *like, int64_t from, int64_t until) {
    struct found found;
    memset(&found, 0, sizeof found);
    memcpy(found.wanted, like->wanted, sizeof found.wanted);
    tp_status status = tp_created_each(pool.a, from, until, pool.handler, see, &found);
    assert_true(status == TP_OK || status == TP_NONE);
    return found;
}

static int seen_of(const struct found *found) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += found->seen[i];
    return sum;
}

TEST(test_created__each_task_is_seen_once_wherever_it_is) {
    struct found found = {0};
    task_put_many(10, found.wanted);
    tp_batch *batch = claim(pool.a, 5);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_skip(pool.a, tp_batch_task(batch, 1), "no"));
    expect(TP_EXHAUSTED, tp_give_up(pool.a, tp_batch_task(batch, 2), "no"));
    must(tp_fail(pool.a, tp_batch_task(batch, 3), "no", NULL));
    found = look(&found, 0, TP_TIME_MAX);
    for (int i = 0; i < 10; i++)
        assert_int_equal(found.seen[i], 1);
    int counts[6] = {0};
    static const char *const places[] = {"finished done",  "finished skipped", "failed failed",
                                         "pending failed", "pending handling", "pending pending"};
    for (int i = 0; i < 10; i++)
        for (int place = 0; place < 6; place++)
            counts[place] += strcmp(found.places[i], places[place]) == 0;
    static const int wanted[] = {1, 1, 1, 1, 1, 5};
    for (int place = 0; place < 6; place++)
        assert_int_equal(counts[place], wanted[place]);
}

TEST(test_created__a_period_has_its_beginning_and_not_its_end) {
    struct found found = {0};
    task_put_many(10, found.wanted);
    tp_batch *batch = claim(pool.a, 5);
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
    found = look(&found, 0, TP_TIME_MAX);
    assert_int_equal(seen_of(&found), 10);
    int64_t first = found.first, last = found.last;
    found = look(&found, first, last + 1);
    assert_int_equal(seen_of(&found), 10);
    found = look(&found, last + 1, TP_TIME_MAX);
    assert_int_equal(seen_of(&found), 0);
    found = look(&found, 1, first);
    assert_int_equal(seen_of(&found), 0);
}

TEST(test_created__what_no_period_is_is_refused) {
    struct found found = {0};
    expect(TP_MISUSE, tp_created_each(pool.a, 5, 5, NULL, see, &found));
    expect(TP_MISUSE, tp_created_each(pool.a, -1, 5, NULL, see, &found));
    expect(TP_MISUSE, tp_created_each(pool.a, 0, TP_TIME_MAX + 1, NULL, see, &found));
    expect(TP_MISUSE, tp_created_each(pool.a, 0, 5, NULL, NULL, &found));
    expect(TP_MISUSE, tp_created_each(pool.a, 0, 5, "no such name!", see, &found));
}
