/* tp_check finds nothing in a pool that only the library wrote, and each kind of damage where there is one.
 * The damage is done in a transaction that is rolled back, past the tables' own constraints. */
#include "base/uuid.h"
#include "suite.h"

THEME(pool_check, ONCE);

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

TEST(test_check__finds_nothing_in_a_good_pool) {
    struct asked asked = {.name = NULL};
    int bad = 77;
    task_put_many(8, NULL);
    tp_batch *batch = claim(pool.a, 6);
    must(tp_complete(pool.a, tp_batch_task(batch, 0)));
    must(tp_skip(pool.a, tp_batch_task(batch, 1), "no"));
    must(tp_fail(pool.a, tp_batch_task(batch, 2), "no", NULL));
    expect(TP_EXHAUSTED, tp_fail(pool.a, tp_batch_task(batch, 3), "no", &never));
    must(tp_release(pool.a, tp_batch_task(batch, 4), 0));
    must(tp_check(pool.a, see, &asked, &bad));
    expect_number(bad, 0);
    expect_number(asked.findings, 25);
}

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

#define OWNER "01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e"
#define SOON  (LONG_AGO * 9)
#define HERE  .in = "pending", .due_at = SOON
#define DONE  .in = "finished", .due_at = SOON
#define BAD   .in = "failed", .due_at = SOON
static const struct damage {
    const char *check;
    bool wrong;
    struct raw_row row;
} damages[] = {
    {"states", true, {HERE, .state = "done"}},
    {"states", true, {DONE, .state = "pending"}},
    {"states", true, {BAD, .state = "done", .failures = 1}},
    {"owners", true, {HERE, .state = "handling"}},
    {"failures", true, {HERE, .state = "pending", .failures = -1}},
    {"failures", true, {HERE, .state = "failed"}},
    {"failures", true, {BAD, .state = "failed", .failures = 2000000000}},
    {"times", true, {.in = "pending", .state = "pending", .due_at = -5}},
    {"times", true, {.in = "pending", .state = "pending", .due_at = INT64_C(253402300800000)}},
    {"times", true, {DONE, .state = "done", .settled_at = -1}},
    {"order of times", true, {BAD, .state = "failed", .failures = 1, .settled_at = LONG_AGO - 86400001}},
    {"handlers", true, {HERE, .state = "pending", .handler = " "}},
    {"ids", true, {DONE, .state = "done", .id = "17"}},
    {"lapsed leases", false, {.in = "pending", .state = "handling", .owner = OWNER}},
    {"clock", false, {HERE, .state = "pending", .created_at = SOON}},
    {"waiting tasks", false, {.in = "pending", .state = "pending"}},
};

static void insert(const struct damage *damage, const char *id) {
    struct raw_row row = damage->row;
    row.id = id;
    insert_row(pool.a, &row);
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

TEST(test_check__finds_each_damage_and_names_an_example) {
    bool anything = constraints_outside(false);
    for (size_t i = 0; i < LENGTH(damages); i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        if (damages[i].row.id && strcmp(pool.entry, "postgres") == 0)
            continue; /* its ids cannot be anything else */
        if (!anything && strcmp(damages[i].check, "states") == 0) continue;
        if (damages[i].row.id) snprintf(id, sizeof id, "%s", damages[i].row.id);
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
TEST(test_check__finds_numbers_that_are_not_whole) {
    static const struct {
        const char *shard, *priority;
        int found; /* where any value is stored */
    } rows[] = {{"0", "1.5", 1}, {"2.5", "0", 1}, {"0", "'soon'", 1}, {"'all'", "0", 1}, {"-9", "-32768", 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
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

TEST(test_check__finds_a_task_in_two_pools) {
    static const char *const others[] = {"finished", "failed"};
    for (int i = 0; i < 2; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        must(tp_begin(pool.a));
        put_row(pool.a, .id = id, .due_at = SOON);
        put_row(pool.a, .id = id, .in = others[i], .state = i ? "failed" : "done", .failures = 1,
                .due_at = SOON);
        expect_found("one pool", true, 1, id);
        must(tp_rollback(pool.a));
    }
}

TEST(test_check__tells_of_events_and_schedules_that_point_to_nothing) {
    char id[ID], task[ID];
    tpi_uuid_ordered(id);
    tpi_uuid_ordered(task);
    must(tp_begin(pool.a));
    sql_run(pool.a,
            "INSERT INTO tp_history (id, task_id, event, created_at, alert_at) VALUES ('%s', '%s', "
            "'gave-up', 1000, 1000)",
            id, task);
    sql_run(pool.a,
            "INSERT INTO tp_schedule (name, rule, handler, shard, priority, missed, missed_max, alone, "
            "paused, last_task, created_at, modified_at) VALUES ('nightly', 'every 5m', 'pay', 0, 0, 'once', "
            "100, 0, 0, '%s', 1, 1)",
            task);
    expect_found("events", false, 1, task);
    expect_found("alerts", false, 1, task);
    expect_found("schedules", false, 1, "nightly");
    expect_found("last tasks of schedules", false, 1, "nightly");
    must(tp_rollback(pool.a));
}

TEST(test_check__tells_of_schedules_that_nobody_fires) {
    tp_schedule plan = {.size = sizeof plan, .name = "nightly", .rule = "every 5m", .handler = "pay"};
    must(tp_schedule_add(pool.a, &plan));
    expect_found("late schedules", false, 0, "none is late");
    must(tp_test_advance(pool.a, 3600000 + 600000));
    expect_found("late schedules", false, 1, "nightly");
    must(tp_schedule_pause(pool.a, "nightly", 1));
    expect_found("late schedules", false, 0, "none is late");
    must(tp_schedule_remove(pool.a, "nightly"));
}

/* It is right again; what was planned meanwhile waits for the time that it showed. */
TEST(test_check__tells_of_schedules_that_were_planned_while_the_clock_was_ahead) {
    tp_schedule plan = {.size = sizeof plan, .name = "nightly", .rule = "every 5m", .handler = "pay"};
    must(tp_schedule_add(pool.a, &plan));
    expect_found("clock of schedules", false, 0, "none was planned");
    sql_run(pool.eye,
            "UPDATE tp_schedule SET next_at = next_at + %" PRId64 ", modified_at = modified_at + %" PRId64,
            INT64_C(31536000000), INT64_C(31536000000));
    expect_found("clock of schedules", false, 1, "nightly");
    must(tp_schedule_pause(pool.a, "nightly", 1));
    must(tp_schedule_pause(pool.a, "nightly", 0));
    expect_found("clock of schedules", false, 0, "none was planned");
    must(tp_test_advance(pool.a, 360000));
    must(tp_schedule_fire(pool.a, NULL, NULL));
    expect_number(count_of("tp_pending WHERE handler = 'pay'"), 1);
    must(tp_schedule_remove(pool.a, "nightly"));
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = 'pay'");
}
