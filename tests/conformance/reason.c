/* Reasons: kept, cut on a character's boundary, and never able to break anything. */
#include "base/utf8.h"
#include "suite.h"

THEME(reason, ONCE);

/* A task failed with the reason; what the database has of it. */
static void fail_with(const char *reason, char out[SQL_CELL]) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, reason, NULL));
    expect_row(task->id, "pending", "failed", 1);
    struct row row = row_of(task->id);
    memcpy(out, row.reason, SQL_CELL);
}

/* start, then character repeated. */
static void repeat(char *out, size_t size, const char *start, const char *character) {
    snprintf(out, size, "%s", start);
    size_t used = strlen(out);
    while (used + strlen(character) < size) {
        memcpy(out + used, character, strlen(character) + 1);
        used += strlen(character);
    }
}

TEST(test_reason__is_kept_as_it_is) {
    static const char *const reasons[] = {"plain", "it's \"quoted\" \\ 100% ;--", "账户余额不足", "😀🚀 done",
                                          "O''Brien :id ? {x}"};
    char kept[SQL_CELL];
    for (size_t i = 0; i < LENGTH(reasons); i++) {
        fail_with(reasons[i], kept);
        assert_string_equal(kept, reasons[i]);
    }
}

TEST(test_reason__is_cut_on_a_character_boundary) {
    static const struct {
        const char *start, *character;
        size_t bytes;
    } cuts[] = {{"", "😀", 512},  {"x", "😀", 509}, {"xy", "钱", 512},
                {"", "钱", 510}, {"", "é", 512},  {"", "a", 512}};
    char long_one[2000], kept[SQL_CELL];
    for (size_t i = 0; i < LENGTH(cuts); i++) {
        repeat(long_one, sizeof long_one, cuts[i].start, cuts[i].character);
        fail_with(long_one, kept);
        expect_number(strlen(kept), cuts[i].bytes);
        assert_memory_equal(kept, long_one, cuts[i].bytes);
    }
}

TEST(test_reason__invalid_utf8_breaks_nothing) {
    static const char *const broken[] = {"bad \xff\xfe end", "cut \xf0\x9f\x98", "surrogate \xed\xa0\x80 end",
                                         "overlong \xc0\xaf", "\x80"};
    char kept[SQL_CELL];
    for (size_t i = 0; i < LENGTH(broken); i++) {
        fail_with(broken[i], kept);
        assert_true(tpi_utf8_valid(kept, strlen(kept)));
        assert_true(strlen(kept) > 0);
    }
    fail_with("bad \xff\xfe end", kept);
    assert_string_equal(kept, "bad ?? end");
}

TEST(test_reason__line_ends_do_not_break_the_row) {
    char kept[SQL_CELL];
    fail_with("first line\nsecond\tline\x01", kept);
    assert_memory_equal(kept, "first line", 10);
    assert_true(tpi_utf8_valid(kept, strlen(kept)));
}

/* A caller's text that begins like a lapse is no lapse, and the next claim has room to write what it writes.
 */
TEST(test_reason__that_looks_like_a_lapse_stops_no_claim) {
    char long_one[2000];
    repeat(long_one, sizeof long_one, "lease lapsed, held by ", "x");
    const tp_task *task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, long_one, NULL));
    for (int i = 0; i < PLANS; i++) {
        if (!pool_plan_possible(pool_plans[i])) continue;
        row_make_due(task->id);
        if (pool_plan_holds(pool_plans[i])) must(tp_begin(pool.a));
        must(tp_fail(pool.a, tp_batch_task(claim_with(pool.a, .limit = 1, .plan = pool_plans[i]), 0),
                     long_one, NULL));
        if (pool_plan_holds(pool_plans[i])) must(tp_commit(pool.a));
        expect_number(events_of(task->id, "lapsed"), 0);
        sql_run(pool.eye, "UPDATE tp_pending SET failures = 0 WHERE id = '%s'", task->id);
    }
}

TEST(test_reason__may_be_left_out) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_skip(pool.a, task, NULL));
    expect_row(task->id, "finished", "skipped", 0);
    task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, NULL, NULL));
    expect_row(task->id, "pending", "failed", 1);
    assert_string_not_equal(row_of(task->id).reason, "");
}

TEST(test_reason__of_the_last_failure_is_handed_to_the_next_claim) {
    const tp_task *task = put_and_claim(pool.a);
    must(tp_fail(pool.a, task, "余额 😀", NULL));
    row_make_due(task->id);
    assert_string_equal(claim_this(pool.b, task->id)->reason, "余额 😀");
}
