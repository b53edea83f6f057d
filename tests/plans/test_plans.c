/* test_plans: no statement that runs while tasks are enqueued, claimed and settled reads all of a pool, or
 * sorts all that is due. It reads the plans that the database makes for the statements of the dialect, in
 * pools of some thousand rows. Which statement may do what: hot.h. How a plan is read: explain.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/measure/counts.h"
#include "bench/measure/fill.h"
#include "ops/conn.h"
#include "plans/explain.h"
#include "plans/hot.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum way { KEY = 1, FEW = 2, PAGE = 4, ALL = 8, GROUPS = 16 };

static const struct rule {
    int way; /* of enum way; 0: not thought about */
    const char *reason;
} rules[TPI_STATEMENT_COUNT] = {
#define HOT_RULE(name, way, reason) [TPI_S_##name] = {way, reason},
    HOT_LIST(HOT_RULE)
#undef HOT_RULE
};

/* ---- A pool with something in it ----------------------------------------------------------------------- */

enum { PENDING = 5000, SETTLED = 4000, HELD = 100, FEW_TASKS = 300, GROUPS_THERE = 500 };
static const char *const handlers[] = {"h1", "h2", "h3"};
static const char *const shards[] = {"1", "2", "0"};
static const char *ids[HELD];

static void keep_id(const struct sql_row *row, void *arg) {
    size_t *count = arg;
    if (*count < HELD) ids[(*count)++] = strdup(row->cell[0]);
}

/* A claim whose rows the parameters name. */
static const char token[] = "10000000-0000-4000-8000-000000000001";

/* All open tasks are in one group, and there are many others, of which nearly all are over. */
static void fill_groups(void) {
    must(tp_begin(pool.eye));
    for (int i = 0; i < GROUPS_THERE; i++)
        sql_run(pool.eye,
                "INSERT INTO tp_group (name, state, rule, cancelled, seen_id, created_at, modified_at, "
                "ended_at) VALUES "
                "('g%d', '%s', 'done', 0, '00000000-0000-0000-0000-000000000000', 1, 1, %d)",
                i, i ? "over" : "closed", i);
    sql_run(pool.eye,
            "INSERT INTO tp_group_task (group_name, waits, task_id) SELECT 'g0', 0, id FROM tp_pending");
    sql_run(pool.eye,
            "INSERT INTO tp_group_task (group_name, waits, task_id) SELECT 'g1', 0, id FROM tp_finished");
    must(tp_commit(pool.eye));
    if (pool_on_postgres()) sql_run(pool.eye, "ANALYZE tp_group, tp_group_task");
}

/* Plans follow from what the tests have done, not from when the server looked. */
static void look_only_when_asked(void) {
    if (!pool_on_postgres()) return;
    sql_run(pool.eye,
            "DO $$ DECLARE it text; BEGIN FOR it IN SELECT relname FROM pg_class WHERE relkind = 'r' AND "
            "relname LIKE 'tp_%%' LOOP EXECUTE 'ALTER TABLE ' || quote_ident(it) || ' SET "
            "(autovacuum_enabled = off)'; END LOOP; END $$");
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM pg_class WHERE relname = 'tp_gate_task' AND "
                                       "reloptions::text LIKE '%%autovacuum_enabled=off%%'"),
                  1);
}

static int fill(void **state) {
    size_t count = 0;
    (void)state;
    look_only_when_asked();
    fill_begin(SCENE_handlers);
    fill_burden(SCENE_handlers, PENDING);
    fill_burden(SCENE_finished, SETTLED);
    sql_raw_each(tp_conn_dbc(pool.eye), keep_id, &count, "SELECT id FROM tp_pending WHERE handler = 'h1'");
    sure(count == HELD, "%zu ids", count);
    for (size_t i = 0; i < HELD; i++)
        sql_run(pool.eye, "UPDATE tp_pending SET state = 'handling', owner = '%s' WHERE id = '%s'", token,
                ids[i]);
    for (int i = 0; i < 2; i++) {
        const char *from = i ? "pending" : "finished";
        sql_run(pool.eye,
                "INSERT INTO tp_gate_task (task_id, gate, place, passed) SELECT id, 'g', 1, 0 FROM tp_%s",
                from);
        sql_run(
            pool.eye,
            "INSERT INTO tp_gate (name, width, on_failure, next_place, let_through, created_at, modified_at) "
            "SELECT CAST(id AS CHAR(36)), 1, 'block', 0, 0, 0, 0 FROM tp_%s",
            from);
    }
    fill_groups();
    counts_settle(true);
    explain_open();
    return 0;
}

/* ---- Parameters ---------------------------------------------------------------------------------------- */

static bool has_list(enum tpi_statement statement, enum tpi_param param) {
    const struct tpi_sql *sql = &pool.a->store.dialect->sql[statement];
    for (size_t i = 0; i < sql->param_count; i++)
        if (sql->params[i] == param) return true;
    return false;
}

static void fill_in_numbers(struct tpi_args *args) {
    for (int i = 0; i < TPI_PARAM_COUNT; i++)
        if (tpi_param_kind((enum tpi_param)i) == TPI_NUMBER) tpi_args_number(args, (enum tpi_param)i, 100);
    tpi_args_number(args, TPI_P_limit, 20);
    tpi_args_number(args, TPI_P_priority, 0);
    tpi_args_number(args, TPI_P_ahead, -100);
    tpi_args_number(args, TPI_P_before, INT64_C(1000000000500));
    tpi_args_number(args, TPI_P_at, INT64_C(1000000000500));
    tpi_args_number(args, TPI_P_until, INT64_C(1000000000500));
    tpi_args_number(args, TPI_P_due_at, INT64_C(1000000000001));
    tpi_args_number(args, TPI_P_modified_at, INT64_C(1000000000000));
    tpi_args_number(args, TPI_P_settled_since, INT64_C(1000000000000) + SETTLED - FEW_TASKS / 3);
}

static void fill_in_texts(struct tpi_args *args) {
    static const enum tpi_param uuids[] = {TPI_P_id, TPI_P_history_id, TPI_P_last_task, TPI_P_after_id};
    for (size_t i = 0; i < sizeof uuids / sizeof uuids[0]; i++)
        tpi_args_text(args, uuids[i], ids[0]);
    tpi_args_text(args, TPI_P_until_id, ids[HELD - 1]); /* of a part of the pool */
    tpi_args_text(args, TPI_P_token, token);
    tpi_args_text(args, TPI_P_biz_key, "order 7");
    tpi_args_text(args, TPI_P_dedup_key, "order 7");
    tpi_args_text(args, TPI_P_once_key, "key7");
    tpi_args_text(args, TPI_P_name, "schema");
    tpi_args_text(args, TPI_P_document, "[]");
}

/* What is in the pool that the statement is about. */
static void fill_in_for(enum tpi_statement statement, struct tpi_args *args) {
    const char *name = tpi_statement_name(statement), *state = "handling";
    bool open = !strstr(name, "finished") && !strstr(name, "failed") && !strstr(name, "history");
    if (strstr(name, "finished")) state = "done";
    if (strstr(name, "failed")) state = "failed";
    tpi_args_text(args, TPI_P_state, state);
    tpi_args_text(args, TPI_P_handler, open ? "h1" : "mine");
}

/* ---- The test ------------------------------------------------------------------------------------------ */

/* Gives the number of complaints. */
static int judge(const struct seen *seen, enum tpi_statement statement, const char *how) {
    const char *name = tpi_statement_name(statement);
    int way = rules[statement].way;
    int bad = 0;
    if (*seen->scan && ++bad) print_error("%s, %s, reads all of a pool: %s\n", name, how, seen->scan);
    if (*seen->index && !(way & PAGE) && ++bad)
        print_error("%s, %s, reads all of an index: %s\n", name, how, seen->index);
    if (*seen->sort && !(way & FEW && pool_on_sqlite()) && !(way & GROUPS) && ++bad)
        print_error("%s, %s, sorts: %s\n", name, how, seen->sort);
    return bad;
}

static int look_at(enum tpi_statement statement, struct tpi_args *args, const char *how) {
    struct seen seen;
    char any[100];
    int bad = 0;
    if (explain(statement, args, &seen)) bad += judge(&seen, statement, how);
    snprintf(any, sizeof any, "%s, planned for any parameters", how);
    if (explain_any(statement, args, &seen)) bad += judge(&seen, statement, any);
    return bad;
}

/* A lane is of one shard. */
static bool of_a_lane(enum tpi_statement statement) {
    return has_list(statement, TPI_P_priority) || statement == TPI_S_claim_lanes;
}

/* Which shards a statement is asked for. */
enum asked { ALL_SHARDS, SOME_SHARDS, SHARD_0, ASKED };

static void fill_in_shards(enum tpi_statement statement, enum asked asked, struct tpi_args *args) {
    size_t last = asked == SHARD_0 ? 2 : 1, first = of_a_lane(statement) ? last : last - 1;
    tpi_args_text(args, TPI_P_shard, shards[last]);
    if (asked != ALL_SHARDS) tpi_args_numbers(args, shards + first, last - first + 1);
}

/* With one and with many in its lists, where it has any. */
static int look_with_lists(enum tpi_statement statement) {
    bool by_handler = has_list(statement, TPI_P_handlers);
    bool by_id = has_list(statement, TPI_P_ids) || has_list(statement, TPI_P_ids_document) ||
                 has_list(statement, TPI_P_dedup_keys);
    bool by_shard = has_list(statement, TPI_P_shards);
    const char *const *list = by_handler ? handlers : ids;
    size_t most = by_handler ? 3 : HELD;
    int bad = 0;
    for (int form = 0; form < 2 * ASKED; form++) {
        struct tpi_args args = {0};
        char how[60];
        size_t many = form % 2 ? most : 1;
        enum asked asked = (enum asked)(form / 2);
        if ((many > 1 && !by_handler && !by_id) || (asked != ALL_SHARDS && !by_shard)) continue;
        fill_in_numbers(&args);
        fill_in_texts(&args);
        fill_in_for(statement, &args);
        if (by_handler || by_id) tpi_args_list(&args, list, many);
        fill_in_shards(statement, asked, &args);
        snprintf(how, sizeof how, "list of %zu, %zu shards%s", by_handler || by_id ? many : 0,
                 args.number_count, asked == SHARD_0 ? " with 0" : "");
        bad += look_at(statement, &args, how);
    }
    return bad;
}

static void expect_no_whole_pool(bool for_operators) {
    int bad = 0;
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++) {
        const char *name = tpi_statement_name((enum tpi_statement)i);
        sure(rules[i].way, "%s is not in hot.h", name);
        sure(*rules[i].reason || !(rules[i].way & (ALL | FEW)), "%s has no reason in hot.h", name);
        bool operators = strncmp(name, "operate_", 8) == 0 || strncmp(name, "request_", 8) == 0;
        bool left_out = !for_operators && operators;
        if (!(rules[i].way & ALL) && !left_out) bad += look_with_lists((enum tpi_statement)i);
    }
    expect_number(bad, 0);
}

static void test_plans__no_hot_statement_reads_a_whole_pool(void **state) {
    (void)state;
    expect_no_whole_pool(true);
}

/* ---- Shards -------------------------------------------------------------------------------------------- */

static void expect_index(enum tpi_statement statement, enum asked asked, bool by_shard) {
    struct tpi_args args = {0};
    struct seen seen, any;
    fill_in_numbers(&args);
    fill_in_texts(&args);
    fill_in_for(statement, &args);
    fill_in_shards(statement, asked, &args);
    assert_true(explain(statement, &args, &seen));
    if (!explain_any(statement, &args, &any)) any = seen;
    sure(seen.by_shard == by_shard && any.by_shard == by_shard,
         "%s: its index of shards is read %d, planned for any parameters %d", tpi_statement_name(statement),
         seen.by_shard, any.by_shard);
}

/* Where the index of shards leaves shard 0 out, before there are tasks in it and when there are many. */
static void test_plans__claims_by_shard_read_the_index_of_shards(void **state) {
    static const char where[] = "WHERE%shard <> 0%";
    (void)state;
    if (pool_on_postgres())
        expect_number(
            sql_number(
                pool.eye,
                "SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'tp_pending_shd' AND indexdef LIKE '%%%s'",
                where),
            1);
    if (pool_on_sqlite())
        expect_number(
            sql_number(pool.eye,
                       "SELECT COUNT(*) FROM sqlite_master WHERE name = 'tp_pending_shd' AND sql LIKE '%%%s'",
                       where),
            1);
    for (int filled = 0; filled < 2; filled++) {
        if (filled) fill_burden(SCENE_shards, PENDING);
        counts_settle(true);
        for (int i = 0; i < TPI_STATEMENT_COUNT; i++) {
            const char *text = pool.a->store.dialect->sql[i].text;
            enum tpi_statement statement = (enum tpi_statement)i;
            if (!text || !strchr(text, TPI_SQL_BUT_0)) continue;
            expect_index(statement, SOME_SHARDS, true);
            expect_index(statement, SHARD_0, false);
            expect_index(statement, ALL_SHARDS, false);
        }
    }
}

/* ---- More urgent tasks --------------------------------------------------------------------------------- */

/* They come last in a table that is all due tasks before: to read it until one is met looks cheap, and is
 * not. */
static void test_plans__nor_one_that_looks_for_more_urgent_tasks(void **state) {
    (void)state;
    if (!pool_on_postgres()) skip();
    sql_run(pool.eye,
            "INSERT INTO tp_pending (handler, params, priority, due_at) "
            "SELECT 'h1', '', CASE WHEN n > %d THEN -1 ELSE 0 END, n FROM generate_series(1, %d) n",
            3 * PENDING, 4 * PENDING);
    sql_run(pool.eye, "ANALYZE tp_pending");
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++)
        if (has_list((enum tpi_statement)i, TPI_P_ahead))
            expect_number(look_with_lists((enum tpi_statement)i), 0);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE params = ''");
}

/* ---- Old snapshots ------------------------------------------------------------------------------------- */

enum { DEAD = 5000, STEP = 100, LITTLE = 15 * STEP };

/* Another session's snapshot keeps what is deleted in table and indexes; what other tests deleted may be kept
 * by others', so the handlers are this one's. Ends the pool that was. */
static void leave_dead(int priority) {
    sql_run(
        pool.eye,
        "INSERT INTO tp_pending (handler, params, due_at, priority) SELECT 'd' || 1 + n %% 2, '', n, %d FROM "
        "generate_series(1, %d) n",
        priority, 2 * DEAD);
    sql_run(pool.b, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    sql_number(pool.b, "SELECT COUNT(*) FROM tp_pending");
    sql_run(pool.eye, "DELETE FROM tp_pending");
    sql_run(pool.eye, "VACUUM tp_pending");
}

/* The planner is told of an empty pool, for which any way seems as good as any other. */
static void test_plans__nor_one_that_seems_empty_and_is_not(void **state) {
    (void)state;
    if (!pool_on_postgres()) skip();
    leave_dead(0);
    expect_number(sql_number(pool.eye, "SELECT reltuples FROM pg_class WHERE relname = 'tp_pending'"), 0);
    expect_number(sql_number(pool.eye, "SELECT relpages > 50 FROM pg_class WHERE relname = 'tp_pending'"), 1);
    expect_no_whole_pool(false);
    sql_run(pool.b, "ROLLBACK");
}

/* Where the last claim began is known for a second: on a busy machine it would be over by the next. */
static int64_t stands_at_ms; /* 0: the clock goes */

WRAPPED(int64_t, tpi_clock_mono_ms, void) {
    return stands_at_ms ? stands_at_ms : __real_tpi_clock_mono_ms();
}

/* Rows that one claim reads; on the one connection whose statements are not explained. */
static int64_t claim_step(const char *plan, const char *handler) {
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    const tp_task *tasks[STEP];
    struct counts before = counts_read(pool.eye, false);
    request.handlers = &handler;
    request.handler_count = 1;
    request.limit = STEP;
    request.plan = plan;
    if (pool_plan_holds(plan)) must(tp_begin(pool.eye));
    must(tp_claim(pool.eye, &request, &batch));
    for (size_t i = 0; i < STEP; i++)
        tasks[i] = tp_batch_task(batch, i);
    must(tp_complete_many(pool.eye, tasks, STEP, NULL));
    if (pool_plan_holds(plan)) must(tp_commit(pool.eye));
    tp_batch_free(batch);
    return counts_read(pool.eye, false).rows - before.rows;
}

/* The least that a claim reads after the first one. */
static int64_t rows_among_dead(const char *plan, const char *handler) {
    enum { CLAIMS = 6 };
    int64_t least = INT64_MAX;
    sql_run(
        pool.eye,
        "INSERT INTO tp_pending (handler, params, due_at) SELECT '%s', '', 20000 FROM generate_series(1, %d)",
        handler, CLAIMS * STEP);
    stands_at_ms = tpi_clock_mono_ms();
    int64_t first = claim_step(plan, handler);
    for (int i = 1; i < CLAIMS; i++) {
        int64_t rows = claim_step(plan, handler);
        if (rows < least) least = rows;
    }
    stands_at_ms = 0;
    sure(first > DEAD, "plan %s: the first claim meets nothing dead", plan);
    return least;
}

static void test_plans__claims_do_not_walk_over_dead_tasks_each_time(void **state) {
    (void)state;
    if (!pool_on_postgres()) skip();
    leave_dead(0);
    assert_in_range(rows_among_dead("skip", "d1"), 1, LITTLE - 1);
    assert_in_range(rows_among_dead("hold", "d2"), 1, LITTLE - 1);
    sql_run(pool.b, "ROLLBACK");
}

/* The limit: a claim has to see whether something more urgent came. */
static void test_plans__but_over_dead_tasks_that_were_more_urgent_they_do(void **state) {
    (void)state;
    if (!pool_on_postgres()) skip();
    leave_dead(-1);
    assert_true(rows_among_dead("skip", "d1") > DEAD);
    assert_true(rows_among_dead("hold", "d2") > DEAD);
    sql_run(pool.b, "ROLLBACK");
}

/* ---- Pools of any size --------------------------------------------------------------------------------- */

/* What picks the tasks of one lane. */
static bool picks(enum tpi_statement statement) {
    return pool.a->store.dialect->sql[statement].text && has_list(statement, TPI_P_priority) &&
           has_list(statement, TPI_P_limit) && (tpi_statement_caps(statement) & pool.a->store.caps);
}

/* Where rows are locked as they are read, to read all of a small pool is in the way of other claims; what
 * locks nothing may do so, unless it names its index. */
static int expect_due_index(enum tpi_statement statement, long long size, bool measured) {
    struct tpi_args args = {0};
    struct seen seen;
    char how[60];
    fill_in_numbers(&args);
    fill_in_texts(&args);
    tpi_args_text(&args, TPI_P_handler, "mine");
    snprintf(how, sizeof how, "%lld tasks%s", size, measured ? ", measured" : "");
    assert_true(explain(statement, &args, &seen));
    const char *text = pool.a->store.dialect->sql[statement].text;
    bool locks = strstr(text, "FOR UPDATE") != NULL;
    bool free = !locks && !strstr(text, "FORCE INDEX") && size <= FEW_TASKS;
    bool by_due = seen.by_due || !pool_on_mariadb() || free;
    if (!by_due) print_error("%s, %s, not by due time\n", tpi_statement_name(statement), how);
    return !by_due + (locks || size > FEW_TASKS ? judge(&seen, statement, how) : 0);
}

static int look_at_size(long long size, bool measured) {
    int bad = 0, picking = 0;
    if (measured) counts_settle(true);
    for (int i = 0; i < TPI_STATEMENT_COUNT; i++) {
        if (!picks((enum tpi_statement)i)) continue;
        bad += expect_due_index((enum tpi_statement)i, size, measured);
        picking++;
    }
    assert_true(picking > 0);
    return bad;
}

/* Beside as many of other handlers. PostgreSQL and SQLite lock no row that they pass over, and may read small
 * pools as they like. */
static void test_plans__a_claim_goes_by_its_index_in_pools_of_any_size(void **state) {
    static const long long sizes[] = {10, 60, 300, 10000};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] <= FEW_TASKS && !pool_on_mariadb()) continue;
        fill_begin(SCENE_plain);
        fill_burden(SCENE_plain, sizes[i]);
        fill_burden(SCENE_handlers, sizes[i]);
        if (pool_on_mariadb()) bad += look_at_size(sizes[i], false);
        bad += look_at_size(sizes[i], true);
    }
    expect_number(bad, 0);
}

/* Both sides of the judgement, on statements that are known to read all and to sort. */
static void test_plans__a_statement_that_reads_all_is_seen(void **state) {
    struct tpi_args args = {0};
    struct seen seen;
    (void)state;
    fill_in_numbers(&args);
    assert_true(explain(TPI_S_stats_finished, &args, &seen));
    assert_true(*seen.scan || *seen.index);
    assert_true(explain(TPI_S_check_waiting, &args, &seen));
    assert_true(*seen.scan || *seen.index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans__no_hot_statement_reads_a_whole_pool),
        cmocka_unit_test(test_plans__a_statement_that_reads_all_is_seen),
        cmocka_unit_test(test_plans__claims_by_shard_read_the_index_of_shards),
        cmocka_unit_test(test_plans__nor_one_that_looks_for_more_urgent_tasks),
        cmocka_unit_test(test_plans__nor_one_that_seems_empty_and_is_not),
        cmocka_unit_test(test_plans__claims_do_not_walk_over_dead_tasks_each_time),
        cmocka_unit_test(test_plans__but_over_dead_tasks_that_were_more_urgent_they_do),
        cmocka_unit_test(test_plans__a_claim_goes_by_its_index_in_pools_of_any_size),
    };
    pool_open();
    counts_open();
    int failed = cmocka_run_group_tests_name("plans", tests, fill, NULL);
    pool_close();
    return failed;
}
