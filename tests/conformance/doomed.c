/* A call inside a transaction that is refused before the database is asked: what it was to write is missing
 * there, so the other half may not be committed by who does not look at its answer. */
#include "ops/for_workers.h"
#include "suite.h"

THEME(doomed, ONCE);

/* What the calls name: a claimed task, and one as tp_show gives it. */
static struct { const tp_task *task, *shown; } given;

static const tp_retry bad_policy = {.size = sizeof bad_policy, .jitter = 101};

/* ---- Settles ------------------------------------------------------------------------------------------- */

static tp_status complete_nothing(tp_conn *conn) {
    return tp_complete(conn, NULL);
}

static tp_status complete_shown(tp_conn *conn) {
    return tp_complete(conn, given.shown);
}

static tp_status skip_unclaimed(tp_conn *conn) {
    tp_task task = *given.task;
    task.owner = "";
    return tp_skip(conn, &task, "why");
}

static tp_status fail_with_a_bad_policy(tp_conn *conn) {
    return tp_fail(conn, given.task, "why", &bad_policy);
}

static tp_status give_nothing_up(tp_conn *conn) {
    return tp_give_up(conn, NULL, "why");
}

static tp_status release_for_less_than_nothing(tp_conn *conn) {
    return tp_release(conn, given.task, -1);
}

static tp_status extend_for_less_than_nothing(tp_conn *conn) {
    return tp_extend(conn, given.task, -1);
}

static tp_status ask_what_became_of_nothing(tp_conn *conn) {
    return tp_settled(conn, NULL);
}

static tp_status complete_none_of_many(tp_conn *conn) {
    return tp_complete_many(conn, NULL, 1, NULL);
}

static tp_status complete_shown_among_many(tp_conn *conn) {
    const tp_task *tasks[] = {given.task, given.shown};
    return tp_complete_many(conn, tasks, 2, NULL);
}

static tp_status extend_many_for_less_than_nothing(tp_conn *conn) {
    return tpi_extend_many(conn, &given.task, 1, -1, NULL);
}

/* ---- What is put in ------------------------------------------------------------------------------------ */

static tp_status enqueue_nothing(tp_conn *conn) {
    return tp_enqueue(conn, NULL);
}

static tp_status enqueue_for_nobody(tp_conn *conn) {
    tp_new_task task = task_with(.handler = "");
    return tp_enqueue(conn, &task);
}

static tp_status enqueue_of_no_size(tp_conn *conn) {
    tp_new_task task = task_new("x");
    task.size = 3;
    return tp_enqueue(conn, &task);
}

static tp_status enqueue_what_was_changed(tp_conn *conn) {
    tp_new_task task = task_new("x");
    tp_status status = tp_enqueue(conn, &task);
    task.params = "y";
    return status == TP_OK ? tp_enqueue(conn, &task) : status;
}

static tp_status enqueue_none_of_many(tp_conn *conn) {
    return tp_enqueue_many(conn, NULL, 2, NULL);
}

static tp_status enqueue_many_with_a_bad_key(tp_conn *conn) {
    tp_new_task tasks[] = {task_new("x"), task_new("x")};
    tasks[1].biz_key = "ends with a blank ";
    return tp_enqueue_many(conn, tasks, 2, NULL);
}

static tp_status enqueue_many_of_two_sizes(tp_conn *conn) {
    tp_new_task tasks[] = {task_new("x"), task_new("x")};
    tasks[1].size = 3;
    return tp_enqueue_many(conn, tasks, 2, NULL);
}

/* ---- The ledger, schedules, pauses, claims ------------------------------------------------------------- */

static tp_status once_without_a_key(tp_conn *conn) {
    return tp_once(conn, NULL, NULL);
}

static tp_status once_for_no_id(tp_conn *conn) {
    static const tp_task ghost = {.id = "7", .handler = "x"};
    return tp_once(conn, "key", &ghost);
}

static tp_status add_no_schedule(tp_conn *conn) {
    return tp_schedule_add(conn, NULL);
}

static tp_status add_schedule_without_a_rule(tp_conn *conn) {
    tp_schedule schedule = {
        .size = sizeof schedule, .name = "doomed", .handler = pool.handler, .rule = "now and then"};
    return tp_schedule_add(conn, &schedule);
}

static tp_status remove_schedule_without_a_name(tp_conn *conn) {
    return tp_schedule_remove(conn, "");
}

static tp_status pause_schedule_without_a_name(tp_conn *conn) {
    return tp_schedule_pause(conn, NULL, 1);
}

static tp_status pause_nobody(tp_conn *conn) {
    return tp_pause(conn, "", "tester", "why");
}

static tp_status resume_nobody(tp_conn *conn) {
    return tp_resume(conn, NULL, "tester");
}

static tp_status claim_without_a_handler(tp_conn *conn) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handler_count = 1;
    return try_claim(conn, &request);
}

static const struct refusal {
    const char *name;
    tp_status (*call)(tp_conn *conn);
} refusals[] = {
    {"complete: no task", complete_nothing},
    {"complete: a task that was only shown", complete_shown},
    {"skip: a task that was not claimed", skip_unclaimed},
    {"fail: a policy with a fault", fail_with_a_bad_policy},
    {"give up: no task", give_nothing_up},
    {"release: a delay below 0", release_for_less_than_nothing},
    {"extend: a lease below 0", extend_for_less_than_nothing},
    {"settled: no task", ask_what_became_of_nothing},
    {"complete many: no tasks", complete_none_of_many},
    {"complete many: one that was only shown", complete_shown_among_many},
    {"extend many: a lease below 0", extend_many_for_less_than_nothing},
    {"enqueue: no task", enqueue_nothing},
    {"enqueue: no handler", enqueue_for_nobody},
    {"enqueue: a size that no header has", enqueue_of_no_size},
    {"enqueue: changed since it got its id", enqueue_what_was_changed},
    {"enqueue many: no tasks", enqueue_none_of_many},
    {"enqueue many: one with a key that is none", enqueue_many_with_a_bad_key},
    {"enqueue many: two sizes", enqueue_many_of_two_sizes},
    {"once: no key", once_without_a_key},
    {"once: an id that is none", once_for_no_id},
    {"schedule: none", add_no_schedule},
    {"schedule: a rule that is none", add_schedule_without_a_rule},
    {"schedule: removed without a name", remove_schedule_without_a_name},
    {"schedule: paused without a name", pause_schedule_without_a_name},
    {"pause: no handler", pause_nobody},
    {"resume: no handler", resume_nobody},
    {"claim: no handlers", claim_without_a_handler},
};
enum { REFUSALS = LENGTH(refusals) };

TEST(test_doomed__a_refusal_before_the_database_is_asked_dooms_what_was_written) {
    given.task = put_and_claim(pool.a);
    const tp_task *shown = task_shown(pool.eye, given.task->id);
    given.shown = shown;
    struct row before = row_of(given.task->id);
    for (size_t i = 0; i < REFUSALS; i++) {
        tp_new_task half = task_new("half");
        must(tp_begin(pool.a));
        effect(pool.a, given.task->id);
        must(tp_enqueue(pool.a, &half));
        tp_status refused = refusals[i].call(pool.a), committed = tp_commit(pool.a);
        if (refused != TP_MISUSE || committed != TP_CONFLICT) print_error("%s\n", refusals[i].name);
        expect_number(refused, TP_MISUSE);
        expect(TP_CONFLICT, committed);
        expect_number(effects_of(given.task->id), 0);
        expect_number(row_of(half.id).copies, 0);
        expect_same(given.task->id, &before);
    }
    must(tp_complete(pool.a, given.task));
}

/* A claim that is known to be lost without asking: of plan hold, once its transaction is over. */
TEST(test_doomed__a_settle_of_what_an_earlier_transaction_held_dooms_this_one) {
    char id[ID];
    if (!pool_plan_possible("hold")) skip();
    tp_claim_request request = request_with(.limit = 1, .plan = "hold");
    task_put("x", id);
    must(tp_begin(pool.a));
    tp_batch *batch = claim_by(pool.a, &request);
    must(tp_rollback(pool.a));
    const tp_task *task = tp_batch_task(batch, 0);
    for (int many = 0; many < 2; many++) {
        must(tp_begin(pool.a));
        effect(pool.a, id);
        expect(TP_LOST, many ? tp_complete_many(pool.a, &task, 1, NULL) : tp_complete(pool.a, task));
        expect(TP_CONFLICT, tp_commit(pool.a));
        expect_number(effects_of(id), 0);
        expect_row(id, "pending", "pending", 0);
    }
}
