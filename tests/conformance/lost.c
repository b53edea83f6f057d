/* Whichever call of an operation loses its connection, before it was made or only its answer: asked again it
 * gives the answer it would have given, and all is done once. */
#include <stdio.h>
#include <string.h>

#include "suite.h"

enum { FEW = 5, CALLS_MAX = 60 };
static const tp_retry never = {.size = sizeof never};

/* Tasks of two claims, and a key. */
struct work {
    tp_batch *batches[2];
    const tp_task *tasks[FEW];
    char key[40];
};

static tp_status fail_one(struct work *work) {
    return tp_fail(pool.a, work->tasks[0], "no money", NULL);
}

static tp_status fail_the_last(struct work *work) {
    return tp_fail(pool.a, work->tasks[0], "no money", &never);
}

static tp_status give_up(struct work *work) {
    return tp_give_up(pool.a, work->tasks[0], "no account");
}

static tp_status complete_many(struct work *work) {
    tp_status answers[FEW];
    tp_status status = tp_complete_many(pool.a, work->tasks, FEW, answers);
    for (int i = 0; i < FEW && status == TP_OK; i++)
        expect_number(answers[i], TP_OK);
    return status;
}

static tp_status once(struct work *work) {
    return tp_once(pool.a, work->key, work->tasks[0]);
}

static int64_t told(const struct work *work, const char *event) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_history WHERE task_id = '%s' AND event = '%s'",
                      work->tasks[0]->id, event);
}

static void is_failed(const struct work *work) {
    expect_row(work->tasks[0]->id, "pending", "failed", 1);
    expect_number(told(work, "failed"), 1);
}

static void is_given_up(const struct work *work) {
    expect_row(work->tasks[0]->id, "failed", "failed", 1);
    expect_number(told(work, "gave-up"), 1);
}

static void are_done(const struct work *work) {
    for (int i = 0; i < FEW; i++)
        expect_row(work->tasks[i]->id, "finished", "done", 0);
}

static void is_in_ledger(const struct work *work) {
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_once WHERE once_key = '%s'", work->key), 1);
    expect(TP_EXISTS, tp_once(pool.a, work->key, NULL));
}

static const struct operation {
    const char *name;
    tp_status (*call)(struct work *work);
    tp_status answer;
    void (*check)(const struct work *work);
} operations[] = {{"fail", fail_one, TP_OK, is_failed},
                  {"the last fail", fail_the_last, TP_EXHAUSTED, is_given_up},
                  {"give up", give_up, TP_EXHAUSTED, is_given_up},
                  {"complete many", complete_many, TP_OK, are_done},
                  {"once", once, TP_OK, is_in_ledger}};

static struct work new_work(int number) {
    struct work work = {0};
    size_t count = 0;
    task_put_many(FEW, NULL);
    work.batches[0] = claim(pool.a, 2);
    work.batches[1] = claim(pool.a, FEW - 2);
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < tp_batch_count(work.batches[b]); i++)
            work.tasks[count++] = tp_batch_task(work.batches[b], i);
    snprintf(work.key, sizeof work.key, "%s/%d", pool.handler, number);
    return work;
}

/* False: no call was left to lose. */
static bool lose_one(const struct operation *operation, int at, bool made) {
    static int number;
    struct work work = new_work(++number);
    lose_nth_call(at, made);
    tp_status status = operation->call(&work);
    bool lost = lost_nth_call();
    if (status < TP_OK) {
        must(tp_conn_reopen(pool.a));
        status = operation->call(&work);
    }
    if (status != operation->answer)
        print_error("%s, call %d %s\n", operation->name, at, made ? "made" : "not made");
    expect(operation->answer, status);
    operation->check(&work);
    tp_batch_free(work.batches[0]);
    tp_batch_free(work.batches[1]);
    sql_run(pool.eye, "DELETE FROM tp_pending");
    return lost;
}

static void test_lost__any_call_of_a_settle_or_a_key_is_made_good_by_asking_again(void **state) {
    (void)state;
    for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++)
        for (int made = 0; made < 2; made++) {
            int at = 0;
            while (at < CALLS_MAX && lose_one(&operations[o], at, made))
                at++;
            assert_in_range(at, 1, CALLS_MAX - 1);
        }
}

THEME(lost, false, cmocka_unit_test(test_lost__any_call_of_a_settle_or_a_key_is_made_good_by_asking_again));
