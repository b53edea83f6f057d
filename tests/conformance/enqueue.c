/* Putting one task: what is written, what is refused, and one open task per dedup_key. */
#include "base/clock.h"
#include "suite.h"

THEME(enqueue, ONCE);

TEST(test_enqueue__writes_a_pending_task_that_is_due_now) {
    tp_new_task task = task_new(NULL);
    task.due_at = 0;
    must(tp_enqueue(pool.a, &task));
    assert_int_equal(strlen(task.id), ID - 1);
    expect_row(task.id, "pending", "pending", 0);
    struct row row = row_of(task.id);
    assert_in_range(row.due_at - row.modified_at + 20, 0, 40);
    int64_t apart =
        row.due_at - tpi_clock_wall_ms(); /* the same machine's clock, or a test database's near it */
    sure(apart > -60000 && apart < 60000, "the database's clock is %lld ms away", (long long)apart);
    assert_string_equal(row.owner, "");
}

TEST(test_enqueue__ids_of_one_process_rise) {
    char before[ID] = "";
    for (int i = 0; i < 50; i++) {
        tp_new_task task = enqueue(pool.a, .params = "x");
        assert_true(strcmp(before, task.id) < 0);
        memcpy(before, task.id, ID);
    }
}

TEST(test_enqueue__refuses_what_is_out_of_its_limits) {
    static char key[TP_KEY_MAX + 2], name[TP_HANDLER_MAX + 2];
    tp_new_task good = task_new("x"), task;
    memset(key, 'k', TP_KEY_MAX + 1);
    memset(name, 'h', TP_HANDLER_MAX + 1);
    with(good, biz_key, key, expect(TP_TOOBIG, tp_enqueue(pool.a, &given)));
    with(good, dedup_key, key, expect(TP_TOOBIG, tp_enqueue(pool.a, &given)));
    with(good, handler, name, expect(TP_TOOBIG, tp_enqueue(pool.a, &given)));
    with(good, handler, "two words", expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, handler, NULL, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, priority, 32768, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, delay_ms, 5, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    with(good, params, "broken \xff", expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    task = good, task_set_id(&task, "no uuid");
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    with(good, due_at, TP_TIME_MAX + 1, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    task = good, task.due_at = 0, task.delay_ms = TP_DURATION_MAX + 1;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    with(good, size, 8, expect(TP_MISUSE, tp_enqueue(pool.a, &given)));
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(rows_in("pending", name), 0);
}

TEST(test_enqueue__the_longest_values_fit) {
    char key[TP_KEY_MAX + 1], name[TP_HANDLER_MAX + 1];
    tp_new_task task = task_new("x");
    memset(key, 'k', TP_KEY_MAX);
    memset(name, 'h', TP_HANDLER_MAX);
    key[TP_KEY_MAX] = name[TP_HANDLER_MAX] = '\0';
    memcpy(key, pool.handler, strlen(pool.handler));
    task.biz_key = task.dedup_key = key;
    task.handler = name;
    must(tp_enqueue(pool.a, &task));
    const tp_task *there = task_shown(pool.eye, task.id);
    assert_string_equal(there->biz_key, key);
    assert_string_equal(there->dedup_key, key);
    assert_string_equal(there->handler, name);
}

static tp_status put_key(const char *key, char id[ID]) {
    tp_new_task task = task_with(.dedup_key = key);
    tp_status status = tp_enqueue(pool.a, &task);
    memcpy(id, task.id, ID);
    return status;
}

TEST(test_enqueue__one_open_task_per_dedup_key) {
    char first[ID], id[ID];
    must(put_key(pool.handler, first));
    expect(TP_EXISTS, put_key(pool.handler, id));
    expect_number(row_of(id).copies, 0);
    const tp_task *task = claim_this(pool.taker, first);
    expect(TP_EXISTS, put_key(pool.handler, id));
    must(tp_fail(pool.taker, task, "no", NULL));
    expect(TP_EXISTS, put_key(pool.handler, id));
    expect_number(rows_in("pending", pool.handler), 1);
}

TEST(test_enqueue__the_dedup_key_is_free_again_when_the_task_is_settled) {
    for (int way = 0; way < 3; way++) {
        char id[ID];
        must(put_key(pool.handler, id));
        const tp_task *task = claim_this(pool.taker, id);
        if (way == 0) must(tp_complete(pool.taker, task));
        if (way == 1) must(tp_skip(pool.taker, task, "no"));
        if (way == 2) expect(TP_EXHAUSTED, tp_fail(pool.taker, task, "no", &never));
    }
    char id[ID];
    must(put_key(pool.handler, id));
    expect_number(rows_in("finished", pool.handler), 2);
    expect_number(rows_in("failed", pool.handler), 1);
    expect_number(rows_in("pending", pool.handler), 1);
}

TEST(test_enqueue__keys_that_differ_in_anything_are_different) {
    static const char *const endings[] = {"a", "A", "á", "ä", "ａ", "a.", "a😀", "a🚀", "ß", "ss"};
    for (size_t i = 0; i < LENGTH(endings); i++) {
        char key[TP_KEY_MAX], id[ID];
        snprintf(key, sizeof key, "%s.%s", pool.handler, endings[i]);
        must(put_key(key, id));
        expect(TP_EXISTS, put_key(key, id));
    }
}

TEST(test_enqueue__without_a_key_there_is_no_limit) {
    char id[ID];
    for (int i = 0; i < 3; i++) {
        must(put_key(NULL, id));
        must(put_key("", id));
    }
    expect_number(rows_in("pending", pool.handler), 6);
}

/* Databases that take an empty text for none give none back; it is the same task all the same. */
TEST(test_enqueue__an_empty_text_is_as_good_as_none) {
    tp_new_task task = task_new(""), again;
    task.biz_key = task.dedup_key = "";
    must(tp_enqueue(pool.a, &task));
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    again = task, again.content = 0; /* as by a process that has kept the id */
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    again = task, again.content = 0, again.biz_key = again.params = NULL;
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    const tp_task *got = claim_this(pool.taker, task.id);
    assert_string_equal(got->params, "");
    assert_true(!got->biz_key || !*got->biz_key);
    assert_true(!got->dedup_key || !*got->dedup_key);
    must(tp_skip(pool.taker, got, ""));
    must(tp_skip(pool.taker, got, ""));
    expect_row(task.id, "finished", "skipped", 0);
}

TEST(test_enqueue__processes_that_race_for_a_key_get_one_task) {
    enum { RACERS = 4, KEYS = 30 };
    struct child children[RACERS];
    int64_t inserted = 0;
    for (int i = 0; i < RACERS; i++)
        children[i] = child_start("keys", pool.handler, "30", NULL);
    for (int i = 0; i < RACERS; i++)
        child_expect(&children[i], "ready");
    for (int i = 0; i < RACERS; i++)
        child_go(&children[i]);
    for (int i = 0; i < RACERS; i++) {
        inserted += child_number(&children[i]);
        child_end(&children[i]);
    }
    expect_number(inserted, KEYS);
    expect_number(rows_in("pending", pool.handler), KEYS);
}
