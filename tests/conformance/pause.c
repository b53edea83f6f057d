/* Handlers that are paused. */
#include "ops/pause.h"
#include "base/clock.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(pause, ONCE);

/* A connection that does not know yet what is paused. */
static tp_conn *newcomer(void) {
    tp_conn *conn = NULL;
    must(tp_conn_open(pool.env, &conn));
    return conn;
}

TEST(test_pause__a_paused_handlers_tasks_are_not_claimed) {
    char name[TP_HANDLER_MAX], other[ID];
    const char *both[] = {pool.handler, name};
    const char *id = put_one();
    snprintf(name, sizeof name, "%s.other", pool.handler);
    tp_new_task task = enqueue(pool.eye, .handler = name);
    memcpy(other, task.id, ID);
    must(tp_pause(pool.a, pool.handler, "ann", "month end"));
    expect_nothing(pool.a);
    tp_batch *batch = claim_with(pool.a, .limit = 5, .handlers = both, .handler_count = 2);
    expect_count(batch, 1);
    assert_string_equal(tp_batch_task(batch, 0)->id, other);
    tp_conn *conn = newcomer();
    expect_nothing(conn);
    tp_conn_close(conn);
    must(tp_resume(pool.a, pool.handler, "bob"));
    claim_this(pool.a, id);
}

/* Another session's claims, from one on that begins when its connection has not looked for a second. */
static void expect_answered_soon(tp_status wanted) {
    enum { SOON_MS = 1010 };
    tp_claim_request request = claim_request(1);
    tp_status status = TP_MISUSE;
    int64_t since = tpi_clock_boot_ms();
    for (bool looks = false; status != wanted;) {
        tp_batch *batch = NULL;
        sure(!looks, "a claim a second later is answered as before");
        looks = tpi_clock_boot_ms() - since >= SOON_MS;
        status = claim_into(pool.b, &request, &batch);
        if (status < TP_OK) must(status);
        if (status == TP_OK) must(tp_release(pool.b, tp_batch_task(batch, 0), 0));
    }
}

TEST(test_pause__other_sessions_see_it_and_its_end_within_a_second) {
    task_put("x", (char[ID]){""});
    for (int i = 0; i < 2; i++) {
        must(tp_pause(pool.a, pool.handler, "ann", NULL));
        expect_answered_soon(TP_NONE);
        must(tp_resume(pool.a, pool.handler, "ann"));
        expect_answered_soon(TP_OK);
    }
}

TEST(test_pause__a_claim_of_paused_handlers_alone_asks_nothing_more) {
    must(tp_pause(pool.a, pool.handler, "ann", NULL));
    tp_conn *conn = newcomer();
    int64_t began = tpi_clock_mono_ms();
    expect_nothing(conn);
    uint64_t statements = tp_conn_counters(conn)->statements;
    expect_nothing(conn);
    expect_nothing(conn);
    if (tpi_clock_mono_ms() - began < 900) expect_number(tp_conn_counters(conn)->statements - statements, 0);
    tp_conn_close(conn);
    must(tp_resume(pool.a, pool.handler, "ann"));
}

TEST(test_pause__looks_at_most_once_a_second) {
    tp_conn *conn = newcomer();
    int64_t began = tpi_clock_mono_ms();
    expect_nothing(conn);
    uint64_t first = tp_conn_counters(conn)->statements;
    expect_nothing(conn);
    uint64_t second = tp_conn_counters(conn)->statements;
    expect_nothing(conn);
    if (tpi_clock_mono_ms() - began < 900)
        expect_number(tp_conn_counters(conn)->statements - second, second - first);
    tp_conn_close(conn);
}

/* As if the connection had read what is paused long ago. */
static void let_pauses_age(tp_conn *conn) {
    assert_non_null(conn->pauses);
    conn->pauses->read_at -= 60000;
}

TEST(test_pause__while_there_was_none_a_claim_that_finds_nothing_asks_for_lanes_alone) {
    tp_conn *conn = newcomer();
    expect_nothing(conn);
    expect_number(conn->pauses->count, 0);
    uint64_t first = tp_conn_counters(conn)->statements;
    expect_nothing(conn);
    uint64_t second = tp_conn_counters(conn)->statements;
    let_pauses_age(conn);
    expect_nothing(conn);
    expect_number(tp_conn_counters(conn)->statements - second, second - first);
    tp_conn_close(conn);
}

/* Whether it asks which lanes there are, takes from the one that it remembers, or from one that was named. */
TEST(test_pause__who_knew_of_none_for_long_asks_before_it_takes) {
    tp_conn *conn = newcomer();
    char id[ID];
    for (int named = 0; named < 2; named++) {
        tp_claim_request request = claim_request(1);
        const struct tpi_arrival arrival = {named ? pool.handler : NULL, 0};
        tp_batch *batch = NULL;
        expect_nothing(conn);
        task_put("x", id);
        let_pauses_age(conn);
        must(tp_pause(pool.a, pool.handler, "ann", NULL));
        expect(TP_NONE, tpi_any_due(conn, &request, NULL));
        let_pauses_age(conn);
        expect(TP_NONE, tpi_claim_known(conn, &request, &arrival, NULL, &batch));
        let_pauses_age(conn);
        must(tp_resume(pool.a, pool.handler, "ann"));
        must(tpi_claim_known(conn, &request, &arrival, NULL, &batch));
        must(tp_complete(conn, tp_batch_task(batch, 0)));
        tp_batch_free(batch);
    }
    tp_conn_close(conn);
}

TEST(test_pause__what_was_claimed_before_goes_on) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_pause(pool.a, pool.handler, "ann", NULL));
    must(tp_extend(pool.a, task, 1000));
    must(tp_complete(pool.a, task));
    must(tp_resume(pool.a, pool.handler, "ann"));
}

struct seen {
    int count;
    char who[40], why[80];
    int64_t since;
};

static void see(const tp_paused *paused, void *arg) {
    struct seen *seen = arg;
    if (strcmp(paused->handler, pool.handler) != 0) return;
    seen->count++;
    snprintf(seen->who, sizeof seen->who, "%s", paused->who);
    snprintf(seen->why, sizeof seen->why, "%s", paused->why);
    seen->since = paused->since;
}

TEST(test_pause__says_who_and_why_and_is_told_in_the_history) {
    struct seen seen = {0};
    expect(TP_NONE, tp_resume(pool.a, pool.handler, "ann"));
    must(tp_pause(pool.a, pool.handler, "ann", "Bücher zu"));
    expect(TP_EXISTS, tp_pause(pool.b, pool.handler, "bob", "again"));
    must(tp_paused_each(pool.b, see, &seen));
    expect_number(seen.count, 1);
    assert_string_equal(seen.who, "ann");
    assert_string_equal(seen.why, "Bücher zu");
    assert_true(seen.since > LONG_AGO);
    must(tp_resume(pool.b, pool.handler, "bob"));
    seen = (struct seen){0};
    tp_status status = tp_paused_each(pool.b, see, &seen);
    assert_true(status == TP_NONE || status == TP_OK);
    expect_number(seen.count, 0);
    for (int i = 0; i < 2; i++)
        expect_number(count_of("tp_history WHERE handler = '%s' AND event = '%s' AND who = '%s'",
                               pool.handler, i ? "resumed" : "paused", i ? "bob" : "ann"),
                      1);
}

TEST(test_pause__is_part_of_the_transaction_around_it) {
    struct seen seen = {0};
    must(tp_begin(pool.a));
    must(tp_pause(pool.a, pool.handler, "ann", NULL));
    expect(TP_EXISTS, tp_pause(pool.a, pool.handler, "ann", NULL));
    must(tp_rollback(pool.a));
    tp_status status = tp_paused_each(pool.a, see, &seen);
    assert_true(status == TP_NONE || status == TP_OK);
    expect_number(seen.count, 0);
}

TEST(test_pause__plan_hold_passes_it_over_too) {
    if (!pool_plan_possible("hold")) return;
    task_put("x", (char[ID]){""});
    must(tp_pause(pool.a, pool.handler, "ann", NULL));
    must(tp_begin(pool.a));
    expect(TP_NONE, try_claim_with(pool.a, .limit = 1, .plan = "hold"));
    must(tp_commit(pool.a));
    must(tp_resume(pool.a, pool.handler, "ann"));
}
