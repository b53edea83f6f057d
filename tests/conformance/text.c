/* Text comes back byte for byte, however it went in and however it is read. */
#include <string.h>

#include "suite.h"

static const char *const texts[] = {
    "{\"order\":7,\"name\":\"plain\"}",
    "中文参数：工资单，张伟，¥12,345.67",
    "four bytes: 😀🚀𠮷𝄞 end",
    "quotes ' '' \" \"\" ` backslash \\ \\\\ \\n \\' percent % %s %d underscore _ question ? colon :id",
    "line\nline\r\nline\ttab\vvt\fff",
    "control \x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x1a\x1b\x1f\x7f end",
    "c1 \xc2\x80\xc2\x85\xc2\x9f nbsp \xc2\xa0 bom \xef\xbb\xbf lsep \xe2\x80\xa8 last \xf4\x8f\xbf\xbf",
    "combining e\xcc\x81 and ready \xc3\xa9",
    "; DROP TABLE tp_pending; -- /* */ {fn now()} {d '2026-01-01'}",
    " spaces at both ends ",
    "ends with newline\n",
    "null",
    "[]",
    "0",
    "\\u0041 \\x41 &amp; <b>",
    "",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void expect_params(tp_conn *conn, const tp_task *task, const char *text) {
    const char *params = NULL;
    size_t length = 0;
    assert_non_null(task->params);
    assert_string_equal(task->params, text);
    must(tp_task_params(conn, task, &params, &length));
    assert_string_equal(params, text);
    expect_number(length, strlen(text));
}

static void expect_shown(const char *id, const char *text) {
    tp_batch *batch = NULL;
    must(tp_show(pool.eye, id, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->params, text);
    tp_batch_free(batch);
}

/* All texts are in the pool under rising ids: claims them in order, looks, and completes them. */
static void expect_all(void) {
    tp_batch *batch = claim(pool.a, TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        const tp_task *task = tp_batch_task(batch, i);
        expect_params(pool.a, task, texts[i]);
        expect_shown(task->id, texts[i]);
        must(tp_complete(pool.a, task));
        expect_shown(task->id, texts[i]);
    }
    tp_batch_free(batch);
}

static void test_text__params_of_one_task_come_back_byte_for_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        tp_new_task task = task_new(texts[i]);
        must(tp_enqueue(pool.a, &task));
    }
    expect_all();
}

static void test_text__params_of_many_tasks_come_back_byte_for_byte(void **state) {
    tp_new_task tasks[TEXTS];
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        tasks[i] = task_new(texts[i]);
    must(tp_enqueue_many(pool.a, tasks, TEXTS, NULL));
    expect_all();
}

static void test_text__params_survive_failing_and_giving_up(void **state) {
    static const tp_retry never = {.size = sizeof never, .delays_ms = NULL, .count = 0};
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        tp_new_task task = task_new(texts[i]);
        must(tp_enqueue(pool.a, &task));
        tp_batch *batch = claim(pool.a, 1);
        expect(TP_EXHAUSTED, tp_fail(pool.a, tp_batch_task(batch, 0), "no", &never));
        expect_shown(task.id, texts[i]);
        tp_batch_free(batch);
    }
}

/* ---- Keys
 * ------------------------------------------------------------------------------------------------------ */

static const char *const keys[] = {
    "订单-2026-张伟", "😀🚀𠮷", "it's \"q\" \\ % _ ? :id", "é and e\xcc\x81", "null", "A", "a", " a"};
enum { KEYS = sizeof keys / sizeof keys[0] };

static void expect_key(const char *id, const char *key) {
    tp_batch *batch = NULL;
    must(tp_show(pool.eye, id, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->biz_key, key);
    tp_batch_free(batch);
}

static void expect_listed(const char *key, size_t count) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    request.handler = pool.handler;
    request.biz_key = key;
    must(tp_list(pool.eye, &request, &batch));
    expect_number(tp_batch_count(batch), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(tp_batch_task(batch, i)->biz_key, key);
    tp_batch_free(batch);
}

static void test_text__business_keys_come_back_and_are_found(void **state) {
    tp_new_task many[KEYS];
    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        tp_new_task one = task_new("x");
        one.biz_key = keys[i];
        must(tp_enqueue(pool.a, &one));
        expect_key(one.id, keys[i]);
        many[i] = task_new("x");
        many[i].biz_key = keys[i];
    }
    must(tp_enqueue_many(pool.a, many, KEYS, NULL));
    for (size_t i = 0; i < KEYS; i++) {
        expect_key(many[i].id, keys[i]);
        expect_listed(keys[i], 2);
    }
    tp_batch *batch = claim(pool.a, KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_string_equal(tp_batch_task(batch, i)->biz_key, keys[i]);
    tp_batch_free(batch);
}

static void test_text__keys_with_control_characters_or_broken_utf8_are_refused(void **state) {
    static const char *const bad[] = {"a\nb", "a\x01", "\xff", "cut \xe4\xbd", "blank at the end "};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tp_new_task task = task_new("x");
        task.biz_key = bad[i];
        expect(TP_MISUSE, tp_enqueue(pool.a, &task));
        task.biz_key = NULL;
        task.dedup_key = bad[i];
        expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    }
    expect_number(rows_in("pending", pool.handler), 0);
}

THEME(text, true, cmocka_unit_test(test_text__params_of_one_task_come_back_byte_for_byte),
      cmocka_unit_test(test_text__params_of_many_tasks_come_back_byte_for_byte),
      cmocka_unit_test(test_text__params_survive_failing_and_giving_up),
      cmocka_unit_test(test_text__business_keys_come_back_and_are_found),
      cmocka_unit_test(test_text__keys_with_control_characters_or_broken_utf8_are_refused));
