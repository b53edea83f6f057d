/* Text comes back byte for byte, however it went in and however it is read. */
#include "suite.h"

THEME(text, A_PLAN);

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
enum { TEXTS = LENGTH(texts) };

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
    const tp_task *there = task_shown(pool.eye, id);
    assert_string_equal(there->params, text);
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
}

TEST(test_text__params_of_one_task_come_back_byte_for_byte) {
    for (size_t i = 0; i < TEXTS; i++)
        enqueue(pool.a, .params = texts[i]);
    expect_all();
}

TEST(test_text__params_of_many_tasks_come_back_byte_for_byte) {
    tp_new_task tasks[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        tasks[i] = task_new(texts[i]);
    must(tp_enqueue_many(pool.a, tasks, TEXTS, NULL));
    expect_all();
}

TEST(test_text__params_survive_failing_and_giving_up) {
    for (size_t i = 0; i < TEXTS; i++) {
        tp_new_task task = enqueue(pool.a, .params = texts[i]);
        expect(TP_EXHAUSTED, tp_fail(pool.a, claim_one(pool.a), "no", &never));
        expect_shown(task.id, texts[i]);
    }
}

static const char *const keys[] = {
    "订单-2026-张伟", "😀🚀𠮷", "it's \"q\" \\ % _ ? :id", "é and e\xcc\x81", "null", "A", "a", " a"};
enum { KEYS = LENGTH(keys) };

static void expect_key(const char *id, const char *key) {
    const tp_task *there = task_shown(pool.eye, id);
    assert_string_equal(there->biz_key, key);
}

static void expect_listed(const char *key, size_t count) {
    tp_list_request request = {.size = sizeof request, .handler = pool.handler, .biz_key = key};
    tp_batch *batch = tasks_listed(pool.eye, &request);
    expect_count(batch, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(tp_batch_task(batch, i)->biz_key, key);
}

TEST(test_text__business_keys_come_back_and_are_found) {
    tp_new_task many[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        tp_new_task one = enqueue(pool.a, .biz_key = keys[i]);
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
}

TEST(test_text__keys_with_control_characters_or_broken_utf8_are_refused) {
    static const char *const bad[] = {"a\nb", "a\x01", "\xff", "cut \xe4\xbd", "blank at the end "};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        tp_new_task task = task_with(.biz_key = bad[i]);
        expect(TP_MISUSE, tp_enqueue(pool.a, &task));
        task.biz_key = NULL;
        task.dedup_key = bad[i];
        expect(TP_MISUSE, tp_enqueue(pool.a, &task));
    }
    expect_number(rows_in("pending", pool.handler), 0);
}
