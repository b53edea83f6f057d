/* Rules of the application's own on the pool's other tables: what they refuse is an error with words there
 * too, never "there", "not there", "another was quicker" or "ask again", and stops nothing else. */
#include "base/uuid.h"
#include "conformance/rules.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "support/engine.h"

THEME(owner_services, ONCE);

/* A foreign key knows only what was there. */
static bool is_foreign_key(const struct rule *rule) {
    return strncmp(rule->name, "foreign key", 11) == 0;
}

static bool takes_others(const struct rule *rule) {
    return !rule->refuses_all && !is_foreign_key(rule);
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static tp_worker_row new_presence(const char *name) {
    tp_worker_row presence = {.name = name, .handlers = "x", .plan = "skip"};
    tpi_uuid_random(presence.id);
    return presence;
}

static int64_t workers_of(const tp_worker_row *presence) {
    return count_of("tp_worker WHERE id = '%s'", presence->id);
}

static void tell_against(const struct rule *rule) {
    tp_worker_row refused = new_presence("refused"), fine = new_presence("fine");
    rule_make(rule, "worker", "name", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tpi_worker_heartbeat(pool.a, &refused, NULL));
    expect_number(workers_of(&refused), 0);
    if (takes_others(rule)) must(tpi_worker_heartbeat(pool.a, &fine, NULL));
    rule_lift();
    if (rule->seeded) sql_run(pool.eye, "DELETE FROM tp_worker");
    must(tpi_worker_heartbeat(pool.a, &refused, NULL));
    expect_number(workers_of(&refused), 1);
}

static void tell_again_against(const struct rule *rule) {
    tp_worker_row refused = new_presence("refused"), fine = new_presence("fine");
    must(tpi_worker_heartbeat(pool.a, &refused, NULL));
    rule_make_over(rule, "worker", "name", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tpi_worker_heartbeat(pool.a, &refused, NULL));
    expect_number(workers_of(&refused), 1);
    must(tpi_worker_heartbeat(pool.a, &fine, NULL));
    rule_lift();
    must(tpi_worker_heartbeat(pool.a, &refused, NULL));
}

TEST(test_owner_services__a_workers_row_that_is_refused_is_said_so) {
    rule_for_each(&rules_on_insert, tell_against);
    rule_for_each(&rules_on_update, tell_again_against);
}

/* ---- Alerts -------------------------------------------------------------------------------------------- */

static struct { int refused, fine; } heard;

static int hear(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)arg;
    heard.refused += strcmp(text, "refused") == 0;
    heard.fine += strcmp(text, "fine") == 0;
    return 0;
}

static void give_one_up(const char *reason) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, reason));
}

/* The refused one is the older. */
TEST_AGAINST(rules_on_update,
             test_owner_services__an_alert_that_is_refused_is_said_so_and_holds_up_no_other) {
    size_t told = 77;
    heard.refused = heard.fine = 0;
    give_one_up("refused");
    give_one_up("fine");
    rule_make_over(rule, "history", "reason", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_alert_each(pool.a, pool.handlers, 1, 0, hear, NULL, &told));
    expect_number(told, 77);
    expect_number(heard.refused, 0);
    expect_number(heard.fine, 1);
    rule_lift();
    must(tp_alert_each(pool.a, pool.handlers, 1, 0, hear, NULL, &told));
    expect_number(told, 1);
    expect_number(heard.refused, 1);
    expect_number(heard.fine, 1);
}

/* ---- Purging ------------------------------------------------------------------------------------------- */

/* Columns that each of the tables has: when it came, and one to refuse by. */
static const struct purged {
    const char *pool, *age, *column;
} purged_pools[] = {
    {"finished", "settled_at", "biz_key"},
    {"failed", "settled_at", "biz_key"},
    {"once", "created_at", "once_key"},
    {"history", "created_at", "reason"},
};
static const struct purged *purged;

static void put_old(const char *what) {
    char id[ID];
    tpi_uuid_ordered(id);
    if (strcmp(purged->pool, "once") == 0)
        sql_run(pool.eye,
                "INSERT INTO tp_once (once_key, handler, owner, created_at) VALUES ('%s', '%s', '%s', 1)",
                what, pool.handler, id);
    else if (strcmp(purged->pool, "history") == 0)
        sql_run(pool.eye,
                "INSERT INTO tp_history (id, handler, event, reason, created_at) VALUES ('%s', '%s', 'x', "
                "'%s', 1)",
                id, pool.handler, what);
    else
        sql_run(pool.eye,
                "INSERT INTO tp_%s (id, handler, biz_key, shard, priority, state, failures, due_at, "
                "created_at, modified_at, settled_at) VALUES ('%s', '%s', '%s', 0, 0, '%s', 1, 1, 1, 1, 1)",
                purged->pool, id, pool.handler, what,
                strcmp(purged->pool, "failed") == 0 ? "failed" : "done");
}

static int64_t rows_left(void) {
    return count_of("tp_%s WHERE %s = 1", purged->pool, purged->age);
}

static tp_selection old_ones(size_t limit) {
    return selection_with(.pool = purged->pool, .older_ms = 1000, .limit = limit);
}

/* Only tasks can be named by their ids. */
static bool one_is_known(void) {
    return strcmp(purged->age, "settled_at") == 0;
}

/* What is kept without a word is passed over; what fails takes its piece back. */
static void purge_against(const struct rule *rule) {
    tp_selection all = old_ones(0), one = old_ones(1);
    tp_operated result = TP_OPERATED_INIT;
    sql_run(pool.eye, "DELETE FROM tp_%s", purged->pool);
    put_old("refused");
    put_old("a");
    put_old("b");
    rule_make_over(rule, purged->pool, purged->column, "refused");
    for (int i = 0; i < 2; i++) {
        tp_status status = tp_operate(pool.a, TP_ACTION_PURGE, &all, &result);
        if (rule->silent && status == TP_OK && !rule->refuses_all) {
            expect_number(result.done, i ? 0 : 2);
            expect_number(result.passed, 1);
            expect_number(rows_left(), 1);
        } else if (rule->silent && status == TP_OK) {
            expect_number(result.done, 0);
            expect_number(result.passed, 3);
            expect_number(rows_left(), 3);
        } else {
            expect_refused(status);
            expect_number(rows_left(), 3);
        }
    }
    /* Nothing but what is refused is the oldest: there is no getting on. */
    sql_run(pool.eye, "DELETE FROM tp_%s WHERE %s <> 'refused'", purged->pool, purged->column);
    int64_t left = rows_left();
    expect_refused(tp_operate(pool.a, TP_ACTION_PURGE, &one, &result));
    expect_number(rows_left(), left);
    if (rule->silent && one_is_known()) {
        struct sql_row row;
        const char *id = row.cell[0];
        assert_true(sql_row(pool.eye, &row, "SELECT id FROM tp_%s WHERE biz_key = 'refused'", purged->pool));
        one = old_ones(0);
        one.ids = &id;
        one.id_count = 1;
        result = (tp_operated)TP_OPERATED_INIT;
        tp_status status = tp_operate(pool.a, TP_ACTION_PURGE, &one, &result);
        if (status == TP_OK) expect_number(result.passed, 1);
        if (status != TP_OK) expect_refused(status);
    }
    rule_lift();
    must(tp_operate(pool.a, TP_ACTION_PURGE, &all, &result));
    expect_number(rows_left(), 0);
}

TEST(test_owner_services__a_purge_says_what_a_rule_keeps) {
    for (size_t i = 0; i < LENGTH(purged_pools); i++) {
        purged = &purged_pools[i];
        print_message(" %s\n", purged->pool);
        rule_for_each(&rules_on_delete, purge_against);
    }
}

/* ---- How long rows are kept ---------------------------------------------------------------------------- */

TEST_AGAINST(rules_on_delete, test_owner_services__what_stands_in_the_way_of_cleaning_is_said) {
    size_t deleted = 0;
    purged = &purged_pools[0];
    must(tp_retention_set(pool.a, "finished", 1000, "tester"));
    put_old("refused");
    rule_make_over(rule, "finished", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_retention_apply(pool.a, 1, &deleted));
    expect_number(rows_left(), 1);
    rule_lift();
    must(tp_retention_apply(pool.a, 1, &deleted));
    expect_number(rows_left(), 0);
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'keep_finished'");
}

static void keep_against(const struct rule *rule) {
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'keep_failed'");
    if (rule->seeded || rule->refuses_all)
        return; /* what it would have to compare with is the schema's row */
    rule_make_over(rule, "meta", "name", "keep_failed");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_retention_set(pool.a, "failed", 5000, "tester"));
    rule_lift();
    must(tp_retention_set(pool.a, "failed", 5000, "tester"));
}

static void keep_otherwise_against(const struct rule *rule) {
    int64_t retention_ms = 0;
    must(tp_retention_set(pool.a, "failed", 5000, "tester"));
    rule_make_over(rule, "meta", "name", "keep_failed");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_retention_set(pool.a, "failed", 6000, "tester"));
    must(tp_retention_get(pool.a, "failed", &retention_ms));
    expect_number(retention_ms, 5000);
    rule_lift();
    must(tp_retention_set(pool.a, "failed", 6000, "tester"));
    sql_run(pool.eye, "DELETE FROM tp_meta WHERE name = 'keep_failed'");
}

TEST(test_owner_services__a_setting_that_is_refused_is_not_said_to_be_set) {
    rule_for_each(&rules_on_insert, keep_against);
    rule_for_each(&rules_on_update, keep_otherwise_against);
}

/* ---- Schedules ----------------------------------------------------------------------------------------- */

static tp_status add_schedule(const char *name, const char *biz_key) {
    tp_schedule schedule = hourly(name, biz_key);
    return tp_schedule_add(pool.a, &schedule);
}

static void add_schedule_against(const struct rule *rule) {
    rule_make(rule, "schedule", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(add_schedule("one", "refused"));
    if (takes_others(rule)) must(add_schedule("two", "fine"));
    rule_lift();
    if (rule->seeded) sql_run(pool.eye, "DELETE FROM tp_schedule");
    must(add_schedule("one", "refused"));
    expect(TP_EXISTS, add_schedule("one", "refused"));
}

static void remove_schedule_against(const struct rule *rule) {
    must(add_schedule("one", "refused"));
    if (is_foreign_key(rule)) return; /* its key is no id */
    rule_make_over(rule, "schedule", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_schedule_remove(pool.a, "one"));
    rule_lift();
    must(tp_schedule_remove(pool.a, "one"));
    expect(TP_NONE, tp_schedule_remove(pool.a, "one"));
}

static void change_schedule_against(const struct rule *rule) {
    size_t fired = 0;
    int64_t wait = 0;
    must(add_schedule("one", "refused"));
    must(add_schedule("two", "fine"));
    rule_make_over(rule, "schedule", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_schedule_pause(pool.a, "one", 1));
    rule_lift();
    must(tp_test_advance(pool.eye, 3610 * 1000));
    rule_make_over(rule, "schedule", "biz_key", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_schedule_fire(pool.a, &fired, &wait));
    expect_number(rows_in("pending", pool.handler), 1);
    rule_lift();
    must(tp_schedule_fire(pool.a, &fired, &wait));
    expect_number(rows_in("pending", pool.handler), 2);
}

TEST(test_owner_services__a_change_to_a_schedule_that_is_refused_is_said_so) {
    rule_for_each(&rules_on_insert, add_schedule_against);
    rule_for_each(&rules_on_update, change_schedule_against);
    rule_for_each(&rules_on_delete, remove_schedule_against);
}

/* ---- Pauses -------------------------------------------------------------------------------------------- */

static void pause_against(const struct rule *rule) {
    rule_make(rule, "pause", "who", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_pause(pool.a, pool.handler, "refused", "why"));
    if (takes_others(rule)) must(tp_pause(pool.a, "another", "fine", "why"));
    rule_lift();
    if (rule->seeded) sql_run(pool.eye, "DELETE FROM tp_pause");
    must(tp_pause(pool.a, pool.handler, "refused", "why"));
}

static void resume_against(const struct rule *rule) {
    if (is_foreign_key(rule)) return;
    must(tp_pause(pool.a, pool.handler, "refused", "why"));
    rule_make_over(rule, "pause", "who", "refused");
    for (int i = 0; i < 2; i++)
        expect_refused(tp_resume(pool.a, pool.handler, "tester"));
    rule_lift();
    must(tp_resume(pool.a, pool.handler, "tester"));
    expect(TP_NONE, tp_resume(pool.a, pool.handler, "tester"));
}

TEST(test_owner_services__a_pause_or_its_end_that_is_refused_is_said_so) {
    rule_for_each(&rules_on_insert, pause_against);
    rule_for_each(&rules_on_delete, resume_against);
}

/* ---- What workers did ---------------------------------------------------------------------------------- */

enum { HOUR_MS = 60 * 60 * 1000, MINUTES = 2 };

#define GIVEN_WORKER "0190ffff-2222-7000-8000-000000000001"

/* Begins an hour three days ago, in which a worker did something in two minutes; an hour later, too. */
static int64_t write_hours(void) {
    int64_t now = 0;
    sql_run(pool.eye, "DELETE FROM tp_activity");
    must(tp_now(pool.a, &now));
    int64_t hour = now / HOUR_MS * HOUR_MS - INT64_C(72) * HOUR_MS;
    for (int i = 0; i < 2 * MINUTES; i++) {
        tp_activity row = {.handler = pool.handler, .done = i + 1};
        row.since = hour + i / MINUTES * HOUR_MS + i % MINUTES * 60000;
        snprintf(row.worker, sizeof row.worker, "%s", GIVEN_WORKER);
        must(tpi_activity_write(pool.a, &row, 1));
    }
    return hour;
}

static void expect_minutes(int64_t hour, int64_t rows, int64_t done) {
    expect_number(count_of("tp_activity WHERE minute < %" PRId64, hour + HOUR_MS), rows);
    expect_number(sql_number(pool.eye, "SELECT SUM(done) FROM tp_activity"), done);
}

/* The sum of the first hour is refused; of the second it is made. */
TEST_AGAINST(rules_on_insert, test_owner_services__a_refused_roll_up_leaves_the_minutes_and_goes_on) {
    char sum[24];
    int64_t since[TPI_ROLLUP_LEVELS] = {0}, hour = write_hours();
    if (rule->seeded) return; /* a row in the way of this one is of another that rolled up */
    snprintf(sum, sizeof sum, "%" PRId64, hour + 60);
    rule_make_over(rule, "activity", pool_on_sqlite() ? "minute || ''" : "minute",
                   sum); /* compared as text */
    expect_refused(tpi_activity_roll_up(pool.a, since));
    expect_minutes(hour, MINUTES, 10);
    if (takes_others(rule)) must(tpi_activity_roll_up(pool.a, since));
    if (takes_others(rule)) expect(TP_NONE, tpi_activity_roll_up(pool.a, since));
    rule_lift();
    memset(since, 0, sizeof since);
    must(tpi_activity_roll_up(pool.a, since));
    expect_minutes(hour, 1, 10);
}

TEST(test_owner_services__on_a_session_that_only_reads_a_roll_up_waits_for_one_that_writes) {
    int64_t since[TPI_ROLLUP_LEVELS] = {0}, hour = write_hours();
    if (!engine->read_only) not_tried("a session that becomes read-only");
    if (!engine->read_only) return;
    tp_conn *guest = guest_session();
    (void)sql_raw(guest->store.link.dbc, "%s", engine->read_only);
    expect_may_retry(tpi_activity_roll_up(guest, since));
    expect_minutes(hour, MINUTES, 10);
    expect_number(since[0] + since[1], 0);
    must(tp_conn_reopen(guest));
    must(tpi_activity_roll_up(guest, since));
    expect_minutes(hour, 1, 10);
}
