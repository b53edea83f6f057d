/* Long params: up to 1 MiB whole, beyond it nothing at all. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* Exactly size bytes of UTF-8 with characters of every length, no two pieces alike; to be freed. */
static char *long_text(size_t size) {
    static const char *const pieces[] = {"a", "é", "钱", "😀", "\n", "\"", "\\", "'", "%", "\x01", " "};
    char *text = malloc(size + 1);
    size_t used = 0;
    assert_non_null(text);
    for (unsigned i = 1; used < size; i = i * 1103515245u + 12345u) {
        const char *piece = pieces[(i >> 16) % (sizeof pieces / sizeof pieces[0])];
        if (used + strlen(piece) > size) piece = "z";
        memcpy(text + used, piece, strlen(piece));
        used += strlen(piece);
    }
    text[size] = '\0';
    return text;
}

static void expect_text_equal(const char *got, const char *wanted) {
    assert_non_null(got);
    expect_number(strlen(got), strlen(wanted));
    assert_true(strcmp(got, wanted) == 0); /* not printed: it is long */
}

/* By show, by claim, and again after the move. */
static void expect_everywhere(const char *id, const char *text) {
    tp_batch *shown = NULL, *moved = NULL;
    const tp_task *task;
    const char *params = NULL;
    size_t length = 0;
    must(tp_show(pool.eye, id, &shown));
    expect_text_equal(tp_batch_task(shown, 0)->params, text);
    tp_batch *batch = claim_this(pool.a, id, &task);
    must(tp_task_params(pool.a, task, &params, &length));
    expect_number(length, strlen(text));
    expect_text_equal(params, text);
    must(tp_task_params(pool.a, task, &params, &length)); /* the second time from memory */
    expect_text_equal(params, text);
    must(tp_complete(pool.a, task));
    must(tp_show(pool.eye, id, &moved));
    assert_string_equal(tp_batch_task(moved, 0)->pool, "finished");
    expect_text_equal(tp_batch_task(moved, 0)->params, text);
    tp_batch_free(batch);
    tp_batch_free(shown);
    tp_batch_free(moved);
}

static void test_params__of_one_mebibyte_come_back_whole(void **state) {
    char *text = long_text(TP_PARAMS_MAX);
    tp_new_task task = task_new(text);
    (void)state;
    must(tp_enqueue(pool.a, &task));
    expect_everywhere(task.id, text);
    free(text);
}

static void test_params__of_one_mebibyte_of_ascii_come_back_whole(void **state) {
    char *text = malloc(TP_PARAMS_MAX + 1);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', TP_PARAMS_MAX);
    text[TP_PARAMS_MAX] = '\0';
    tp_new_task task = task_new(text);
    must(tp_enqueue(pool.a, &task));
    expect_everywhere(task.id, text);
    free(text);
}

static void test_params__of_one_mebibyte_come_back_from_an_enqueue_of_many(void **state) {
    char *text = long_text(TP_PARAMS_MAX);
    tp_new_task tasks[3] = {task_new("short"), task_new(text), task_new("short, too")};
    size_t inserted = 0;
    (void)state;
    tasks[0].priority = tasks[2].priority = 5;
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 3);
    expect_everywhere(tasks[1].id, text);
    tp_batch *batch = claim(pool.a, 2);
    assert_string_equal(tp_batch_task(batch, 0)->params, "short");
    assert_string_equal(tp_batch_task(batch, 1)->params, "short, too");
    tp_batch_free(batch);
    free(text);
}

static void test_params__one_byte_more_is_too_big_and_nothing_is_written(void **state) {
    char *text = long_text(TP_PARAMS_MAX + 1);
    tp_new_task task = task_new(text), pair[2] = {task_new("x"), task_new(text)};
    (void)state;
    expect(TP_TOOBIG, tp_enqueue(pool.a, &task));
    expect_text("1048577");
    expect(TP_TOOBIG, tp_enqueue_many(pool.a, pair, 2, NULL));
    expect_text("task 2 of 2");
    expect_number(rows_in("pending", pool.handler), 0);
    must(tp_begin(pool.a)); /* the connection is as good as before */
    must(tp_enqueue(pool.a, &pair[0]));
    must(tp_commit(pool.a));
    expect_number(rows_in("pending", pool.handler), 1);
    free(text);
}

static void test_params__of_every_length_around_the_pieces_come_back(void **state) {
    static const size_t sizes[] = {1,    1022, 1023, 1024, 1025,  2046,  2047,  2048,  4000,  4001,
                                   8191, 8192, 8193, 9000, 16384, 32766, 32767, 32768, 65535, 65536};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *text = long_text(sizes[i]);
        tp_new_task task = task_new(text);
        must(tp_enqueue(pool.a, &task));
        expect_everywhere(task.id, text);
        free(text);
    }
}

static void test_params__long_ones_are_left_out_of_claims_and_lists(void **state) {
    char *text = long_text(100000);
    tp_new_task tasks[3] = {task_new("a"), task_new(text), task_new("c")};
    tp_list_request request = TP_LIST_INIT;
    tp_batch *listed = NULL;
    const char *params = NULL;
    (void)state;
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    request.handler = pool.handler;
    must(tp_list(pool.eye, &request, &listed));
    tp_batch *batch = claim(pool.a, 3);
    for (size_t i = 0; i < 3; i++) {
        const tp_task *task = tp_batch_task(batch, i), *line = tp_batch_task(listed, i);
        assert_string_equal(task->id, tasks[i].id);
        assert_true((task->params == NULL) == (i == 1));
        assert_true((line->params == NULL) == (i == 1));
        must(tp_task_params(pool.a, task, &params, NULL));
        expect_text_equal(params, tasks[i].params);
    }
    tp_batch_free(batch);
    tp_batch_free(listed);
    free(text);
}

static void test_params__can_be_given_back_before_the_batch_and_read_again(void **state) {
    char *text = long_text(20000);
    tp_new_task task = task_new(text);
    const tp_task *claimed;
    const char *params = NULL;
    (void)state;
    must(tp_enqueue(pool.a, &task));
    tp_batch *batch = claim_this(pool.a, task.id, &claimed);
    tp_task_params_free(claimed); /* not read yet: nothing to give back */
    assert_null(claimed->params);
    for (int i = 0; i < 3; i++) {
        must(tp_task_params(pool.a, claimed, &params, NULL));
        expect_text_equal(params, text);
        assert_ptr_equal(claimed->params, params);
        tp_task_params_free(claimed);
        assert_null(claimed->params);
    }
    must(tp_complete(pool.a, claimed));
    expect(TP_LOST, tp_task_params(pool.a, claimed, &params, NULL));
    tp_batch_free(batch);
    batch = put_and_claim(pool.a, &claimed);
    tp_task_params_free(claimed); /* short ones belong to the batch */
    assert_string_equal(claimed->params, "x");
    tp_task_params_free(NULL);
    tp_batch_free(batch);
    free(text);
}

THEME(params, true, cmocka_unit_test(test_params__of_one_mebibyte_come_back_whole),
      cmocka_unit_test(test_params__of_one_mebibyte_of_ascii_come_back_whole),
      cmocka_unit_test(test_params__of_one_mebibyte_come_back_from_an_enqueue_of_many),
      cmocka_unit_test(test_params__one_byte_more_is_too_big_and_nothing_is_written),
      cmocka_unit_test(test_params__of_every_length_around_the_pieces_come_back),
      cmocka_unit_test(test_params__long_ones_are_left_out_of_claims_and_lists),
      cmocka_unit_test(test_params__can_be_given_back_before_the_batch_and_read_again));
