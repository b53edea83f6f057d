/* The doctor, on every database: it finds nothing wrong where nothing is, and finds what is made wrong here:
 * by the connection string, by a session changed behind its back, or by a driver that lies (wrapped calls).
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/pool.h"
#include "support/sql.h"

/* ---- What the driver is made to say ------------------------------------------------------------------ */

static struct {
    const char *count_of;              /* the statement whose row count is a lie ... */
    int64_t count;                     /* ... namely this */
    const char *prepares;              /* what the server says it has prepared */
    bool no_begin;                     /* transactions are said to begin and do not */
    const struct tpi_link *changed[2]; /* whose session was */
} lie;

WRAPPED(tp_status, tpi_stmt_changed, struct tpi_stmt *stmt, int64_t *rows) {
    tp_status status = __real_tpi_stmt_changed(stmt, rows);
    if (status == TP_OK && lie.count_of && strcmp(stmt->name, lie.count_of) == 0) *rows = lie.count;
    return status;
}

WRAPPED(tp_status, tpi_stmt_column, struct tpi_stmt *stmt, size_t i, struct tpi_buf *out, bool *is_null) {
    if (!lie.prepares || strcmp(stmt->name, "prepares") != 0)
        return __real_tpi_stmt_column(stmt, i, out, is_null);
    tpi_buf_text(out, lie.prepares);
    return TP_OK;
}

WRAPPED(tp_status, tpi_link_begin, struct tpi_link *link) {
    if (!lie.no_begin) return __real_tpi_link_begin(link);
    link->tx = TPI_TX_OPEN;
    return TP_OK;
}

static bool is_doctors(const struct tpi_link *link, const char *function) {
    return link->statement && strncmp(link->statement, "doctor_", 7) == 0 &&
           strcmp(function, "SQLFreeStmt") != 0;
}

static bool begins(const struct tpi_link *link, const char *function) {
    return is_doctors(link, function) && link->tx == TPI_TX_NONE && strcmp(function, "SQLAllocHandle") == 0;
}

/* Runs a statement once on each of the two sessions, before the doctor's first on it. */
static void change_session(struct tpi_link *link, void *sql) {
    const struct tpi_link **changed = lie.changed;
    if (changed[0] == link || changed[1] == link) return;
    changed[1] = changed[0];
    changed[0] = link;
    if (!sql_raw(link->dbc, "%s", (const char *)sql)) print_error("cannot run: %s\n", sql_reason());
}

static void change_sessions(const char *sql) {
    (void)faults_add((struct faults_aim){
        .fits = begins, .times = INT_MAX, .meet = change_session, .arg = (void *)(uintptr_t)sql});
}

/* ---- Threads that stand still ------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock; /* for ends */
    pthread_cond_t changed;
    pthread_t examiner; /* who runs the test */
    int ends;           /* of its transactions, since a thread of the doctor's stands still */
    atomic_llong ahead_ms;
} still = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void transaction_ended(void) {
    pthread_mutex_lock(&still.lock);
    still.ends += pthread_equal(pthread_self(), still.examiner) != 0;
    pthread_cond_broadcast(&still.changed);
    pthread_mutex_unlock(&still.lock);
}

WRAPPED(tp_status, tpi_link_commit, struct tpi_link *link) {
    tp_status status = __real_tpi_link_commit(link);
    transaction_ended();
    return status;
}

WRAPPED(void, tpi_link_rollback, struct tpi_link *link) {
    __real_tpi_link_rollback(link);
    transaction_ended();
}

WRAPPED(int64_t, tpi_clock_mono_ms, void) {
    return __real_tpi_clock_mono_ms() + atomic_load(&still.ahead_ms);
}

static bool takes_in_a_thread(const struct tpi_link *link, const char *function) {
    return link->statement && strcmp(link->statement, "doctor_take") == 0 &&
           strncmp(function, "SQLExec", 7) == 0 && !pthread_equal(pthread_self(), still.examiner);
}

/* Until the other session has ended its transaction. If that was before it waits for this thread, so not for
 * ever. */
static void stand_still(struct tpi_link *link, void *arg) {
    struct timespec until;
    (void)link, (void)arg;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&still.lock);
    still.ends = 0;
    while (!still.ends)
        if (pthread_cond_timedwait(&still.changed, &still.lock, &until) != 0) break;
    pthread_mutex_unlock(&still.lock);
}

/* The doctor's threads of that number, the first being 0, before it changes its row. */
static void thread_stands_still(int number) {
    still.examiner = pthread_self();
    (void)faults_add(
        (struct faults_aim){.fits = takes_in_a_thread, .skip = number, .times = 1, .meet = stand_still});
}

static void stand_for_3_s(struct tpi_link *link, void *arg) {
    (void)link, (void)arg;
    atomic_fetch_add(&still.ahead_ms, 3000);
}

/* ---- What it finds ----------------------------------------------------------------------------------- */

enum { MOST = 40, SIZE = 600 };
static struct {
    size_t count;
    struct {
        char name[40], text[SIZE], remedy[SIZE];
        bool ok;
    } at[MOST];
} found;

static void note(const tp_finding *finding, void *arg) {
    assert_ptr_equal(arg, &found);
    assert_true(found.count < MOST);
    size_t i = found.count++;
    snprintf(found.at[i].name, sizeof found.at[i].name, "%s", finding->name);
    snprintf(found.at[i].text, SIZE, "%s", finding->text);
    snprintf(found.at[i].remedy, SIZE, "%s", finding->remedy);
    found.at[i].ok = finding->ok;
}

static void show_findings(void) {
    for (size_t i = 0; i < found.count; i++)
        print_error("  %s %s: %s (%s)\n", found.at[i].ok ? "ok " : "BAD", found.at[i].name, found.at[i].text,
                    found.at[i].remedy);
}

/* The finding of this name; fails the test when there is none. */
static size_t find(const char *name) {
    size_t i = 0;
    while (i < found.count && strcmp(found.at[i].name, name) != 0)
        i++;
    if (i == found.count) {
        show_findings();
        fail_msg("nothing is said of %s", name);
    }
    return i;
}

static void assert_bad(const char *name, const char *word) {
    size_t i = find(name);
    if (!found.at[i].ok && *found.at[i].remedy && strstr(found.at[i].text, word)) return;
    show_findings();
    fail_msg("%s is not found bad with '%s' and a remedy", name, word);
}

static void assert_ok(const char *name) {
    size_t i = find(name);
    if (!found.at[i].ok) fail_msg("%s: %s", name, found.at[i].text);
}

static bool table_is_there(void) {
    return sql_try(pool.eye, "SELECT id FROM tp_doctor");
}

/* Gives the number of bad findings. */
static int examine(tp_env *env) {
    int bad = -1;
    memset(&found, 0, sizeof found);
    lie.changed[0] = lie.changed[1] = NULL; /* its sessions are new, wherever they are in memory */
    tp_status status = tp_doctor(env, note, &found, &bad);
    if (status != TP_OK) {
        show_findings();
        fail_msg("tp_doctor: %s", tp_last_error()->text);
    }
    assert_false(table_is_there());
    return bad;
}

/* With one key of the connection string set. */
static int examine_with(const char *key, const char *value) {
    char dsn[2100];
    tp_env *env = NULL;
    dsn_with(pool.dsn, key, value, dsn, sizeof dsn);
    assert_int_equal(tp_env_open(dsn, &env), TP_OK);
    int bad = examine(env);
    tp_env_close(env);
    return bad;
}

static bool on(const char *what) {
    return strstr(pool.entry, what) != NULL;
}

/* By the driver: the stand-in for Oracle has MariaDB's. */
static bool through(const char *profile) {
    return strcmp(tp_conn_about(pool.a)->profile, profile) == 0;
}

static int forget(void **state) {
    (void)state;
    memset(&lie, 0, sizeof lie);
    faults_clear();
    (void)sql_try(pool.eye, "DROP TABLE tp_doctor");
    pool_drop_tables();
    return 0;
}

#define TEST_FORGETTING(name) TEST_BETWEEN(name, NULL, forget)

/* ---- Nothing wrong ----------------------------------------------------------------------------------- */

static void assert_all_well(int bad) {
    static const char *const names[] = {
        "driver",    "driver-manager", "database",   "dialect",     "plan",      "schema",     "session",
        "table",     "prepared",       "autocommit", "rollback",    "commit",    "found-rows", "duplicate",
        "row-locks", "second-update",  "nowait",     "skip-locked", "isolation", "recheck",    "text",
        "long-text", "numbers",        "clock",      "client-clock"};
    if (bad) show_findings();
    assert_int_equal(bad, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_ok(names[i]);
    for (size_t i = 0; i < found.count; i++) {
        assert_true(*found.at[i].text);
        assert_string_equal(found.at[i].remedy, "");
    }
}

TEST_FORGETTING(test_doctor__finds_nothing_wrong_here) {
    pool_install();
    assert_all_well(examine(pool.env));
    char version[32];
    snprintf(version, sizeof version, "version %d", tp_schema_version());
    assert_non_null(strstr(found.at[find("schema")].text, version));
    assert_non_null(strstr(found.at[find("dialect")].text, tp_conn_about(pool.a)->dialect));
    assert_non_null(strstr(found.at[find("plan")].text, tp_conn_about(pool.a)->plan));
    assert_non_null(strstr(found.at[find("client-clock")].text, "this machine is "));
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending"), 0);
}

TEST_FORGETTING(test_doctor__needs_no_pool) {
    assert_all_well(examine(pool.env));
    assert_non_null(strstr(found.at[find("schema")].text, "taskpool schema install"));
}

TEST_FORGETTING(test_doctor__tells_what_was_chosen_and_why) {
    assert_int_equal(examine_with("Plan", "cas"), 0);
    assert_non_null(strstr(found.at[find("plan")].text, "cas, as Plan= says"));
    assert_int_equal(examine_with("Dialect", "generic"), 0);
    const char *usual = through("maodbc")     ? "mysql"
                        : through("psqlodbc") ? "postgres"
                        : through("sqora")    ? "oracle"
                                              : "sqlite";
    char wanted[80];
    snprintf(wanted, sizeof wanted, "generic, as Dialect= says; without it: %s", usual);
    assert_string_equal(found.at[find("dialect")].text, wanted);
}

/* Locks are tried out where a database has them, and only there. */
TEST_FORGETTING(test_doctor__tries_what_the_plans_use) {
    assert_int_equal(examine(pool.env), 0);
    bool locks = !on("sqlite") && !on("generic");
    assert_int_equal(strstr(found.at[find("nowait")].text, "is refused after") != NULL, locks);
    assert_int_equal(strstr(found.at[find("skip-locked")].text, "gives the other") != NULL, locks);
    /* The generic dialect asks once, and a rival that is not through soon may be late. */
    if (on("sqlite") || !on("generic"))
        assert_int_equal(strstr(found.at[find("row-locks")].text, "one session writes") != NULL,
                         on("sqlite"));
}

TEST_FORGETTING(test_doctor__finds_a_pool_that_this_library_would_refuse) {
    pool_install();
    sql_run(pool.eye, "UPDATE tp_meta SET value = '1' WHERE name = 'schema'");
    assert_int_equal(examine(pool.env), 1);
    assert_bad("schema", "version 1");
    sql_run(pool.eye, "UPDATE tp_meta SET value = '77' WHERE name = 'schema'");
    assert_int_equal(examine(pool.env), 1);
    assert_bad("schema", "version 77");
    sql_run(pool.eye, "UPDATE tp_meta SET value = '2' WHERE name = 'schema'");
    assert_int_equal(examine(pool.env), 0);
    sql_run(pool.eye, "DROP TABLE tp_pause");
    assert_int_equal(examine(pool.env), 1);
}

TEST_FORGETTING(test_doctor__takes_away_what_an_earlier_one_left) {
    sql_run(pool.eye, "CREATE TABLE tp_doctor (made_by_taskpool INTEGER)");
    assert_int_equal(examine(pool.env), 0);
}

TEST_FORGETTING(test_doctor__leaves_a_table_alone_that_no_doctor_made) {
    sql_run(pool.eye, "CREATE TABLE tp_doctor (street VARCHAR(20))");
    sql_run(pool.eye, "INSERT INTO tp_doctor (street) VALUES ('Elm Street')");
    assert_int_equal(examine(pool.env), 1);
    assert_bad("table", "not made by a doctor");
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_doctor WHERE street = 'Elm Street'"), 1);
    sql_run(pool.eye, "DROP TABLE tp_doctor");
}

/* ---- Refused settings -------------------------------------------------------------------------------- */

/* A key that makes the session commit by itself, or go on after an error. */
TEST_FORGETTING(test_doctor__explains_a_connection_string_that_is_refused) {
    const char *key = through("psqlodbc") ? "Protocol" : through("sqliteodbc") ? "NoTXN" : "AUTO_RECONNECT";
    assert_int_equal(examine_with(key, through("psqlodbc") ? "7.4-2" : "1"), 1);
    assert_int_equal(found.count, 1);
    assert_bad("connection", key);
    assert_string_equal(found.at[0].remedy, "take it out");
}

TEST_FORGETTING(test_doctor__explains_a_session_that_is_refused) {
    bool postgres = through("psqlodbc");
    if (!postgres && !through("maodbc")) skip(); /* no setting is refused, or none can be made */
    if (postgres)
        assert_int_equal(examine_with("ConnSettings", "set session characteristics as transaction isolation "
                                                      "level repeatable read"),
                         1);
    else
        assert_int_equal(examine_with("INITSTMT", "SET sql_mode=''"), 1);
    assert_bad("connection", postgres ? "isolation" : "sql_mode");
}

TEST_FORGETTING(test_doctor__a_server_that_is_away_is_a_failure) {
    tp_env *env = NULL;
    char dsn[2100];
    int bad = 7;
    if (on("sqlite"))
        dsn_with(pool.dsn, "Database", "/nowhere/at/all.db", dsn, sizeof dsn);
    else if (through("sqora"))
        dsn_with(pool.dsn, "DBQ", "//127.0.0.1:1/none", dsn, sizeof dsn);
    else
        dsn_with(pool.dsn, "Port", "1", dsn, sizeof dsn);
    assert_int_equal(tp_env_open(dsn, &env), TP_OK);
    assert_int_equal(tp_doctor(env, note, &found, &bad), TP_DISCONNECTED);
    assert_int_equal(bad, 7);
    tp_env_close(env);
}

/* ---- Settings that may be and should not --------------------------------------------------------------- */

TEST_FORGETTING(test_doctor__finds_commits_that_a_power_failure_loses) {
    if (!on("postgres") && !on("sqlite")) skip(); /* a setting of the whole server */
    if (on("postgres")) {
        /* Our own sessions do without. */
        assert_int_equal(examine_with("ConnSettings", "set synchronous_commit to off"), 0);
        assert_ok("synchronous_commit");
        return;
    }
    assert_int_equal(examine_with("SyncPragma", "OFF"), 1);
    assert_bad("synchronous", "power failure");
}

TEST_FORGETTING(test_doctor__finds_a_journal_that_makes_readers_wait) {
    if (!on("sqlite")) skip();
    tp_conn_close(pool.a); /* the mode of the file changes for the last one to open it only */
    tp_conn_close(pool.eye);
    pool.a = pool.eye = NULL;
    int bad = 0;
    char dsn[2100];
    tp_env *env = NULL;
    dsn_with(pool.dsn, "JournalMode", "DELETE", dsn, sizeof dsn);
    assert_int_equal(tp_env_open(dsn, &env), TP_OK);
    memset(&found, 0, sizeof found);
    assert_int_equal(tp_doctor(env, note, &found, &bad), TP_OK);
    tp_env_close(env);
    must(tp_conn_open(pool.env, &pool.eye));
    must(tp_conn_open(pool.env, &pool.a));
    assert_true(bad >= 1);
    assert_bad("journal_mode", "delete");
    assert_false(table_is_there());
}

/* ---- Drivers and sessions that lie --------------------------------------------------------------------- */

TEST_FORGETTING(test_doctor__finds_a_row_count_that_lies_to_the_loser) {
    lie.count_of = "doctor_take";
    lie.count = 1;
    assert_true(examine(pool.env) >= 1);
    assert_bad("second-update", "both told");
}

TEST_FORGETTING(test_doctor__finds_a_row_count_that_lies_to_the_winner) {
    lie.count_of = "doctor_take";
    lie.count = 0;
    assert_true(examine(pool.env) >= 1);
    assert_bad("second-update", "reports 0 rows");
}

TEST_FORGETTING(test_doctor__finds_that_only_changed_rows_are_counted) {
    lie.count_of = "doctor_same";
    lie.count = 0;
    assert_int_equal(examine(pool.env), 1);
    assert_bad("found-rows", "counts 0 rows");
}

/* On databases whose sessions tell what they have prepared. */
TEST_FORGETTING(test_doctor__finds_a_driver_that_keeps_what_was_prepared) {
    if (!through("maodbc") || on("mysql")) skip();
    assert_int_equal(examine(pool.env), 0);
    assert_ok("statement-cache");
    lie.prepares = "0"; /* the driver prepares nothing there */
    assert_int_equal(examine(pool.env), 0);
    lie.prepares = "7";
    assert_int_equal(examine(pool.env), 1);
    assert_bad("statement-cache", "by its text");
    assert_non_null(strstr(found.at[find("statement-cache")].remedy, "PSCACHESIZE=0"));
}

TEST_FORGETTING(test_doctor__finds_a_transaction_that_commits_by_itself) {
    lie.no_begin = true;
    assert_true(examine(pool.env) >= 2);
    assert_bad("autocommit", "before its commit");
    assert_bad("rollback", "still there");
}

TEST_FORGETTING(test_doctor__names_the_remedy_where_a_pooler_loses_what_was_prepared) {
    static const struct faults_saying says[] = {
        {"26000", 1, "ERROR: prepared statement \"_PLAN1\" does not exist; Error while executing"},
        {"HY000", 1, "Unknown prepared statement handler (7) given to EXECUTE"}};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        /* As a pooler that gives each transaction another session: two sessions, each its first, and one that
         * has not begun anew. */
        faults_clear();
        (void)faults_add((struct faults_aim){.statement = "doctor_read",
                                             .function = "SQLExecute",
                                             .skip = 3,
                                             .times = INT_MAX,
                                             .fault = TPI_FAULT_NOT_SENT,
                                             .says = &says[i]});
        assert_true(examine(pool.env) > 1);
        assert_bad("prepared", "prepared statement");
        assert_non_null(strstr(found.at[find("prepared")].remedy, "pooler"));
        assert_bad("commit", "prepared statement");
        assert_string_equal(found.at[find("commit")].remedy, "as above");
        if (on("postgres"))
            assert_non_null(strstr(found.at[find("prepared")].remedy, "UseServerSidePrepare=0"));
    }
}

/* On a busy machine the second session may begin too late to be found. */
static void expect_second_update_bad(bool stands_still) {
    for (int tries = 0; tries < 5; tries++) {
        if (stands_still) thread_stands_still(1);
        int bad = examine(pool.env);
        if (found.at[find("second-update")].ok) continue;
        assert_true(bad >= 1);
        break;
    }
    assert_bad("second-update", "fails instead of counting 0");
}

TEST_FORGETTING(test_doctor__finds_a_session_that_is_not_read_committed) {
    if (on("sqlite")) skip(); /* one writer at a time: nobody commits while a transaction is open */
    change_sessions(on("postgres")
                        ? "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"
                    : through("sqora") ? "ALTER SESSION SET ISOLATION_LEVEL = SERIALIZABLE"
                                       : "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    assert_true(examine(pool.env) >= 1);
    assert_bad("isolation", "not read committed");
    if (on("postgres")) expect_second_update_bad(false);
}

TEST_FORGETTING(test_doctor__finds_a_session_that_reads_what_is_not_committed) {
    if (!through("maodbc")) skip(); /* the others have no such level */
    change_sessions("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    assert_true(examine(pool.env) >= 1);
    assert_bad("autocommit", "uncommitted");
}

/* ---- A busy machine ------------------------------------------------------------------------------------ */

/* It is told from one that waits for a lock. */
TEST_FORGETTING(test_doctor__finds_nothing_wrong_when_its_thread_stands_still) {
    if (!on("sqlite")) thread_stands_still(0); /* there it cannot begin before the other has ended */
    (void)faults_add((struct faults_aim){.statement = "doctor_lock", .times = 1, .meet = stand_for_3_s});
    assert_int_equal(examine(pool.env), 0);
    assert_ok("row-locks");
    assert_ok("nowait");
    if (!on("sqlite") && !on("generic"))
        assert_non_null(strstr(found.at[find("row-locks")].text, "at the same time"));
}

/* The second changes its row when the first has committed, but began before. */
TEST_FORGETTING(test_doctor__finds_a_session_that_fails_though_its_thread_stands_still) {
    if (!on("postgres")) skip();
    change_sessions("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    expect_second_update_bad(true);
}

/* ---- Lost connections ---------------------------------------------------------------------------------- */

/* The number of the doctor's calls; the one of this number is lost, 0: none. */
static int examine_losing(int number) {
    faults_clear();
    size_t calls =
        faults_add((struct faults_aim){.fits = is_doctors,
                                       .skip = number - 1,
                                       .times = number > 0,
                                       .fault = number % 2 ? TPI_FAULT_NOT_SENT : TPI_FAULT_ANSWER_LOST});
    int bad = examine(pool.env);
    if (bad) show_findings();
    assert_int_equal(bad, 0);
    return faults_seen(calls);
}

/* Whichever call loses the connection: it connects again, tries again, and leaves no table. What it waits for
 * it asks for more often on a busy machine, so a later run may end before the number: then its last call is
 * lost. */
TEST_FORGETTING(test_doctor__finds_nothing_wrong_and_leaves_no_table_whichever_call_is_lost) {
    enum { POINTS = 6 };
    int all = examine_losing(0);
    assert_true(all > 100);
    for (int i = 0; i <= POINTS; i++) {
        int number = 1 + i * (all - 1) / POINTS, seen = examine_losing(number);
        for (; seen < number; seen = examine_losing(number))
            number = seen;
        assert_true(seen > number);
    }
}

/* ---- Main ---------------------------------------------------------------------------------------------- */

static int open_pool(void **state) {
    (void)state;
    pool_open_bare(NULL);
    faults_open();
    return 0;
}

static int close_pool(void **state) {
    (void)state;
    pool_close();
    return 0;
}

int main(void) {
    return test_main("doctor", open_pool, close_pool);
}
