/* A task behind a gate is there once, in its place, and its end lets one through: whichever call fails, the
 * gate has let through as many as its width. */
#include <inttypes.h>
#include <string.h>

#include "faults/operation.h"
#include "ops/for_workers.h"

#define INSIDE (TRAIT_TRANSACTION | TRAIT_SETTLES)

/* ---- Given --------------------------------------------------------------------------------------------- */

static void set_gate(int32_t width, tp_gate_failure on_failure) {
    must(tp_gate_set(pool.b, "bank", width, on_failure, "ann"));
}

static void put_behind(struct work *work, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tp_new_task task = task_new("x");
        task.due_at = 0;
        task.gate = "bank";
        must(tp_enqueue(pool.b, &task));
        memcpy(work->ids[work->id_count++], task.id, TP_ID_SIZE);
        row_make_due(task.id); /* of those that wait too: whoever is let through says so in gate_task */
        sql_run(pool.eye,
                "UPDATE tp_pending SET due_at = %" PRId64 " WHERE id IN "
                "(SELECT task_id FROM tp_gate_task WHERE passed = 0)",
                TP_TIME_MAX);
    }
}

/* The first of three, of which one at a time is let through. */
static void first_of_three(struct work *work, tp_gate_failure on_failure) {
    set_gate(1, on_failure);
    put_behind(work, 1);
    tp_batch *batch = work->batches[work->batch_count++] = claim(pool.b, 1);
    work->tasks[0] = tp_batch_task(batch, 0);
    put_behind(work, 2);
}

STEP(first_claimed, first_of_three(work, TP_GATE_BLOCK))
STEP(first_claimed_passing, first_of_three(work, TP_GATE_PASS))
STEP(fresh_of_key, work_fresh(work)->order_key = work->key)

static void fresh_of_keys(struct work *work) {
    for (int i = 0; i < 3; i++)
        work_fresh(work)->order_key = i == 1 ? "another" : work->key;
}

static void first_given_up(struct work *work) {
    first_of_three(work, TP_GATE_PASS);
    expect(TP_EXHAUSTED, tp_give_up(pool.b, work->tasks[0], "no money"));
}

static void three_behind(struct work *work) {
    set_gate(1, TP_GATE_BLOCK);
    put_behind(work, 3);
}

/* A library that knows no gates has settled the first. */
static void first_left(struct work *work) {
    three_behind(work);
    sql_run(pool.eye, "UPDATE tp_pending SET gate = NULL WHERE id = '%s'", work->ids[0]);
    tp_batch *batch = work->batches[work->batch_count++] = claim(pool.b, 1);
    must(tp_complete(pool.b, tp_batch_task(batch, 0)));
}

STEP(a_gate, set_gate(3, TP_GATE_BLOCK))

static void fresh_of_tenant(struct work *work) {
    tp_new_task *task = work_fresh(work);
    task->due_at = 0;
    task->gate = "tenant-1";
    must(tp_gate_set(pool.b, "tenant-*", 3, TP_GATE_BLOCK, NULL));
}

static void set_tokens(tp_conn *conn, int32_t tokens) {
    tp_gate_options to = {.size = sizeof to, .tokens = tokens, .period_ms = TP_GATE_PERIOD_MIN};
    must(tp_gate_set_with(conn, "bank", &to, "ann"));
}

/* The first of three has ended, and its token is back. */
static void token_is_back(struct work *work) {
    set_tokens(pool.b, 1);
    put_behind(work, 1);
    tp_batch *batch = work->batches[work->batch_count++] = claim(pool.b, 1);
    must(tp_complete(pool.b, tp_batch_task(batch, 0)));
    put_behind(work, 2);
    must(tp_test_advance(pool.b, 60000));
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

static tp_selection selection(void) {
    tp_selection all = TP_SELECTION_INIT;
    all.handler = pool.handler;
    all.who = "ann";
    return all;
}

static tp_status operate(struct work *work, tp_action action, const char *in) {
    tp_selection what = selection();
    what.pool = in;
    return tp_operate(work->conn, action, &what, NULL);
}

static tp_status set_again(struct work *work, int32_t width) {
    tp_status status = tp_gate_set(work->conn, "bank", width, TP_GATE_BLOCK, "ann");
    return status == TP_EXISTS && work->calls > 1 ? TP_OK : status;
}

static tp_status remove_again(struct work *work) {
    tp_status status = tp_gate_remove(work->conn, "bank", "ann");
    return status == TP_NONE && work->calls > 1 ? TP_OK : status;
}

static void see(const tp_gate *gate, void *arg) {
    struct work *work = arg;
    if (strcmp(gate->name, "bank") == 0) work->number = gate->through + gate->waiting;
}

CALL(complete, tp_complete(work->conn, work->tasks[0]))
CALL(complete_many, tp_complete_many(work->conn, work->tasks, 1, NULL))
CALL(give_up, tp_give_up(work->conn, work->tasks[0], long_reason))
CALL(skip_pending, operate(work, TP_ACTION_SKIP, "pending"))
CALL(retry_failed, operate(work, TP_ACTION_RETRY, "failed"))
CALL(widen, set_again(work, 2))
CALL(make_gate, set_again(work, 2))
CALL(look, tp_gate_each(work->conn, NULL, see, work))
CALL(mend, tpi_gates_mend(work->conn))
CALL(look_for_tokens, tpi_gates_look_for_tokens(work->conn))

static tp_status give_tokens(struct work *work) {
    int64_t wait = 0;
    return tpi_gates_give_tokens(work->conn, &wait);
}

static tp_status set_with_again(struct work *work) {
    tp_gate_options to = {.size = sizeof to, .tokens = 2, .period_ms = TP_GATE_PERIOD_MIN};
    tp_status status = tp_gate_set_with(work->conn, "bank", &to, "ann");
    return status == TP_EXISTS && work->calls > 1 ? TP_OK : status;
}

static tp_status widen_and_keep(struct work *work) {
    tp_gate_options to = {.size = sizeof to, .width = 2, .keeps = TP_GATE_KEEPS_ON_FAILURE};
    tp_status status = tp_gate_set_with(work->conn, "bank", &to, "ann");
    return status == TP_EXISTS && work->calls > 1 ? TP_OK : status;
}

/* ---- What must be there -------------------------------------------------------------------------------- */

/* Of each task: 1 let through, 0 waits, -1 is behind no gate. */
static void want_places(struct work *work, const int *places, size_t count) {
    int64_t through = 0;
    for (size_t i = 0; i < count; i++) {
        int got = -1;
        for (size_t r = 0; r < work->now.count && r < SNAPSHOT_ROWS; r++) {
            const struct snapshot_row *row = &work->now.rows[r];
            if (strcmp(row->pool, "behind") == 0 && strcmp(row->id, work->ids[i]) == 0) got = row->number;
        }
        if (got != places[i]) wrong("task %zu has place %d, not %d", i, got, places[i]);
        through += places[i] == 1;
        if (places[i] < 0) continue;
        int64_t waits =
            sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending WHERE id = '%s' AND due_at = %" PRId64,
                       work->ids[i], TP_TIME_MAX);
        if (snapshot_count(&work->now, "pending", work->ids[i], "")) want_number(waits, places[i] == 0);
    }
    want_number(sql_number(pool.eye, "SELECT SUM(let_through) FROM tp_gate"), through);
}
#define want_these(work, ...)                                                                                \
    want_places((work), (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static void is_behind(struct work *work) {
    are_pending(work);
    want_these(work, 1);
}

static void are_behind(struct work *work) {
    are_pending(work);
    want_these(work, 1, 1, 0);
}

static void next_is_through(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_these(work, -1, 1, 0);
}

static void it_blocks(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_these(work, 1, 0, 0);
}

static void it_passes(struct work *work) {
    want_task(work, 0, "failed", "failed", 1);
    want_these(work, -1, 1, 0);
}

static void it_is_the_last(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_these(work, 0, 1, 0);
}

static void nothing_is_behind(struct work *work) {
    want_all(work, "finished", "skipped", 0);
    want_these(work, -1, -1, -1);
}

static void two_are_through(struct work *work) {
    want_these(work, 1, 1, 0);
}

static void two_are_mended(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_these(work, -1, 1, 0);
}

static void gate_is_there(struct work *work) {
    want_number(snapshot_count(&work->now, "gate", "", "bank"), 1);
    want_acts(work, "gate-set", 1);
}

static void gate_is_gone(struct work *work) {
    want_number(snapshot_count(&work->now, "gate", "", "bank"), 0);
}

static void three_are_seen(struct work *work) {
    nothing_changed(work);
    want_number(work->number, 3);
}

static const struct operation operations[] = {
    {"enqueue behind a key", 0, fresh_of_key, enqueue_fresh, TP_OK, is_behind, there_or_not},
    {"enqueue behind a key, in a transaction", TRAIT_TRANSACTION, fresh_of_key, enqueue_fresh, TP_OK,
     is_behind, there_or_not},
    {"borrowed: enqueue behind a key", TRAIT_BORROWED, fresh_of_key, enqueue_fresh, TP_OK, is_behind,
     there_or_not},
    {"enqueue_many behind keys", 0, fresh_of_keys, enqueue_all_fresh, TP_OK, are_behind},
    {"complete behind a gate", 0, first_claimed, complete, TP_OK, next_is_through},
    {"complete behind a gate, in a transaction", INSIDE, first_claimed, complete, TP_OK, next_is_through},
    {"complete_many behind a gate", 0, first_claimed, complete_many, TP_OK, next_is_through},
    {"complete_many behind a gate, in a transaction", INSIDE, first_claimed, complete_many, TP_OK,
     next_is_through},
    {"give_up behind a gate", 0, first_claimed, give_up, TP_EXHAUSTED, it_blocks},
    {"give_up behind a gate that passes", 0, first_claimed_passing, give_up, TP_EXHAUSTED, it_passes},
    {"retry behind a gate", 0, first_given_up, retry_failed, TP_OK, it_is_the_last},
    {"skip behind a gate", TRAIT_PIECEMEAL, three_behind, skip_pending, TP_OK, nothing_is_behind},
    {"gate_set", 0, NULL, make_gate, TP_OK, gate_is_there},
    {"gate_set, wider", 0, three_behind, widen, TP_OK, two_are_through},
    {"gate_remove", 0, a_gate, remove_again, TP_OK, gate_is_gone},
    {"gate_each", 0, three_behind, look, TP_OK, three_are_seen},
    {"gates_mend", 0, first_left, mend, TP_OK, two_are_mended},
    {"enqueue behind a gate that a pattern makes", 0, fresh_of_tenant, enqueue_fresh, TP_OK, is_behind,
     there_or_not},
    {"gate_set_with", 0, NULL, set_with_again, TP_OK, gate_is_there},
    {"gate_set_with, keeps", 0, three_behind, widen_and_keep, TP_OK, two_are_through},
    {"gates_give_tokens", 0, token_is_back, give_tokens, TP_OK, two_are_mended},
    {"gates_look_for_tokens", 0, a_gate, look_for_tokens, TP_OK, nothing_changed},
};

OPERATION_GROUP(gates, test_faults__a_gate_lets_through_what_it_should_whichever_call_fails, operations);
