/* A handler fails because its transaction was lost: the session was ended, the server chose it as the victim
 * of a deadlock, or the database is read-only by now. That is no failure of the task; but a handler that
 * loses its transaction each time is counted in the end. One failure more would be the last in all tests. */
#include "worker/rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/session.h"

static const tp_retry no_retries = {.size = sizeof(tp_retry), .delays_ms = NULL, .count = 0};

/* With leases, and then with plan hold. */
static void run_with(const char *plan, tp_handler_fn fn) {
    tp_worker_options o = rig_options();
    o.threads = 1; /* pool.eye serves one thread, and a handler uses it */
    o.retry = &no_retries;
    o.plan = plan;
    atomic_store(&rig.runs, 0);
    rig_finish(rig_start(&o, fn));
}

static void run_both(int tasks, tp_handler_fn fn) {
    rig_put(tasks, "x");
    run_with(NULL, fn);
    rig_expect_paid(tasks);
    if (!pool_plan_possible("hold")) return;
    rig_put(tasks, "x");
    run_with("hold", fn);
    rig_expect_paid(2 * tasks);
}

static bool ends_no_session(void) {
    if (engine_ends_sessions()) return false;
    print_message("SKIPPED: there are no sessions that could be ended\n");
    skip();
    return true;
}

/* ---- The session --------------------------------------------------------------------------------------- */

/* Ended in the midst of what the handler does. */
static tp_verdict pay_killed(tp_run *run) {
    tp_conn *conn = NULL;
    if (rig_effect(run, TP_RUN_DONE) != TP_RUN_DONE || tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    session_kill(session_number(conn));
    tp_run_reason(run, "my session is gone");
    return rig_effect(run, TP_RUN_DONE) == TP_RUN_DONE ? TP_RUN_SKIPPED : TP_RUN_FAILED;
}

static tp_verdict pay_killed_at_first(tp_run *run, void *arg) {
    (void)arg;
    return atomic_fetch_add(&rig.runs, 1) == 1 ? pay_killed(run) : rig_effect(run, TP_RUN_DONE);
}

static void test_failover__a_session_that_ends_under_a_handler_is_no_failure(void **state) {
    (void)state;
    if (ends_no_session()) return;
    run_both(3, pay_killed_at_first);
}

static tp_verdict pay_killed_always(tp_run *run, void *arg) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    return pay_killed(run);
}

/* By leases: three calls for one claim; with plan hold one comes before. */
static void test_failover__a_handler_that_ends_its_session_each_time_is_counted(void **state) {
    (void)state;
    if (ends_no_session()) return;
    rig_put(1, "x");
    run_with(NULL, pay_killed_always);
    rig_expect(0, 0, 1);
    expect_number(atomic_load(&rig.runs), 3);
    if (pool_plan_possible("hold")) {
        rig_put(1, "x");
        run_with("hold", pay_killed_always);
        rig_expect(0, 0, 2);
        expect_number(atomic_load(&rig.runs), 4);
    }
    expect_number(rig_effects(), 0);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_failed WHERE handler = '%s' AND failures = 1 AND "
                             "reason <> 'the handler gave no reason'",
                             pool.handler),
                  pool_plan_possible("hold") ? 2 : 1);
}

/* ---- Read-only ----------------------------------------------------------------------------------------- */

/* The session alone that the handler has; a rollback does not undo it. */
static void make_read_only(SQLHDBC dbc) {
    if (pool_on_postgres()) /* all at once, so that the driver is not aware of it */
        (void)sql_raw(dbc, "COMMIT;%s;COMMIT;BEGIN", engine->read_only);
    else if (pool_on_mariadb())
        (void)(sql_raw(dbc, "COMMIT") && sql_raw(dbc, "%s", engine->read_only) &&
               sql_raw(dbc, "%s", engine->begin));
    else
        (void)sql_raw(dbc, "%s", engine->read_only);
}

static tp_verdict pay_read_only_at_first(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    if (atomic_fetch_add(&rig.runs, 1) == 1) make_read_only(tp_conn_dbc(conn));
    return rig_effect(run, TP_RUN_DONE);
}

static void test_failover__a_database_that_became_read_only_is_no_failure(void **state) {
    (void)state;
    if (!engine->read_only) {
        not_tried("a session that becomes read-only");
        return;
    }
    if (pool_on_postgres() && !pool_driver()->tx_probe) skip(); /* such a driver undoes the statement alone */
    run_both(3, pay_read_only_at_first);
}

/* ---- Deadlocks ----------------------------------------------------------------------------------------- */

static struct { char one[40], two[40]; /* rows that nobody claims */ } rows;

static void put_aside(char id[40]) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "nobody";
    must(tp_enqueue(pool.a, &task));
    snprintf(id, 40, "%s", task.id);
}

static bool touch(tp_conn *conn, const char *id) {
    return sql_try(conn, "UPDATE tp_pending SET shard = shard + 1 WHERE id = '%s'", id);
}

static tp_status reach_for_one(tp_conn *conn, void *arg) {
    (void)arg;
    return touch(conn, rows.one) ? TP_OK : TP_CONFLICT;
}

/* The handler has row one and reaches for two, pool.b has two and more to lose, and reaches for one. */
static tp_verdict pay_as_victim(tp_run *run) {
    struct aside aside;
    tp_conn *conn = NULL;
    long session = session_number(pool.b);
    if (tp_run_conn(run, &conn) != TP_OK || tp_begin(pool.b) != TP_OK) return TP_RUN_FAILED;
    for (int i = 0; i < 40; i++)
        (void)sql_try(pool.b, "INSERT INTO tp_fx (task_id, note) VALUES ('b', 'b')");
    bool ready = touch(pool.b, rows.two) && touch(conn, rows.one);
    aside_start(&aside, pool.b, reach_for_one, NULL);
    session_await_blocked(session, &aside);
    bool went_well = touch(conn, rows.two);
    bool won = aside_end(&aside) == TP_OK && tp_rollback(pool.b) == TP_OK;
    tp_run_reason(run, ready && won && !went_well ? "I am the victim" : "there was no deadlock");
    return TP_RUN_FAILED;
}

static tp_verdict pay_as_victim_at_first(tp_run *run, void *arg) {
    (void)arg;
    return atomic_fetch_add(&rig.runs, 1) == 1 ? pay_as_victim(run) : rig_effect(run, TP_RUN_DONE);
}

/* PostgreSQL and Oracle leave the transaction open, so the library cannot tell it from another failed
 * statement. */
static void test_failover__a_transaction_that_a_deadlock_ended_is_no_failure(void **state) {
    (void)state;
    if (!pool_on_mariadb() || pool.user) return;
    if (!pool_driver()->tx_probe) skip(); /* nor can it with this driver */
    put_aside(rows.one);
    put_aside(rows.two);
    run_both(3, pay_as_victim_at_first);
}

static tp_verdict pay_with_a_key(tp_run *run, void *arg) {
    const tp_task *task = tp_run_task(run);
    tp_conn *conn = NULL;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    if (tp_run_conn(run, &conn) != TP_OK || tp_once(conn, task->id, task) != TP_OK) return TP_RUN_FAILED;
    return rig_effect(run, TP_RUN_DONE);
}

static void test_failover__nor_is_a_call_of_the_library_that_met_one(void **state) {
    (void)state;
    size_t aim = faults_add((struct faults_aim){.statement = "once_add",
                                                .skip = 1,
                                                .times = 1,
                                                .fault = TPI_FAULT_NOT_SENT,
                                                .kind = FAULTS_CONFLICT});
    run_both(3, pay_with_a_key);
    expect_number(faults_hits(aim), 1);
}

static const struct tpi_link *keeper; /* who extends first */

/* The keeper's extensions do not get through, nor do further claims: the lease runs out, and the task is
 * another's. */
static bool keeps_or_claims(const struct tpi_link *link, const char *function) {
    if (!link->statement || !faults_executes(link->statement, function)) return false;
    bool extends = strcmp(link->statement, "settle_extend") == 0;
    bool claims = strcmp(link->statement, rig_claim_statement()) == 0 && atomic_load(&rig.runs) > 0;
    if (extends && !keeper) keeper = link;
    return claims || (extends && link == keeper);
}

static tp_verdict lose_claim_and_transaction(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    if (atomic_fetch_add(&rig.runs, 1)) return TP_RUN_DONE;
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
    (void)!rig_steal(tp_run_task(run));
    if (tp_run_conn(run, &conn) == TP_OK) (void)!tp_once(conn, "a key", tp_run_task(run));
    return TP_RUN_FAILED;
}

static void test_failover__is_not_run_again_when_another_has_the_task_by_then(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    o.lease_ms = 1000;
    keeper = NULL;
    rig_put(1, "x");
    faults_add((struct faults_aim){
        .fits = keeps_or_claims, .times = 1000000, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED});
    faults_add((struct faults_aim){
        .statement = "once_add", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_CONFLICT});
    tp_worker *worker = rig_open(&o, lose_claim_and_transaction, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_LOST;
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_LOST), 1);
    rig_expect(1, 0, 0);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

/* ---- The task's own failures --------------------------------------------------------------------------- */

static tp_verdict write_nonsense(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    if (tp_run_conn(run, &conn) != TP_OK || !sql_try(conn, "INSERT INTO tp_fx (task_id) VALUES (NULL)"))
        tp_run_reason(run, "nonsense");
    (void)!tp_once(conn, "a key", tp_run_task(run)); /* PostgreSQL refuses it for what failed before */
    return TP_RUN_FAILED;
}

static void test_failover__a_statement_that_fails_for_its_own_fault_counts_at_once(void **state) {
    (void)state;
    rig_put(1, "x");
    run_with(NULL, write_nonsense);
    rig_expect(0, 0, 1);
    expect_number(atomic_load(&rig.runs), 1);
    if (!pool_plan_possible("hold")) return;
    rig_put(1, "x");
    run_with("hold", write_nonsense);
    rig_expect(0, 0, 2);
    expect_number(atomic_load(&rig.runs), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_failover__a_session_that_ends_under_a_handler_is_no_failure),
        RIG_TEST(test_failover__a_handler_that_ends_its_session_each_time_is_counted),
        RIG_TEST(test_failover__a_database_that_became_read_only_is_no_failure),
        RIG_TEST(test_failover__a_transaction_that_a_deadlock_ended_is_no_failure),
        RIG_TEST(test_failover__nor_is_a_call_of_the_library_that_met_one),
        RIG_TEST(test_failover__is_not_run_again_when_another_has_the_task_by_then),
        RIG_TEST(test_failover__a_statement_that_fails_for_its_own_fault_counts_at_once),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
