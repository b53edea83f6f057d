/* See gates_given.h. */
#include "conformance/gates_given.h"

tp_new_task behind(const char *gate) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = pool.handler;
    task.gate = gate;
    return task;
}

/* count tasks behind the gate, or in the order of the key. */
void put_behind(const char *gate, const char *key, size_t count, char (*ids)[ID]) {
    for (size_t i = 0; i < count; i++) {
        tp_new_task task = behind(gate);
        task.order_key = key;
        must(tp_enqueue(pool.a, &task));
        memcpy(ids[i], task.id, ID);
    }
}

int64_t through(const char *gate) {
    return count_of("tp_gate_task WHERE gate = '%s' AND passed = 1", gate);
}

static int64_t due_of(const char *gate) {
    return count_of("tp_pending WHERE gate = '%s' AND due_at <> %" PRId64, gate, TPI_GATE_WAITS);
}

/* So many are let through, by the gate's own tasks and by theirs. */
void expect_through(const char *gate, int64_t count) {
    expect_number(through(gate), count);
    expect_number(count_of("tp_gate WHERE name = '%s' AND let_through <> %" PRId64, gate, count), 0);
    expect_number(due_of(gate), count);
}

/* Where the clock is carried on, what is due now may be so a second later only. */
void make_due(void) {
    if (!pool_on_generic()) return;
    sql_run(pool.eye,
            "UPDATE tp_pending SET due_at = due_at - %" PRId64
            " WHERE gate IS NOT NULL AND state <> 'handling' AND due_at BETWEEN %" PRId64 " AND %" PRId64,
            LONG_AGO / 2, LONG_AGO / 2 * 3, 2 * LONG_AGO);
}

const tp_task *take_this(tp_conn *conn, const char *id) {
    make_due();
    return claim_this(conn, id);
}

void expect_waits(const char *id) {
    expect_row(id, "pending", "pending", 0);
    expect_number(row_of(id).due_at, TPI_GATE_WAITS);
}

struct seen {
    int gates;
    tp_gate last;
};

static void see_gate(const tp_gate *gate, void *arg) {
    struct seen *seen = arg;
    seen->gates++;
    seen->last = *gate;
}

static struct seen see_gates(const char *name) {
    struct seen seen = {0};
    must(tp_gate_each(pool.b, name, see_gate, &seen));
    return seen;
}

tp_gate gate_now(const char *name) {
    struct seen seen = see_gates(name);
    expect_number(seen.gates, 1);
    return seen.last;
}

void expect_gates(int count) {
    expect_number(see_gates(NULL).gates, count);
}

void fail_for_good(const char *id) {
    expect(TP_EXHAUSTED, tp_fail(pool.a, take_this(pool.a, id), "no account", &never));
    expect_row(id, "failed", "failed", 1);
}

void operate(tp_action action, const char *poolname) {
    tp_selection selection = selection_with(.pool = poolname);
    must(tp_operate(pool.a, action, &selection, NULL));
}
