/* A claim asked again with the token of its first try: it finds what that took, and takes nothing more. */
#include "base/uuid.h"
#include "suite.h"

THEME(claim_again, EACH_PLAN);

enum { TASKS = 5, TAKEN = 3 };

/* The claim whose answer was lost: three of five tasks are taken; token gets its token. */
static tp_batch *first_try(char ids[TASKS][ID], char token[ID]) {
    task_put_many(TASKS, ids);
    tp_batch *batch = claim(pool.a, TAKEN);
    memcpy(token, tp_batch_task(batch, 0)->owner, ID);
    return batch;
}

static tp_batch *ask_again(tp_conn *conn, const char *token, size_t limit) {
    tp_claim_request request = claim_request(limit);
    memcpy(request.token, token, ID);
    tp_batch *batch = claim_by(conn, &request);
    assert_string_equal(request.token, "");
    return batch;
}

TEST(test_claim_again__gives_the_same_tasks_and_no_more) {
    char ids[TASKS][ID], token[ID];
    struct row before[TASKS];
    tp_batch *first = first_try(ids, token);
    for (int i = 0; i < TASKS; i++)
        before[i] = row_of(ids[i]);
    tp_batch *second = ask_again(pool.b, token, TASKS);
    expect_count(second, TAKEN);
    for (size_t i = 0; i < TAKEN; i++) {
        const tp_task *task = tp_batch_task(first, i);
        assert_true(batch_holds(second, task->id));
        assert_string_equal(tp_batch_task(second, i)->owner, token);
        assert_string_equal(tp_batch_task(second, i)->state, "handling");
    }
    for (int i = 0; i < TASKS; i++)
        expect_same(ids[i], &before[i]);
    must(tp_complete(pool.b, tp_batch_task(second, 0)));
}

TEST(test_claim_again__claims_anew_when_the_first_try_took_nothing) {
    char ids[TASKS][ID], token[ID];
    task_put_many(TASKS, ids);
    tpi_uuid_random(token);
    tp_batch *batch = ask_again(pool.a, token, 2);
    expect_count(batch, 2);
    /* Under a token of its own: what the server may still be at under the old one is not mixed with it. */
    assert_string_not_equal(row_of(ids[0]).owner, token);
    assert_string_equal(row_of(ids[0]).owner, tp_batch_task(batch, 0)->owner);
}

TEST(test_claim_again__leaves_out_what_was_settled_meanwhile) {
    char ids[TASKS][ID], token[ID];
    tp_batch *first = first_try(ids, token);
    must(tp_complete(pool.a, tp_batch_task(first, 0)));
    must(tp_fail(pool.a, tp_batch_task(first, 1), "no", NULL));
    tp_batch *second = ask_again(pool.b, token, TASKS);
    expect_count(second, 1);
    assert_string_equal(tp_batch_task(second, 0)->id, tp_batch_task(first, 2)->id);
}

TEST(test_claim_again__the_token_is_kept_while_there_is_no_answer) {
    tp_claim_request request = claim_request(1);
    must(tp_begin(pool.a)); /* a failure that comes before any statement */
    expect(TP_MISUSE, try_claim(pool.a, &request));
    must(tp_rollback(pool.a));
    memcpy(request.token, "91936F5E-8A4C-4B1D-9C3E-5F6A7B8C9D0F", ID);
    expect(TP_NONE, try_claim(pool.a, &request));
    assert_string_equal(request.token, "");
    memcpy(request.token, "not a token", 12);
    expect(TP_MISUSE, try_claim(pool.a, &request));
}

/* The claim meets a lock and gives up, or goes past it; in the end it has both tasks, each once. */
TEST(test_claim_again__after_a_timeout_nothing_is_lost_and_nothing_taken_twice) {
    char ids[2][ID];
    tp_conn *guest = guest_session();
    tp_claim_request request = claim_request(10);
    size_t count = 0;
    task_put_many(2, ids);
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_pending SET shard = 1 WHERE id = '%s'", ids[0]), 1);
    for (int try = 0; try < 5 && count < 2; try++) {
        tp_batch *batch = NULL;
        tp_status status = claim_into(guest, &request, &batch);
        if (status < TP_OK) {
            expect_may_retry(status);
            assert_string_not_equal(request.token, "");
        }
        count += tp_batch_count(batch);
        if (try == 0) {
            assert_true(count <= 1);
            must(tp_rollback(pool.b));
        }
    }
    expect_number(count, 2);
    for (int i = 0; i < 2; i++)
        expect_row(ids[i], "pending", "handling", 0);
}

/* All that the first try took may have been lapsed tasks on their last failure. */
TEST(test_claim_again__puts_aside_what_the_first_try_could_not) {
    char token[ID];
    tp_claim_request request = claim_request(1);
    const char *id = put_one();
    tpi_uuid_random(token);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'handling', owner = '%s', failures = 4, reason = 'lease lapsed, "
            "held by me', due_at = 9000000000000 WHERE id = '%s'",
            token, id);
    memcpy(request.token, token, ID);
    expect(TP_NONE, try_claim(pool.a, &request));
    expect_row(id, "failed", "failed", 4);
}

/* Another session, when the lease of what was just marked has lapsed. */
static void take_one_that_lapsed(struct tpi_link *link, void *arg) {
    tp_status status;
    (void)link;
    tp_claim_request request = request_with(.limit = 1, .plan = "cas");
    do
        status = claim_into(pool.b, &request, arg);
    while (status == TP_NONE);
    must(status);
}

/* Plans that mark first and read back what they marked, after a wait that was longer than the lease. */
TEST(test_claim_again__what_lapsed_and_went_to_another_is_not_missed_when_read_back) {
    char ids[2][ID];
    for (size_t tasks = 2; tasks > 0; tasks--) {
        tp_batch *batch = NULL, *others = NULL;
        sql_run(pool.eye, "DELETE FROM tp_pending");
        task_put_many(tasks, ids);
        tp_claim_request request = request_with(.limit = tasks, .lease_ms = 50);
        meet_call("claim_read", take_one_that_lapsed, &others);
        tp_status status = claim_into(pool.a, &request, &batch);
        if (!others) { /* it reads nothing back */
            must(status);
        } else if (tasks == 1) {
            expect(TP_NONE, status);
        } else {
            must(status);
            expect_count(batch, 1);
            assert_false(batch_holds(others, tp_batch_task(batch, 0)->id));
        }
        assert_string_equal(request.token, "");
    }
}
