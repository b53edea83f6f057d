/* Long params: up to 1 MiB whole, beyond it nothing at all. */
#include "suite.h"

THEME(params, EACH_PLAN);

/* Exactly size bytes of UTF-8 with characters of every length, no two pieces alike; to be freed. */
static char *long_text(size_t size) {
    static const char *const pieces[] = {"a", "é", "钱", "😀", "\n", "\"", "\\", "'", "%", "\x01", " "};
    char *text = malloc(size + 1);
    size_t used = 0;
    assert_non_null(text);
    for (unsigned i = 1; used < size; i = i * 1103515245u + 12345u) {
        const char *piece = pieces[(i >> 16) % (LENGTH(pieces))];
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
    const char *params = NULL;
    size_t length = 0;
    const tp_task *shown = task_shown(pool.eye, id);
    expect_text_equal(shown->params, text);
    const tp_task *task = claim_this(pool.a, id);
    must(tp_task_params(pool.a, task, &params, &length));
    expect_number(length, strlen(text));
    expect_text_equal(params, text);
    must(tp_task_params(pool.a, task, &params, &length)); /* the second time from memory */
    expect_text_equal(params, text);
    must(tp_complete(pool.a, task));
    const tp_task *moved = task_shown(pool.eye, id);
    assert_string_equal(moved->pool, "finished");
    expect_text_equal(moved->params, text);
}

TEST(test_params__of_one_mebibyte_come_back_whole) {
    char *text = long_text(TP_PARAMS_MAX);
    tp_new_task task = enqueue(pool.a, .params = text);
    expect_everywhere(task.id, text);
    free(text);
}

TEST(test_params__of_one_mebibyte_of_ascii_come_back_whole) {
    char *text = malloc(TP_PARAMS_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', TP_PARAMS_MAX);
    text[TP_PARAMS_MAX] = '\0';
    tp_new_task task = enqueue(pool.a, .params = text);
    expect_everywhere(task.id, text);
    free(text);
}

TEST(test_params__of_one_mebibyte_come_back_from_an_enqueue_of_many) {
    char *text = long_text(TP_PARAMS_MAX);
    tp_new_task tasks[3] = {task_new("short"), task_new(text), task_new("short, too")};
    size_t inserted = 0;
    tasks[0].priority = tasks[2].priority = 5;
    must(tp_enqueue_many(pool.a, tasks, 3, &inserted));
    expect_number(inserted, 3);
    expect_everywhere(tasks[1].id, text);
    tp_batch *batch = claim(pool.a, 2);
    assert_string_equal(tp_batch_task(batch, 0)->params, "short");
    assert_string_equal(tp_batch_task(batch, 1)->params, "short, too");
    free(text);
}

TEST(test_params__one_byte_more_is_too_big_and_nothing_is_written) {
    char *text = long_text(TP_PARAMS_MAX + 1);
    tp_new_task task = task_new(text), pair[2] = {task_new("x"), task_new(text)};
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

TEST(test_params__of_every_length_around_the_pieces_come_back) {
    static const size_t sizes[] = {1,    1022, 1023, 1024, 1025,  2046,  2047,  2048,  4000,  4001,
                                   8191, 8192, 8193, 9000, 16384, 32766, 32767, 32768, 65535, 65536};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        char *text = long_text(sizes[i]);
        tp_new_task task = enqueue(pool.a, .params = text);
        expect_everywhere(task.id, text);
        free(text);
    }
}

TEST(test_params__long_ones_are_left_out_of_claims_and_lists) {
    char *text = long_text(100000);
    tp_new_task tasks[3] = {task_new("a"), task_new(text), task_new("c")};
    const char *params = NULL;
    must(tp_enqueue_many(pool.a, tasks, 3, NULL));
    tp_list_request request = {.size = sizeof request, .handler = pool.handler};
    tp_batch *listed = tasks_listed(pool.eye, &request);
    tp_batch *batch = claim(pool.a, 3);
    for (size_t i = 0; i < 3; i++) {
        const tp_task *task = tp_batch_task(batch, i), *line = tp_batch_task(listed, i);
        assert_string_equal(task->id, tasks[i].id);
        assert_true((task->params == NULL) == (i == 1));
        assert_true((line->params == NULL) == (i == 1));
        must(tp_task_params(pool.a, task, &params, NULL));
        expect_text_equal(params, tasks[i].params);
    }
    free(text);
}

TEST(test_params__can_be_given_back_before_the_batch_and_read_again) {
    char *text = long_text(20000);
    tp_new_task task = task_new(text);
    const char *params = NULL;
    must(tp_enqueue(pool.a, &task));
    const tp_task *claimed = claim_this(pool.a, task.id);
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
    claimed = put_and_claim(pool.a);
    tp_task_params_free(claimed); /* short ones belong to the batch */
    assert_string_equal(claimed->params, "x");
    tp_task_params_free(NULL);
    free(text);
}
