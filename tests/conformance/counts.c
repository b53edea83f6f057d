/* What a task of a large group costs, in counts, which are the same on every machine: a statement, a round
 * trip or a call to the driver for each task must not come in unnoticed. */
#include "ops/for_workers.h"
#include "suite.h"

THEME(counts, ONCE);

/* A list of so many is written out to as many places. */
enum { GROUP = 256, SINGLES = 16 };

/* Besides what each task costs: statements and round trips of a group, and calls to the driver. */
enum { GROUP_STATEMENTS = 20, GROUP_CALLS = 100 };

/* Calls to the driver a task: one to fetch a claimed row, one for each place where a list of ids or a row is
 * written out. Plan cas, which the generic dialect claims by, takes each task by a statement of its own. */
static const struct cost {
    const char *entry; /* and all that begin like it */
    int enqueue, lease, hold;
    int lease_statements;
    int one_statements, one_trips; /* of a held task that is a transaction by itself */
    int gated_put, gated_settle;   /* statements, behind a gate where others wait */
} costs[] = {
    {"sqlite", 0, 1, 1, 0, 5, 0, 7, 17},   {"postgres", 0, 1, 1, 0, 3, 3, 5, 12},
    {"mariadb", 0, 3, 3, 0, 4, 4, 7, 17},  {"mysql", 0, 3, 3, 0, 4, 4, 7, 17},
    {"oramode", 10, 6, 5, 0, 6, 6, 7, 17}, {"generic", 11, 15, 0, 1, 0, 0, 7, 17},
};

static const struct cost *cost_here(void) {
    for (size_t i = 0; i < LENGTH(costs); i++)
        if (strncmp(pool.entry, costs[i].entry, strlen(costs[i].entry)) == 0) return &costs[i];
    return NULL;
}

static void expect_at_most(uint64_t got, uint64_t most, const char *what) {
    if (got <= most) return;
    print_error("%llu %s, where %llu are the most\n", (unsigned long long)got, what,
                (unsigned long long)most);
    fail();
}

/* Twice: what is prepared once is not what a task costs. */
static void expect_counts(void (*phase)(void), int calls, int statements) {
    phase();
    tp_counters before = *tp_conn_counters(pool.a);
    phase();
    const tp_counters *now = tp_conn_counters(pool.a);
    uint64_t most = (uint64_t)statements * GROUP + GROUP_STATEMENTS;
    expect_at_most(now->statements - before.statements, most, "statements");
    expect_at_most(now->round_trips - before.round_trips, most, "round trips");
    /* Whose driver is known, and does not give each column by a call of its own. */
    if (cost_here() && pool_driver()->binds_columns)
        expect_at_most(now->odbc_calls - before.odbc_calls, (uint64_t)calls * GROUP + GROUP_CALLS,
                       "calls to the driver");
}

static void enqueue_group(void) {
    tp_new_task *tasks = memory(GROUP, sizeof *tasks);
    for (size_t i = 0; i < GROUP; i++)
        tasks[i] = task_new("{\"order\":4711}");
    must(tp_enqueue_many(pool.a, tasks, GROUP, NULL));
}

static void claim_and_settle(const char *plan) {
    const tp_task *tasks[GROUP];
    tp_batch *batch = claim_with(pool.a, .limit = GROUP, .plan = plan);
    expect_count(batch, GROUP);
    for (size_t i = 0; i < GROUP; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_complete_many(pool.a, tasks, GROUP, NULL));
}

static void lease(void) {
    claim_and_settle(NULL);
}

static void hold(void) {
    must(tp_begin(pool.a));
    claim_and_settle("hold");
    must(tp_commit(pool.a));
}

/* Claimed, settled and committed by itself; the next transaction has begun then. */
static tp_counters hold_one(tp_conn *conn) {
    tp_counters before = *tp_conn_counters(conn), cost;
    must(tp_complete(conn, tp_batch_task(claim_with(conn, .limit = 1, .plan = "hold"), 0)));
    tp_status status = tpi_commit_begin(conn);
    if (status == TP_NONE) status = tp_begin(conn);
    must(status);
    cost = *tp_conn_counters(conn);
    cost.statements -= before.statements;
    cost.round_trips -= before.round_trips;
    return cost;
}

TEST(test_counts__of_an_enqueue_of_many_do_not_grow_with_the_tasks) {
    expect_counts(enqueue_group, cost_here() ? cost_here()->enqueue : 0, 0);
}

TEST(test_counts__of_a_claim_and_its_settles_are_those_known) {
    const struct cost *cost = cost_here();
    task_put_many(2 * GROUP, NULL);
    expect_counts(lease, cost ? cost->lease : 0, cost ? cost->lease_statements : 0);
}

TEST(test_counts__of_held_tasks_are_those_known) {
    if (!pool_plan_possible("hold")) skip();
    task_put_many(2 * GROUP, NULL);
    expect_counts(hold, cost_here() ? cost_here()->hold : 0, 0);
}

/* What is asked now and then, which lanes there are, is not in the cheapest of them. A connection that no
 * application has a hand in is not asked whether its transaction is sound. */
TEST(test_counts__of_a_held_task_by_itself_are_those_known) {
    tp_conn *conn = NULL;
    tp_counters least = {.statements = UINT64_MAX, .round_trips = UINT64_MAX};
    if (!pool_plan_possible("hold") || !cost_here()) skip();
    task_put_many(SINGLES, NULL);
    must(tp_conn_open(pool.env, &conn));
    must(tp_begin(conn));
    for (size_t i = 0; i < SINGLES; i++) {
        tp_counters now = hold_one(conn);
        if (now.statements < least.statements) least.statements = now.statements;
        if (now.round_trips < least.round_trips) least.round_trips = now.round_trips;
    }
    tp_conn_close(conn);
    uint64_t probe = pool_driver()->commit_may_lie && !pool_driver()->tx_probe; /* of what is not known */
    expect_at_most(least.statements, (uint64_t)cost_here()->one_statements + probe, "statements");
    expect_at_most(least.round_trips, (uint64_t)cost_here()->one_trips + probe, "round trips");
}

static uint64_t statements_of(tp_status (*call)(tp_conn *conn, void *arg), void *arg, uint64_t least) {
    uint64_t before = tp_conn_counters(pool.a)->statements, cost;
    must(call(pool.a, arg));
    cost = tp_conn_counters(pool.a)->statements - before;
    return cost < least ? cost : least;
}

static tp_status put_gated(tp_conn *conn, void *arg) {
    tp_new_task task = task_with(.order_key = "account 7");
    (void)arg;
    return tp_enqueue(conn, &task);
}

static tp_status complete_gated(tp_conn *conn, void *arg) {
    return tp_complete(conn, arg);
}

TEST(test_counts__of_a_task_behind_a_gate_are_those_known) {
    uint64_t put = UINT64_MAX, settle = UINT64_MAX;
    if (!cost_here()) skip();
    must(put_gated(pool.a, NULL));
    for (size_t i = 0; i < SINGLES; i++) {
        put = statements_of(put_gated, NULL, put);
        tp_batch *batch = claim_with(pool.a, .limit = 1);
        settle = statements_of(complete_gated, (void *)tp_batch_task(batch, 0), settle);
    }
    expect_at_most(put, (uint64_t)cost_here()->gated_put, "statements of an enqueue");
    expect_at_most(settle, (uint64_t)cost_here()->gated_settle, "statements of a settle");
}
