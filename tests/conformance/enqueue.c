/* Putting one task: what is written, what is refused, and one open task per dedup_key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "suite.h"

static void test_enqueue__writes_a_pending_task_that_is_due_now(void **state) {
    tp_new_task task = task_new(NULL);
    (void)state;
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

static void test_enqueue__ids_of_one_process_rise(void **state) {
    char before[ID] = "";
    (void)state;
    for (int i = 0; i < 50; i++) {
        tp_new_task task = task_new("x");
        must(tp_enqueue(pool.a, &task));
        assert_true(strcmp(before, task.id) < 0);
        memcpy(before, task.id, ID);
    }
}

static void test_enqueue__refuses_what_is_out_of_its_limits(void **state) {
    static char key[TP_KEY_MAX + 2], name[TP_HANDLER_MAX + 2];
    tp_new_task good = task_new("x"), task;
    (void)state;
    memset(key, 'k', TP_KEY_MAX + 1);
    memset(name, 'h', TP_HANDLER_MAX + 1);
    task = good, task.biz_key = key;
    expect(TP_TOOBIG, tp_enqueue(pool.a, &task));
    task = good, task.dedup_key = key;
    expect(TP_TOOBIG, tp_enqueue(pool.a, &task));
    task = good, task.handler = name;
    expect(TP_TOOBIG, tp_enqueue(pool.a, &task));
    task = good, task.handler = "two words";
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.handler = NULL;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.priority = 32768;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.delay_ms = 5;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.params = "broken \xff";
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task_set_id(&task, "no uuid");
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.due_at = TP_TIME_MAX + 1;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.due_at = 0, task.delay_ms = TP_DURATION_MAX + 1;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    task = good, task.size = 8;
    expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(rows_in("pending", name), 0);
}

static void test_enqueue__the_longest_values_fit(void **state) {
    char key[TP_KEY_MAX + 1], name[TP_HANDLER_MAX + 1];
    tp_new_task task = task_new("x");
    tp_batch *batch = NULL;
    (void)state;
    memset(key, 'k', TP_KEY_MAX);
    memset(name, 'h', TP_HANDLER_MAX);
    key[TP_KEY_MAX] = name[TP_HANDLER_MAX] = '\0';
    memcpy(key, pool.handler, strlen(pool.handler));
    task.biz_key = task.dedup_key = key;
    task.handler = name;
    must(tp_enqueue(pool.a, &task));
    must(tp_show(pool.eye, task.id, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->biz_key, key);
    assert_string_equal(tp_batch_task(batch, 0)->dedup_key, key);
    assert_string_equal(tp_batch_task(batch, 0)->handler, name);
    tp_batch_free(batch);
}

/* ---- dedup_key
 * ------------------------------------------------------------------------------------------------- */

static tp_status put_key(const char *key, char id[ID]) {
    tp_new_task task = task_new("x");
    task.dedup_key = key;
    tp_status status = tp_enqueue(pool.a, &task);
    memcpy(id, task.id, ID);
    return status;
}

static void test_enqueue__one_open_task_per_dedup_key(void **state) {
    char first[ID], id[ID];
    const tp_task *task;
    (void)state;
    must(put_key(pool.handler, first));
    expect(TP_EXISTS, put_key(pool.handler, id));
    expect_number(row_of(id).copies, 0);
    tp_batch *batch = claim_this(pool.taker, first, &task);
    expect(TP_EXISTS, put_key(pool.handler, id));
    must(tp_fail(pool.taker, task, "no", NULL));
    expect(TP_EXISTS, put_key(pool.handler, id));
    tp_batch_free(batch);
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue__the_dedup_key_is_free_again_when_the_task_is_settled(void **state) {
    static const tp_retry never = {.size = sizeof never, .delays_ms = NULL, .count = 0};
    (void)state;
    for (int way = 0; way < 3; way++) {
        char id[ID];
        const tp_task *task;
        must(put_key(pool.handler, id));
        tp_batch *batch = claim_this(pool.taker, id, &task);
        if (way == 0) must(tp_complete(pool.taker, task));
        if (way == 1) must(tp_skip(pool.taker, task, "no"));
        if (way == 2) expect(TP_EXHAUSTED, tp_fail(pool.taker, task, "no", &never));
        tp_batch_free(batch);
    }
    char id[ID];
    must(put_key(pool.handler, id));
    expect_number(rows_in("finished", pool.handler), 2);
    expect_number(rows_in("failed", pool.handler), 1);
    expect_number(rows_in("pending", pool.handler), 1);
}

static void test_enqueue__keys_that_differ_in_anything_are_different(void **state) {
    static const char *const endings[] = {"a", "A", "á", "ä", "ａ", "a.", "a😀", "a🚀", "ß", "ss"};
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char key[TP_KEY_MAX], id[ID];
        snprintf(key, sizeof key, "%s.%s", pool.handler, endings[i]);
        must(put_key(key, id));
        expect(TP_EXISTS, put_key(key, id));
    }
}

static void test_enqueue__without_a_key_there_is_no_limit(void **state) {
    char id[ID];
    (void)state;
    for (int i = 0; i < 3; i++) {
        must(put_key(NULL, id));
        must(put_key("", id));
    }
    expect_number(rows_in("pending", pool.handler), 6);
}

/* Databases that take an empty text for none give none back; it is the same task all the same. */
static void test_enqueue__an_empty_text_is_as_good_as_none(void **state) {
    tp_new_task task = task_new(""), again;
    const tp_task *got;
    (void)state;
    task.biz_key = task.dedup_key = "";
    must(tp_enqueue(pool.a, &task));
    expect(TP_EXISTS, tp_enqueue(pool.a, &task));
    again = task, again.content = 0; /* as by a process that has kept the id */
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    again = task, again.content = 0, again.biz_key = again.params = NULL;
    expect(TP_EXISTS, tp_enqueue(pool.a, &again));
    tp_batch *batch = claim_this(pool.taker, task.id, &got);
    assert_string_equal(got->params, "");
    assert_true(!got->biz_key || !*got->biz_key);
    assert_true(!got->dedup_key || !*got->dedup_key);
    must(tp_skip(pool.taker, got, ""));
    must(tp_skip(pool.taker, got, ""));
    expect_row(task.id, "finished", "skipped", 0);
    tp_batch_free(batch);
}

static void test_enqueue__processes_that_race_for_a_key_get_one_task(void **state) {
    enum { RACERS = 4, KEYS = 30 };
    struct child children[RACERS];
    int64_t inserted = 0;
    (void)state;
    for (int i = 0; i < RACERS; i++)
        children[i] = child_start("keys", pool.handler, "30", NULL);
    for (int i = 0; i < RACERS; i++)
        child_expect(&children[i], "ready");
    for (int i = 0; i < RACERS; i++)
        child_go(&children[i]);
    for (int i = 0; i < RACERS; i++) {
        char line[CHILD_LINE] = "";
        child_listen(&children[i], line);
        sure(strncmp(line, "error", 5) != 0, "%s", line);
        inserted += strtol(line, NULL, 10);
        child_end(&children[i]);
    }
    expect_number(inserted, KEYS);
    expect_number(rows_in("pending", pool.handler), KEYS);
}

THEME(enqueue, false, cmocka_unit_test(test_enqueue__writes_a_pending_task_that_is_due_now),
      cmocka_unit_test(test_enqueue__ids_of_one_process_rise),
      cmocka_unit_test(test_enqueue__refuses_what_is_out_of_its_limits),
      cmocka_unit_test(test_enqueue__the_longest_values_fit),
      cmocka_unit_test(test_enqueue__one_open_task_per_dedup_key),
      cmocka_unit_test(test_enqueue__the_dedup_key_is_free_again_when_the_task_is_settled),
      cmocka_unit_test(test_enqueue__keys_that_differ_in_anything_are_different),
      cmocka_unit_test(test_enqueue__without_a_key_there_is_no_limit),
      cmocka_unit_test(test_enqueue__an_empty_text_is_as_good_as_none),
      cmocka_unit_test(test_enqueue__processes_that_race_for_a_key_get_one_task));
