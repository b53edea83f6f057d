/* tp_check finds nothing in a pool that only the library wrote, and each kind of damage where there is one.
 * The damage is done in a transaction that is rolled back, past the tables' own constraints. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "suite.h"

/* What one call of tp_check said of one check. */
struct asked {
    const char *name;
    int ok, findings;
    int64_t count;
    char text[400], remedy[400];
};

static void see(const tp_finding *finding, void *arg) {
    struct asked *asked = arg;
    asked->findings++;
    if (finding->ok && *finding->remedy) fail_msg("%s is good and has a remedy", finding->name);
    if (!finding->ok && !*finding->remedy) fail_msg("%s is bad and has no remedy", finding->name);
    if (!asked->name) {
        if (!finding->ok || finding->count) print_message("%s: %s\n", finding->name, finding->text);
        return;
    }
    if (strcmp(finding->name, asked->name) != 0) return;
    asked->ok = finding->ok;
    asked->count = finding->count;
    snprintf(asked->text, sizeof asked->text, "%s", finding->text);
    snprintf(asked->remedy, sizeof asked->remedy, "%s", finding->remedy);
}

static void empty_tables(void) {
    static const char *const tables[] = {"pending", "finished", "failed", "history", "schedule"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_run(pool.eye, "DELETE FROM tp_%s", tables[i]);
}

/* ---- A good pool --------------------------------------------------------------------------------------- */

static void test_check__finds_nothing_in_a_good_pool(void **state) {
    static const tp_retry never = {.size = sizeof never};
    struct asked asked = {.name = NULL};
    int bad = 77;
    (void)state;
    empty_tables();
    task_put_many(8, NULL);
    tp_batch *batch = claim(pool.a, 6);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_skip(pool.a, tp_batch_task(batch, 1), "no"));
    must(tp_fail(pool.a, tp_batch_task(batch, 2), "no", NULL));
    expect(TP_EXHAUSTED, tp_fail(pool.a, tp_batch_task(batch, 3), "no", &never));
    must(tp_release(pool.a, tp_batch_task(batch, 4), 0));
    must(tp_check(pool.a, see, &asked, &bad));
    expect_number(bad, 0);
    expect_number(asked.findings, 17);
    tp_batch_free(batch);
}

/* ---- Damage -------------------------------------------------------------------------------------------- */

/* Where that would commit. False: it cannot be done. */
static bool constraints_outside(bool on) {
    static const char *const pools[] = {"pending", "finished", "failed"};
    bool done = true;
    for (int i = 0; i < 3; i++) {
        if (pool_on_mysql())
            sql_run(pool.eye, "ALTER TABLE tp_%s ALTER CHECK tp_%s_state %s ENFORCED", pools[i], pools[i],
                    on ? "" : "NOT");
        if (pool_on_oracle())
            done &= sql_try(pool.eye, "ALTER TABLE tp_%s %s CONSTRAINT tp_%s_state", pools[i],
                            on ? "ENABLE" : "DISABLE", pools[i]);
    }
    if (!done) not_tried("rows that a constraint refuses: it cannot be disabled");
    return done;
}

static void constraints(bool on) {
    if (pool_on_sqlite()) sql_run(pool.a, "PRAGMA ignore_check_constraints = %d", !on);
    if (pool_on_mariadb() && !pool_on_mysql())
        sql_run(pool.a, "SET SESSION check_constraint_checks = %d", on);
    if (!pool_on_postgres() || on) return; /* there the rollback brings them back */
    sql_run(pool.a, "ALTER TABLE tp_pending DROP CONSTRAINT tp_pending_state");
    sql_run(pool.a, "ALTER TABLE tp_finished DROP CONSTRAINT tp_finished_state");
    sql_run(pool.a, "ALTER TABLE tp_failed DROP CONSTRAINT tp_failed_state");
}

struct damage {
    const char *check;
    bool wrong;
    const char *in, *state;
    int failures;
    int64_t due_at, created_at, settled_at;
    const char *owner, *handler, *id;
};

#define OWNER "'01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e'"
#define SOON  (LONG_AGO * 9)
static const struct damage damages[] = {
    {"states", true, "pending", "done", 0, SOON, LONG_AGO, 0, "NULL", "pay", NULL},
    {"states", true, "finished", "pending", 0, SOON, LONG_AGO, LONG_AGO, "NULL", "pay", NULL},
    {"states", true, "failed", "done", 1, SOON, LONG_AGO, LONG_AGO, "NULL", "pay", NULL},
    {"owners", true, "pending", "handling", 0, SOON, LONG_AGO, 0, "NULL", "pay", NULL},
    {"failures", true, "pending", "pending", -1, SOON, LONG_AGO, 0, "NULL", "pay", NULL},
    {"failures", true, "pending", "failed", 0, SOON, LONG_AGO, 0, "NULL", "pay", NULL},
    {"failures", true, "failed", "failed", 2000000000, SOON, LONG_AGO, LONG_AGO, "NULL", "pay", NULL},
    {"times", true, "pending", "pending", 0, -5, LONG_AGO, 0, "NULL", "pay", NULL},
    {"times", true, "pending", "pending", 0, INT64_C(253402300800000), LONG_AGO, 0, "NULL", "pay", NULL},
    {"times", true, "finished", "done", 0, SOON, LONG_AGO, -1, "NULL", "pay", NULL},
    {"order of times", true, "failed", "failed", 1, SOON, LONG_AGO, LONG_AGO - 86400001, "NULL", "pay", NULL},
    {"handlers", true, "pending", "pending", 0, SOON, LONG_AGO, 0, "NULL", " ", NULL},
    {"ids", true, "finished", "done", 0, SOON, LONG_AGO, LONG_AGO, "NULL", "pay", "17"},
    {"lapsed leases", false, "pending", "handling", 0, LONG_AGO, LONG_AGO, 0, OWNER, "pay", NULL},
    {"clock", false, "pending", "pending", 0, SOON, SOON, 0, "NULL", "pay", NULL},
    {"waiting tasks", false, "pending", "pending", 0, LONG_AGO, LONG_AGO, 0, "NULL", "pay", NULL},
};

static void insert(const struct damage *damage, const char *id) {
    bool settled = strcmp(damage->in, "pending") != 0;
    char when[40] = "";
    if (settled) snprintf(when, sizeof when, ", %" PRId64, damage->settled_at);
    sql_run(pool.a,
            "INSERT INTO tp_%s (id, handler, shard, priority, state, failures, owner, due_at, created_at, "
            "modified_at%s) "
            "VALUES ('%s', '%s', 0, 0, '%s', %d, %s, %" PRId64 ", %" PRId64 ", %" PRId64 "%s)",
            damage->in, settled ? ", settled_at" : "", id, damage->handler, damage->state, damage->failures,
            damage->owner, damage->due_at, damage->created_at, damage->created_at, when);
}

#define expect_found(name, wrong, count, example)                                                            \
    check_found((name), (wrong), (count), (example), __FILE__, __LINE__)
static void check_found(const char *name, bool wrong, int64_t count, const char *example, const char *file,
                        int line) {
    struct asked asked = {.name = name};
    int bad = 77;
    must(tp_check(pool.a, see, &asked, &bad));
    bool good =
        asked.count == count && asked.ok == !wrong && (bad > 0) == wrong && strstr(asked.text, example);
    if (good) return;
    print_error("%s: ok %d, %d bad, %" PRId64 " rows, '%s'\n", name, asked.ok, bad, asked.count, asked.text);
    _fail(file, line);
}

static void test_check__finds_each_damage_and_names_an_example(void **state) {
    (void)state;
    empty_tables();
    bool anything = constraints_outside(false);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        if (damages[i].id && strcmp(pool.entry, "postgres") == 0)
            continue; /* its ids cannot be anything else */
        if (!anything && strcmp(damages[i].check, "states") == 0) continue;
        if (damages[i].id) snprintf(id, sizeof id, "%s", damages[i].id);
        must(tp_begin(pool.a));
        constraints(false);
        insert(&damages[i], id);
        expect_found(damages[i].check, damages[i].wrong, 1, id);
        constraints(true);
        must(tp_rollback(pool.a));
    }
    if (anything) (void)constraints_outside(true);
}

/* Claims do not see such a task. Databases with types round the number when it comes in. */
static void test_check__finds_numbers_that_are_not_whole(void **state) {
    static const struct {
        const char *shard, *priority;
        int found; /* where any value is stored */
    } rows[] = {{"0", "1.5", 1}, {"2.5", "0", 1}, {"0", "'soon'", 1}, {"'all'", "0", 1}, {"-9", "-32768", 0}};
    (void)state;
    empty_tables();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char id[ID];
        bool text = strchr(rows[i].priority, '\'') || strchr(rows[i].shard, '\'');
        bool stays = pool_on_sqlite() && rows[i].found;
        if (text && !pool_on_sqlite()) continue; /* refused */
        tpi_uuid_ordered(id);
        must(tp_begin(pool.a));
        sql_run(pool.a,
                "INSERT INTO tp_pending (id, handler, shard, priority, state, failures, due_at, created_at, "
                "modified_at) VALUES ('%s', 'pay', %s, %s, 'pending', 0, %" PRId64 ", 1000, 1000)",
                id, rows[i].shard, rows[i].priority, SOON);
        expect_found("numbers", stays, stays, stays ? id : "whole number");
        must(tp_rollback(pool.a));
    }
}

static void test_check__finds_a_task_in_two_pools(void **state) {
    static const char *const others[] = {"finished", "failed"};
    (void)state;
    empty_tables();
    for (int i = 0; i < 2; i++) {
        char id[ID];
        struct damage here = {.in = "pending",
                              .state = "pending",
                              .due_at = SOON,
                              .created_at = LONG_AGO,
                              .owner = "NULL",
                              .handler = "pay"};
        struct damage there = here;
        there.in = others[i];
        there.state = i ? "failed" : "done";
        there.failures = 1;
        there.settled_at = LONG_AGO;
        tpi_uuid_ordered(id);
        must(tp_begin(pool.a));
        insert(&here, id);
        insert(&there, id);
        expect_found("one pool", true, 1, id);
        must(tp_rollback(pool.a));
    }
}

static void test_check__tells_of_events_and_schedules_that_point_to_nothing(void **state) {
    char id[ID], task[ID];
    (void)state;
    empty_tables();
    tpi_uuid_ordered(id);
    tpi_uuid_ordered(task);
    must(tp_begin(pool.a));
    sql_run(pool.a,
            "INSERT INTO tp_history (id, task_id, event, created_at, alert_at) VALUES ('%s', '%s', "
            "'gave-up', 1000, 1000)",
            id, task);
    sql_run(
        pool.a,
        "INSERT INTO tp_schedule (name, rule, handler, shard, priority, missed, missed_max, alone, paused, "
        "last_task, "
        "created_at, modified_at) VALUES ('nightly', 'every 5m', 'pay', 0, 0, 'once', 100, 0, 0, '%s', 1, 1)",
        task);
    expect_found("events", false, 1, task);
    expect_found("alerts", false, 1, task);
    expect_found("schedules", false, 1, "nightly");
    expect_found("last tasks of schedules", false, 1, "nightly");
    must(tp_rollback(pool.a));
}

static void test_check__tells_of_schedules_that_nobody_fires(void **state) {
    tp_schedule plan = TP_SCHEDULE_INIT;
    (void)state;
    empty_tables();
    plan.name = "nightly";
    plan.rule = "every 5m";
    plan.handler = "pay";
    must(tp_schedule_add(pool.a, &plan));
    expect_found("late schedules", false, 0, "none is late");
    must(tp_test_advance(pool.a, 3600000 + 600000));
    expect_found("late schedules", false, 1, "nightly");
    must(tp_schedule_pause(pool.a, "nightly", 1));
    expect_found("late schedules", false, 0, "none is late");
    must(tp_schedule_remove(pool.a, "nightly"));
}

THEME(pool_check, false, cmocka_unit_test(test_check__finds_nothing_in_a_good_pool),
      cmocka_unit_test(test_check__finds_each_damage_and_names_an_example),
      cmocka_unit_test(test_check__finds_numbers_that_are_not_whole),
      cmocka_unit_test(test_check__finds_a_task_in_two_pools),
      cmocka_unit_test(test_check__tells_of_events_and_schedules_that_point_to_nothing),
      cmocka_unit_test(test_check__tells_of_schedules_that_nobody_fires));
