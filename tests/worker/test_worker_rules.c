/* Rules of the application's own that are checked at the end of a transaction, under plan hold: what a commit
 * refuses for one task's sake is that task's failure, and nobody else's. */
#include "worker/rig.h"

enum { PAYMENTS = 6 };

static tp_env *poolenv; /* the pool's, while the workers have another */

static void needs_rules_at_the_end(void) {
    rig_needs_hold();
    if (pool_on_postgres() || pool_on_sqlite()) return;
    print_message("SKIPPED: this database checks every rule at once\n");
    skip();
}

/* A pool refuses, at the end of the transaction, rows whose biz_key is bad. */
static void refuse_at_the_end(const char *table) {
    if (pool_on_postgres()) {
        sql_run(pool.eye, "CREATE FUNCTION tp_own_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF "
                          "NEW.biz_key = ''bad'' THEN RAISE EXCEPTION ''FOREIGN KEY of none''; END IF; "
                          "RETURN NULL; END'");
        sql_run(pool.eye,
                "CREATE CONSTRAINT TRIGGER tp_own_t AFTER INSERT ON tp_%s DEFERRABLE INITIALLY DEFERRED "
                "FOR EACH ROW EXECUTE FUNCTION tp_own_f()",
                table);
        return;
    }
    char dsn[DSN_MAX];
    sql_run(pool.eye, "CREATE TABLE tp_own_keys (k VARCHAR(9) PRIMARY KEY)");
    sql_run(pool.eye, "CREATE TABLE tp_own_rows (k VARCHAR(9) REFERENCES tp_own_keys (k) DEFERRABLE "
                      "INITIALLY DEFERRED)");
    sql_run(pool.eye,
            "CREATE TRIGGER tp_own_t AFTER INSERT ON tp_%s WHEN NEW.biz_key = 'bad' BEGIN INSERT INTO "
            "tp_own_rows VALUES ('none'); END",
            table);
    dsn_with(pool.dsn, "FKSupport", "1", dsn, sizeof dsn);
    poolenv = pool.env;
    must(tp_env_open(dsn, &pool.env));
}

static void lift_rule(const char *table) {
    (void)(sql_try(pool.eye, "DROP TRIGGER tp_own_t ON tp_%s", table) ||
           sql_try(pool.eye, "DROP TRIGGER tp_own_t"));
    (void)sql_try(pool.eye, "DROP FUNCTION tp_own_f()");
    (void)sql_try(pool.eye, "DROP TABLE tp_own_rows");
    (void)sql_try(pool.eye, "DROP TABLE tp_own_keys");
    if (!poolenv) return;
    tp_env_close(pool.env);
    pool.env = poolenv;
    poolenv = NULL;
}

static bool is_payment(const tp_task *task) {
    return strcmp(task->params, "payment") == 0;
}

/* What is no payment does not ask for the transaction. */
HANDLER(pay_or_not) {
    return is_payment(tp_run_task(run)) ? rig_pay(run, arg) : rig_done(run, arg);
}

/* Three that do not ask let the groups grow, so that the bad one, which is next, is in one with payments. */
static void put_all(const char *of_bad) {
    rig_put_one(.biz_key = "bad", .params = of_bad, .priority = 1);
    for (int i = 0; i < PAYMENTS; i++)
        rig_put_one(.params = "payment", .priority = 2);
    rig_put(3, "quick");
}

static void only_the_bad_one_fails(const char *of_bad) {
    needs_rules_at_the_end();
    put_all(of_bad);
    refuse_at_the_end("finished");
    rig_run_with(0, pay_or_not, .plan = "hold", .threads = 1, .retry = &rig_no_retries);
    lift_rule("finished");
    rig_expect(0, 3 + PAYMENTS, 1, .failures = 1, .effects = PAYMENTS, .gave_up = 1, .retried = 0);
    expect_number(rig_count_where("failed", "biz_key = 'bad' AND reason LIKE '%FOREIGN KEY%'"), 1);
    expect_number(rig_tasks_with_effect(), PAYMENTS);
}

TEST_AS(test_hold__a_payment_that_its_commit_refuses_fails_alone, only_the_bad_one_fails("payment"))
TEST_AS(test_hold__payments_do_not_fail_for_what_was_done_before_them, only_the_bad_one_fails("done"))

/* Its claim moves it to the failed pool, in the transaction in which others are handled. Nothing is lost: it
 * is moved when the rule is gone. */
static void only_a_lapse_is_refused(int payments) {
    needs_rules_at_the_end();
    rig_put_one(.biz_key = "bad", .params = "payment", .max_failures = 1, .priority = -1);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'handling', owner = '00000000-0000-7000-8000-00000000beef', "
            "due_at = 0 WHERE handler = '%s'",
            pool.handler);
    for (int i = 0; i < payments; i++)
        rig_put_one(.params = "payment");
    refuse_at_the_end("failed");
    tp_worker *worker = rig_open_with(pay_or_not, .plan = "hold", .threads = 1, .retry = &rig_no_retries);
    must(tp_worker_start(worker));
    rig_await(TP_EVENT_DONE, payments);
    assert_true(watch_wait_error(&rig.watch, "FOREIGN KEY"));
    rig_stop(worker);
    lift_rule("failed");
    /* The first is run again; then the connection knows which task to leave alone. */
    rig_expect(1, payments, 0, .runs = payments ? payments + 1 : 0, .effects = payments, .gave_up = 0);
    expect_number(rig_tasks_with_effect(), payments);
    rig_run_with(0, pay_or_not, .plan = "hold", .retry = &rig_no_retries);
    rig_expect(0, payments, 1, .effects = payments);
    expect_number(rig_failures("finished"), 0);
}

TEST_AS(test_hold__payments_do_not_fail_for_a_lapse_that_the_failed_pool_refuses,
        only_a_lapse_is_refused(PAYMENTS))
TEST_AS(test_hold__a_lapse_that_the_failed_pool_refuses_at_the_end_is_told, only_a_lapse_is_refused(0))
