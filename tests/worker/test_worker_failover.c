/* A handler fails because its transaction was lost: the session was ended, the server chose it as the victim
 * of a deadlock, or the database is read-only by now. That is no failure of the task; but a handler that
 * loses its transaction each time is counted in the end. One failure more would be the last in all tests. */
#include "worker/rig.h"

#include "support/session.h"

/* With leases, and then with plan hold. */
static void run_with(const char *plan, int tasks, tp_handler_fn fn) {
    atomic_store(&rig.runs, 0);
    rig_run_with(tasks, fn, .plan = plan, .retry = &rig_no_retries,
                 .threads = 1 /* pool.eye serves one thread, and a handler uses it */);
}

static void run_both(int tasks, tp_handler_fn fn) {
    run_with(NULL, tasks, fn);
    rig_expect_paid(tasks);
    if (!pool_plan_possible("hold")) return;
    run_with("hold", tasks, fn);
    rig_expect_paid(2 * tasks);
}

/* Ended in the midst of what the handler does. */
static tp_verdict pay_killed(tp_run *run) {
    tp_conn *conn = NULL;
    if (rig_effect(run, TP_RUN_DONE) != TP_RUN_DONE || tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    session_kill(session_number(conn));
    tp_run_reason(run, "my session is gone");
    return rig_effect(run, TP_RUN_DONE) == TP_RUN_DONE ? TP_RUN_SKIPPED : TP_RUN_FAILED;
}

HANDLER(pay_killed_at_first) {
    return atomic_fetch_add(&rig.runs, 1) == 1 ? pay_killed(run) : rig_effect(run, TP_RUN_DONE);
}

TEST(test_failover__a_session_that_ends_under_a_handler_is_no_failure) {
    rig_needs_sessions_that_can_be_ended();
    run_both(3, pay_killed_at_first);
}

HANDLER(pay_killed_always) {
    atomic_fetch_add(&rig.runs, 1);
    return pay_killed(run);
}

/* By leases: three calls for one claim; with plan hold one comes before. */
TEST(test_failover__a_handler_that_ends_its_session_each_time_is_counted) {
    rig_needs_sessions_that_can_be_ended();
    run_with(NULL, 1, pay_killed_always);
    rig_expect(0, 0, 1, .runs = 3);
    if (pool_plan_possible("hold")) {
        run_with("hold", 1, pay_killed_always);
        rig_expect(0, 0, 2, .runs = 4);
    }
    rig_expect(.effects = 0);
    expect_number(rig_count_where("failed", "failures = 1 AND reason <> 'the handler gave no reason'"),
                  pool_plan_possible("hold") ? 2 : 1);
}

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

HANDLER(pay_read_only_at_first) {
    tp_conn *conn = NULL;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    if (atomic_fetch_add(&rig.runs, 1) == 1) make_read_only(tp_conn_dbc(conn));
    return rig_effect(run, TP_RUN_DONE);
}

TEST(test_failover__a_database_that_became_read_only_is_no_failure) {
    if (!engine->read_only) {
        not_tried("a session that becomes read-only");
        return;
    }
    if (pool_on_postgres() && !pool_driver()->tx_probe) skip(); /* such a driver undoes the statement alone */
    run_both(3, pay_read_only_at_first);
}

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

HANDLER(pay_as_victim_at_first) {
    return atomic_fetch_add(&rig.runs, 1) == 1 ? pay_as_victim(run) : rig_effect(run, TP_RUN_DONE);
}

/* PostgreSQL and Oracle leave the transaction open, so the library cannot tell it from another failed
 * statement. */
TEST(test_failover__a_transaction_that_a_deadlock_ended_is_no_failure) {
    if (!pool_on_mariadb() || pool.user) return;
    if (!pool_driver()->tx_probe) skip(); /* nor can it with this driver */
    put_aside(rows.one);
    put_aside(rows.two);
    run_both(3, pay_as_victim_at_first);
}

HANDLER(pay_with_a_key) {
    const tp_task *task = tp_run_task(run);
    tp_conn *conn = NULL;
    atomic_fetch_add(&rig.runs, 1);
    if (tp_run_conn(run, &conn) != TP_OK || tp_once(conn, task->id, task) != TP_OK) return TP_RUN_FAILED;
    return rig_effect(run, TP_RUN_DONE);
}

TEST(test_failover__nor_is_a_call_of_the_library_that_met_one) {
    size_t aim = faults_refuse("once_add", FAULTS_CONFLICT, 1, 1);
    run_both(3, pay_with_a_key);
    expect_number(faults_hits(aim), 1);
}

static const struct tpi_link *renewer; /* who extends first */

/* The lease renewer's extensions do not get through, nor do further claims: to this process the lease runs
 * out, and the task is another's. */
MEANS(extends_or_claims) {
    if (!link->statement || !faults_executes(link->statement, function)) return false;
    bool extends = strcmp(link->statement, "settle_extend") == 0;
    bool claims = strcmp(link->statement, rig_claim_statement()) == 0 && atomic_load(&rig.runs) > 0;
    if (extends && !renewer) renewer = link;
    return claims || (extends && link == renewer);
}

HANDLER(lose_claim_and_transaction) {
    tp_conn *conn = NULL;
    if (atomic_fetch_add(&rig.runs, 1)) return TP_RUN_DONE;
    rig_let_leases_run_out(1);
    (void)!rig_steal(tp_run_task(run));
    if (tp_run_conn(run, &conn) == TP_OK) (void)!tp_once(conn, "a key", tp_run_task(run));
    return TP_RUN_FAILED;
}

TEST(test_failover__is_not_run_again_when_another_has_the_task_by_then) {
    renewer = NULL;
    faults_refuse_at((struct faults_aim){.fits = extends_or_claims}, FAULTS_LOCKED, 0, 1000000);
    faults_refuse("once_add", FAULTS_CONFLICT, 0, 1);
    rig_finish_at(TP_EVENT_LOST, 1, rig_open(lose_claim_and_transaction));
    rig_expect(1, 0, 0, .runs = 1, .lost = 1);
    rig_delete_pending();
}

HANDLER(write_nonsense) {
    tp_conn *conn = NULL;
    atomic_fetch_add(&rig.runs, 1);
    if (tp_run_conn(run, &conn) != TP_OK || !sql_try(conn, "INSERT INTO tp_fx (task_id) VALUES (NULL)"))
        tp_run_reason(run, "nonsense");
    (void)!tp_once(conn, "a key", tp_run_task(run)); /* PostgreSQL refuses it for what failed before */
    return TP_RUN_FAILED;
}

TEST(test_failover__a_statement_that_fails_for_its_own_fault_counts_at_once) {
    run_with(NULL, 1, write_nonsense);
    rig_expect(0, 0, 1, .runs = 1);
    if (!pool_plan_possible("hold")) return;
    run_with("hold", 1, write_nonsense);
    rig_expect(0, 0, 2, .runs = 1);
}
