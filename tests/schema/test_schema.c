/* Installing the schema, on every database: what it makes, again, at once, half made, of another version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ops/doctor.h"
#include "schema/shape.h"
#include "store/render.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/pool.h"
#include "support/sql.h"

static int install(void **state) {
    (void)state;
    pool_install();
    return 0;
}

static int drop_tables(void **state) {
    (void)state;
    pool_drop_tables();
    return 0;
}

#define TEST_WITH_TABLES(name)    TEST_BETWEEN(name, install, drop_tables)
#define TEST_WITHOUT_TABLES(name) TEST_BETWEEN(name, NULL, drop_tables)

static void assert_told(const char *part) {
    expect_text(part);
    assert_null(strchr(tp_last_error()->text, '\n'));
}

static void check_shape(void) {
    shape_check_columns();
    shape_check_indexes();
}

/* what may go on with WHERE. */
static int64_t rows(const char *what) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM %s", what);
}

/* ---- What is made -------------------------------------------------------------------------------------- */

TEST_WITH_TABLES(test_schema__columns_are_those_of_the_list) {
    shape_check_columns();
}

TEST_WITH_TABLES(test_schema__indexes_are_those_of_the_list) {
    shape_check_indexes();
}

/* Whatever a generic database does not do by itself. */
TEST_WITH_TABLES(test_schema__not_even_the_owner_changes_the_audit) {
    sql_run(pool.eye, "INSERT INTO tp_audit (seq, act, created_at, action, changed, prev_hash, row_hash) "
                      "VALUES (1, '00000000-0000-4000-8000-0000000000dd', 1, 'x', 0, 'x', 'x')");
    bool kept = !pool_speaks("generic");
    assert_int_equal(sql_try(pool.eye, "UPDATE tp_audit SET action = 'y'"), !kept);
    assert_int_equal(sql_try(pool.eye, "DELETE FROM tp_audit"), !kept);
    assert_int_equal(rows("tp_audit"), kept);
}

static void insert(const char *table, const char *id, const char *state, int failures) {
    bool settled = strcmp(table, "tp_pending") != 0;
    sql_run(
        pool.eye,
        "INSERT INTO %s (id, handler, shard, priority, state, failures, due_at, created_at, modified_at%s) "
        "VALUES ('00000000-0000-4000-8000-00000000000%s', 'points', 0, 0, '%s', %d, 1, 1, 1%s)",
        table, settled ? ", settled_at" : "", id, state, failures, settled ? ", 1" : "");
}

static void assert_shown(const char *id, const char *shown_pool, const char *shown_state) {
    struct sql_row row;
    assert_true(sql_row(pool.eye, &row,
                        "SELECT pool, state FROM tp_tasks WHERE id = '00000000-0000-4000-8000-00000000000%s'",
                        id));
    assert_string_equal(row.cell[0], shown_pool);
    assert_string_equal(row.cell[1], shown_state);
}

/* The generic dialect has no portable way to put a text and a number together. */
TEST_WITH_TABLES(test_schema__the_view_shows_all_pools_as_people_say) {
    bool generic = pool_speaks("generic");
    char answer[64];
    insert("tp_pending", "1", "pending", 0);
    insert("tp_pending", "2", "failed", 2);
    insert("tp_finished", "3", "done", 0);
    insert("tp_failed", "4", "failed", 4);
    assert_shown("1", "pending", "pending");
    assert_shown("2", "pending", generic ? "failed" : "failed-2");
    assert_shown("3", "finished", "done");
    assert_shown("4", "failed", generic ? "failed" : "failed-4");
    sql_text(pool.eye, answer, sizeof answer, "SELECT created FROM tp_tasks WHERE pool = 'finished'");
    if (generic)
        assert_string_equal(answer, "1");
    else
        assert_ptr_equal(strstr(answer, "1970-01-01 00:00:00.001"), answer);
}

TEST_WITH_TABLES(test_schema__a_time_that_no_calendar_has_hides_no_task) {
    static const char *const times[] = {"9223372036854775807", "-9223372036854775807", "253402300800000"};
    for (size_t i = 0; i < 3; i++)
        sql_run(pool.eye,
                "INSERT INTO tp_pending (id, handler, shard, priority, state, failures, due_at, created_at, "
                "modified_at) VALUES "
                "('00000000-0000-4000-8000-00000000001%zu', 'x', 0, 0, 'pending', 0, %s, 1, 1)",
                i, times[i]);
    assert_int_equal(rows("tp_tasks WHERE COALESCE(CAST(due AS CHAR(30)), '-') <> 'x'"), 3);
}

TEST_WITH_TABLES(test_schema__states_that_a_pool_cannot_hold_are_refused) {
    static const char *const wrong[][2] = {
        {"pending", "done"},      {"pending", "skipped"}, {"pending", "Pending"}, {"finished", "pending"},
        {"finished", "handling"}, {"finished", "failed"}, {"failed", "pending"},  {"failed", "done"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bool settled = strcmp(wrong[i][0], "pending") != 0;
        /* A database that compares text without case takes 'Pending' for 'pending'; only generic may. */
        if (strcmp(wrong[i][1], "Pending") == 0 && pool_speaks("generic")) continue;
        bool taken = sql_try(
            pool.eye,
            "INSERT INTO tp_%s (id, handler, shard, priority, state, failures, due_at, created_at, "
            "modified_at%s) VALUES ('00000000-0000-4000-8000-00000000000a', 'x', 0, 0, '%s', 0, 1, 1, 1%s)",
            wrong[i][0], settled ? ", settled_at" : "", wrong[i][1], settled ? ", 1" : "");
        if (taken) fail_msg("%s takes state %s", wrong[i][0], wrong[i][1]);
    }
}

TEST_WITH_TABLES(test_schema__keys_compare_byte_by_byte) {
    static const char *const keys[] = {"Key", "key", "k\xc3\xa9y", "KEY"};
    if (pool_speaks("generic")) skip(); /* its script leaves the collation to the DBA */
    for (size_t i = 0; i < 4; i++)
        sql_run(pool.eye, "INSERT INTO tp_pending (handler, dedup_key) VALUES ('x', '%s')", keys[i]);
    assert_false(sql_try(pool.eye, "INSERT INTO tp_pending (handler, dedup_key) VALUES ('x', 'key')"));
    assert_int_equal(rows("tp_pending WHERE dedup_key = 'key'"), 1);
}

/* Producers need no library. */
TEST_WITH_TABLES(test_schema__a_plain_insert_is_a_whole_task) {
    char id[64], other[64], answer[64];
    int64_t now = (int64_t)time(NULL) * 1000;
    if (pool_speaks("generic")) { /* there is no portable default for an id or a time */
        assert_false(sql_try(pool.eye, "INSERT INTO tp_pending (handler, params) VALUES ('one', 'x')"));
        return;
    }
    sql_run(pool.eye, "INSERT INTO tp_pending (handler, params) VALUES ('one', '{\"order\":7}')");
    sql_run(pool.eye, "INSERT INTO tp_pending (handler, params) VALUES ('two', '{\"order\":7}')");
    sql_text(pool.eye, id, sizeof id, "SELECT id FROM tp_pending WHERE handler = 'one'");
    sql_text(pool.eye, other, sizeof other, "SELECT id FROM tp_pending WHERE handler = 'two'");
    assert_int_equal(strlen(id), 36);
    assert_true(id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-');
    assert_string_not_equal(id, other);
    sql_text(pool.eye, answer, sizeof answer, "SELECT due_at FROM tp_pending WHERE handler = 'one'");
    assert_in_range(strtoll(answer, NULL, 10), now - 60000, now + 60000);
    assert_int_equal(rows("tp_pending WHERE due_at = created_at AND created_at = modified_at"), 2);
    assert_int_equal(rows("tp_pending WHERE state = 'pending' AND failures = 0 AND shard = 0 AND "
                          "priority = 0 AND owner IS NULL AND reason IS NULL"),
                     2);
}

/* ---- Again, at once, half made ---------------------------------------------------------------------------
 */

TEST_WITH_TABLES(test_install__again_is_harmless) {
    insert("tp_pending", "1", "pending", 0);
    insert("tp_failed", "2", "failed", 4);
    pool_install();
    pool_install();
    assert_int_equal(rows("tp_pending"), 1);
    assert_int_equal(rows("tp_failed"), 1);
    assert_int_equal(rows("tp_meta"), 2);
    check_shape();
}

/* In a process of its own: connects, says so, waits for the start, installs. */
static int install_when_told(char **argv) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    char byte = 'r';
    int ready = (int)strtol(argv[3], NULL, 10), start = (int)strtol(argv[4], NULL, 10);
    tp_status status = tp_env_open(argv[2], &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (write(ready, &byte, 1) != 1) return 2;
    if (read(start, &byte, 1) != 0) return 2;
    if (status == TP_OK) status = tp_schema_install(conn);
    if (status != TP_OK) fprintf(stderr, "installing at once: %s\n", tp_last_error()->text);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? 0 : 1;
}

static pid_t spawn_installer(int ready, const int start[2]) {
    char ready_text[16], start_text[16];
    snprintf(ready_text, sizeof ready_text, "%d", ready);
    snprintf(start_text, sizeof start_text, "%d", start[0]);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    close(start[1]);
    execl("/proc/self/exe", "test_schema", "--install", pool.dsn, ready_text, start_text, (char *)NULL);
    _exit(3);
}

static void install_at_once(int processes) {
    int ready[2], start[2], exit_status = 0, failed = 0;
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < processes; i++)
        (void)spawn_installer(ready[1], start);
    close(ready[1]);
    close(start[0]);
    for (int i = 0; i < processes; i++)
        assert_int_equal(read(ready[0], &byte, 1), 1);
    close(start[1]); /* which all of them wait for */
    for (int i = 0; i < processes; i++) {
        assert_true(wait(&exit_status) > 0);
        failed += exit_status != 0;
    }
    close(ready[0]);
    assert_int_equal(failed, 0);
}

TEST_WITHOUT_TABLES(test_install__processes_at_once_all_succeed) {
    for (int round = 0; round < 5; round++) {
        pool_drop_tables();
        install_at_once(round < 3 ? 2 : 4);
        if (tp_schema_check(pool.a) != TP_OK) fail_msg("%s", tp_last_error()->text);
        check_shape();
        assert_int_equal(rows("tp_meta"), 2);
    }
}

/* All who use the pool wait behind it while it waits. */
TEST_WITHOUT_TABLES(test_install__asks_for_its_locks_three_times_and_then_leaves_the_others_alone) {
    size_t locked = faults_refuse("schema_install", FAULTS_LOCKED, 0, 100);
    tpi_schema_pause_ms = 1;
    assert_int_equal(tp_schema_install(pool.a), TP_TIMEOUT);
    assert_int_equal(faults_hits(locked), 3);
    faults_clear();
    faults_refuse("schema_install", FAULTS_LOCKED, 0, 2);
    assert_int_equal(tp_schema_install(pool.a), TP_OK);
    faults_clear();
    check_shape();
}

/* The scripts that change tables lower it for that time. Wherever one is refused, it is run again. */
TEST_WITHOUT_TABLES(test_install__leaves_the_session_how_long_it_waits_for_locks) {
    if (!pool_speaks("mysql")) skip();
    int64_t before = sql_number(pool.a, "SELECT @@SESSION.lock_wait_timeout");
    tpi_schema_pause_ms = 1;
    for (int after = 0, hit = 1; hit; after += 35) {
        pool_drop_tables();
        size_t locked = faults_refuse("schema_install", FAULTS_LOCKED, after, 1);
        must(tp_schema_install(pool.a));
        hit = faults_hits(locked);
        faults_clear();
        expect_number(sql_number(pool.a, "SELECT @@SESSION.lock_wait_timeout"), before);
    }
}

/* What a script that broke off may have left out, in the order in which it would have come. */
TEST_WITH_TABLES(test_install__what_is_half_made_is_completed) {
    static const char *const missing[][8] = {
        {"DELETE FROM tp_meta", NULL},
        {"DELETE FROM tp_meta", "DROP VIEW tp_tasks", NULL},
        {"DELETE FROM tp_meta", "DROP VIEW tp_tasks", "DROP VIEW tp_failures", "DROP TABLE tp_failed", NULL},
        {"DROP TABLE tp_meta", NULL},
        {"UPDATE tp_meta SET value = '1' WHERE name = 'schema'", "DROP TABLE tp_pause", NULL},
        {"UPDATE tp_meta SET value = '1' WHERE name = 'schema'", "DROP TABLE tp_pause",
         "DROP VIEW tp_running", "DROP TABLE tp_worker", "DROP TABLE tp_once", NULL},
    };
    insert("tp_pending", "1", "pending", 0);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        for (size_t k = 0; missing[i][k]; k++)
            sql_run(pool.eye, "%s", missing[i][k]);
        assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
        pool_install();
        assert_int_equal(tp_schema_check(pool.a), TP_OK);
        check_shape();
        assert_int_equal(rows("tp_tasks"), 1);
        assert_int_equal(rows("tp_meta"), 2);
    }
}

/* Of a script, as the build has it: 002 stands for the prefix. */
static bool adds(const char *statement, const char *table, const char *column) {
    char alter[64], named[32];
    snprintf(alter, sizeof alter, "ALTER TABLE \002%s ADD ", table);
    snprintf(named, sizeof named, "%s ", column);
    return strstr(statement, alter) && strstr(statement, named);
}

static void run_scripts(int version, const char *without_table, const char *without_column) {
    struct tpi_buf long_text = {0}, sql = {0};
    const struct tpi_dialect *dialect = tpi_dialect_by_name(tp_conn_about(pool.a)->dialect);
    bool stand_in = prepared(); /* which has its functions */
    if (dialect->long_text) assert_int_equal(tpi_store_long_text(&pool.a->store, &long_text), TP_OK);
    for (const struct tpi_script *script = dialect->scripts; script->file && script->version <= version;
         script++)
        for (size_t i = 0; i < script->statement_count; i++) {
            if (stand_in && strstr(script->file, "_functions.")) continue;
            if (without_table && adds(script->statements[i], without_table, without_column)) continue;
            tpi_buf_clear(&sql);
            tpi_render_script(script->statements[i], pool.prefix, dialect->long_text, long_text.data, &sql);
            sql_run(pool.eye, "%s", sql.data);
        }
    tpi_buf_free(&sql);
    tpi_buf_free(&long_text);
}

/* A pool as that version of the schema made it, with a task in each of its pools. */
static void make_version(int version) {
    run_scripts(version, NULL, NULL);
    insert("tp_pending", "1", "handling", 1);
    insert("tp_finished", "2", "done", 0);
    insert("tp_failed", "3", "failed", 4);
}

static void assert_this_version_with_its_tasks(void) {
    char version[32];
    assert_int_equal(tp_schema_check(pool.a), TP_OK);
    sql_text(pool.eye, version, sizeof version, "SELECT value FROM tp_meta WHERE name = 'schema'");
    assert_string_equal(version, "2"); /* which libraries of version 2 take */
    sql_text(pool.eye, version, sizeof version, "SELECT value FROM tp_meta WHERE name = 'schema_latest'");
    assert_int_equal(strtol(version, NULL, 10), tp_schema_version());
    assert_int_equal(rows("tp_pending WHERE state = 'handling' AND failures = 1"), 1);
    assert_int_equal(rows("tp_finished WHERE state = 'done' AND settled_at = 1"), 1);
    assert_int_equal(rows("tp_failed WHERE failures = 4"), 1);
    assert_int_equal(rows("tp_tasks"), 3);
    check_shape();
}

TEST_WITHOUT_TABLES(test_install__every_earlier_version_becomes_this_one_with_its_tasks) {
    char named[32];
    for (int version = 1; version < tp_schema_version(); version++) {
        pool_drop_tables();
        make_version(version);
        assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
        snprintf(named, sizeof named, "version %d", version);
        assert_told(named);
        assert_told("taskpool schema install");
        pool_install();
        assert_this_version_with_its_tasks();
    }
    pool_install();
    assert_this_version_with_its_tasks();
}

/* A shell that goes on after a refused statement writes the version all the same. */
TEST_WITHOUT_TABLES(test_install__a_column_that_a_script_left_out_is_made) {
    run_scripts(tp_schema_version(), "pending", "gate");
    assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
    assert_told("taskpool schema install");
    pool_install();
    assert_int_equal(tp_schema_check(pool.a), TP_OK);
    check_shape();
    assert_int_equal(rows("tp_meta"), 2);
}

TEST_WITHOUT_TABLES(test_install__processes_that_upgrade_at_once_all_succeed) {
    for (int round = 0; round < 3; round++) {
        pool_drop_tables();
        make_version(1);
        install_at_once(round < 2 ? 2 : 4);
        assert_this_version_with_its_tasks();
    }
}

TEST(test_install__the_longest_prefix_fits) {
    struct pool usual = pool;
    char prefix[TP_PREFIX_MAX + 1];
    snprintf(prefix, sizeof prefix, "s%015lx", (unsigned long)getpid());
    pool_open_bare(prefix);
    pool_install();
    check_shape();
    pool_close();
    pool = usual;
}

/* ---- Missing, or of another version -------------------------------------------------------------------- */

TEST_WITHOUT_TABLES(test_schema__missing_tables_are_told_with_what_to_run) {
    tp_new_task task = TP_NEW_TASK_INIT;
    assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
    assert_told(pool.prefix);
    assert_told("taskpool schema install");
    task.handler = "points";
    assert_int_equal(tp_enqueue(pool.a, &task), TP_SCHEMA);
    assert_int_equal(tp_last_error()->status, TP_SCHEMA);
    assert_told("taskpool schema install");
    /* The connection is none the worse for it. */
    pool_install();
    assert_int_equal(tp_enqueue(pool.a, &task), TP_OK);
}

TEST_WITH_TABLES(test_schema__a_newer_version_is_refused_and_left_alone) {
    char answer[32];
    sql_run(pool.eye, "UPDATE tp_meta SET value = '77' WHERE name = 'schema'");
    assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
    assert_told("version 77");
    snprintf(answer, sizeof answer, "version %d", tp_schema_version());
    assert_told(answer);
    assert_told("newer taskpool");
    assert_int_equal(tp_schema_install(pool.a), TP_SCHEMA);
    assert_told("version 77");
    sql_text(pool.eye, answer, sizeof answer, "SELECT value FROM tp_meta WHERE name = 'schema'");
    assert_string_equal(answer, "77");
}

/* Any one of them: the version alone does not tell. */
TEST_WITHOUT_TABLES(test_schema__a_missing_table_is_noticed_and_comes_back) {
    static const char *const tables[] = {"pending",     "finished", "failed",       "history",  "once",
                                         "schedule",    "worker",   "pause",        "activity", "request",
                                         "request_row", "calendar", "calendar_day", "step",     "gate",
                                         "gate_task",   "group",    "group_task",   "cancel"};
    static const char *const views[] = {"tasks", "running", "failures", "throughput"};
    pool_install();
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) /* which hold their tables */
            if (pool_speaks("postgres") || pool_speaks("generic"))
                (void)sql_try(pool.eye, "DROP VIEW tp_%s", views[k]);
        sql_run(pool.eye, "DROP TABLE tp_%s", tables[i]);
        assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
        assert_told("taskpool schema install");
        pool_install();
        assert_int_equal(tp_schema_check(pool.a), TP_OK);
        shape_check_columns();
    }
}

TEST_WITH_TABLES(test_schema__a_missing_column_is_noticed) {
    static const char *const columns[][2] = {{"pending", "wanted_at"}, {"pending", "gate"},
                                             {"finished", "gate"},     {"finished", "result"},
                                             {"failed", "gate"},       {"schedule", "calendar"},
                                             {"schedule", "closed"},   {"schedule", "rule_at"},
                                             {"schedule", "fire_at"},  {"schedule", "calendar_version"},
                                             {"worker", "token_tag"},  {"worker", "drain_at"},
                                             {"worker", "drain_who"},  {"gate", "tokens"},
                                             {"gate", "period_ms"},    {"gate", "held"},
                                             {"gate", "token_at"},     {"gate", "pattern"}};
    sql_run(pool.eye, "DROP VIEW tp_running"); /* SQLite does not rename what a view names */
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const char *table = columns[i][0], *column = columns[i][1];
        sql_run(pool.eye, "ALTER TABLE tp_%s RENAME COLUMN %s TO other", table, column);
        if (tp_schema_check(pool.a) != TP_SCHEMA) fail_msg("%s.%s is not missed", table, column);
        assert_told("taskpool schema install");
        sql_run(pool.eye, "ALTER TABLE tp_%s RENAME COLUMN other TO %s", table, column);
        assert_int_equal(tp_schema_check(pool.a), TP_OK);
    }
}

/* Over the library's own session, past it. */
static void set_engine(const char *name) {
    assert_true(sql_raw(pool.a->store.link.dbc, "SET SESSION default_storage_engine = %s", name));
}

TEST_WITHOUT_TABLES(test_install__tables_without_transactions_are_refused) {
    if (!strstr(pool.entry, "generic_m")) skip(); /* elsewhere the script names the engine, or there is one */
    set_engine("MyISAM");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tp_schema_install(pool.a), TP_UNSUPPORTED);
        assert_told("storage engine");
        assert_int_equal(tp_schema_check(pool.a), TP_SCHEMA);
    }
    pool_drop_tables();
    set_engine("InnoDB");
    pool_install();
    assert_int_equal(tp_schema_check(pool.a), TP_OK);
    assert_int_equal(rows("tp_once"), 0);
}

TEST(test_schema__install_inside_a_transaction_is_misuse) {
    assert_int_equal(tp_begin(pool.a), TP_OK);
    assert_int_equal(tp_schema_install(pool.a), TP_MISUSE);
    assert_told("transaction");
    assert_int_equal(tp_rollback(pool.a), TP_OK);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "--install") == 0) return install_when_told(argv);
    faults_open();
    pool_open_bare(NULL);
    int code = test_main("schema", NULL, NULL);
    pool_close();
    return code;
}
