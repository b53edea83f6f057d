/* What other drivers and servers do that those here do not, by wrapped calls and changed profiles over a real
 * database: pieces of text that end early, numbers with an exponent, objects that do not compile, cursors
 * that run out, waits that only the driver ends, a machine that sleeps, a server that accepts and says
 * nothing. */
#include <arpa/inet.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/uuid.h"
#include "ops/batch.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "support/faults.h"
#include "support/session.h"
#include "support/sql.h"
#include "support/tasks.h"

/* ---- What calls are made to do ------------------------------------------------------------------------- */

static struct {
    int cut;             /* pieces of text end so many bytes early */
    int cuts;            /* how many did */
    const char *unmade;  /* statements with these words are not run, and succeed */
    bool warns;          /* with a warning */
    SQLHSTMT warned;     /* which has it */
    int64_t asleep_ns;   /* the machine was, which the monotonic clock does not know */
    SQLSMALLINT long_as; /* type of the last parameter bound with this length */
    SQLULEN long_length;
} habit;

/* As a driver does that counts characters: the room is not filled. */
WRAPPED(SQLRETURN, SQLGetData, SQLHSTMT stmt, SQLUSMALLINT column, SQLSMALLINT type, SQLPOINTER value,
        SQLLEN room, SQLLEN *left) {
    SQLLEN less = room > habit.cut + 8 ? room - habit.cut : room;
    SQLRETURN answer = __real_SQLGetData(stmt, column, type, value, less, left);
    habit.cuts += less != room && answer == SQL_SUCCESS_WITH_INFO;
    return answer;
}

WRAPPED(SQLRETURN, SQLExecDirect, SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER length) {
    if (!habit.unmade || !strstr((const char *)text, habit.unmade))
        return __real_SQLExecDirect(stmt, text, length);
    habit.warned = habit.warns ? stmt : NULL;
    return habit.warns ? SQL_SUCCESS_WITH_INFO : SQL_SUCCESS;
}

WRAPPED(SQLRETURN, SQLGetDiagRec, SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT i, SQLCHAR *state,
        SQLINTEGER *native, SQLCHAR *text, SQLSMALLINT size, SQLSMALLINT *length) {
    if (!habit.warned || handle != habit.warned)
        return __real_SQLGetDiagRec(type, handle, i, state, native, text, size, length);
    snprintf((char *)state, 6, "HY000");
    snprintf((char *)text, (size_t)size, "ORA-24344: success with compilation error");
    *native = 24344;
    return SQL_SUCCESS;
}

WRAPPED(SQLRETURN, SQLBindParameter, SQLHSTMT stmt, SQLUSMALLINT i, SQLSMALLINT way, SQLSMALLINT c_type,
        SQLSMALLINT type, SQLULEN size, SQLSMALLINT digits, SQLPOINTER value, SQLLEN length,
        SQLLEN *indicator) {
    if (habit.long_length && (SQLULEN)length == habit.long_length) habit.long_as = type;
    return __real_SQLBindParameter(stmt, i, way, c_type, type, size, digits, value, length, indicator);
}

WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *out) {
    int answer = __real_clock_gettime(clock, out);
    if (clock == CLOCK_MONOTONIC) return answer;
    out->tv_sec += (time_t)(habit.asleep_ns / 1000000000);
    return answer;
}

/* ---- A connection with another profile ------------------------------------------------------------------
 */

enum { RULES_MAX = 64 };
static struct tpi_driver other;
static struct tpi_rule rules[RULES_MAX + 1];

static struct tpi_driver *change_profile(tp_conn *conn) {
    other = *conn->store.link.driver;
    conn->store.link.driver = &other;
    return &other;
}

/* One code of Oracle's before the driver's own. */
static void add_code(tp_conn *conn, int32_t native) {
    const struct tpi_driver *oracle = tpi_driver_for_module("SQORA");
    struct tpi_driver *driver = change_profile(conn);
    sure(driver->rule_count <= RULES_MAX, "more rules than there is room for");
    rules[0] = (struct tpi_rule){.native = native, .class = tpi_driver_classify(oracle, "HY000", native, "")};
    memcpy(&rules[1], driver->rules, driver->rule_count * sizeof *rules);
    driver->rules = rules;
    driver->rule_count++;
}

static int fresh(void **state) {
    memset(&habit, 0, sizeof habit);
    return pool_fresh(state);
}

/* What a test changed in the session's profile ends with the session. */
static int calm(void **state) {
    (void)state;
    memset(&habit, 0, sizeof habit);
    return tp_conn_reopen(pool.a) != TP_OK || tp_conn_reopen(pool.b) != TP_OK;
}

#define TEST_CALM(name) TEST_BETWEEN(name, fresh, calm)

static void put(const char *params, char id[ID]) {
    tp_new_task task = task_new(params);
    must(tp_enqueue(pool.a, &task));
    memcpy(id, task.id, ID);
}

/* ---- Text -----------------------------------------------------------------------------------------------
 */

static char *long_text(size_t length) {
    char *text = malloc(length + 1);
    sure(text, "no memory");
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + i % 26);
    text[length] = '\0';
    return text;
}

TEST_CALM(test_habits__a_piece_of_text_may_end_before_its_room) {
    enum { LENGTH = 100000 };
    char id[ID], *text = long_text(LENGTH);
    const tp_task *task = NULL;
    const char *params = NULL;
    size_t length = 0;
    habit.cut = 3;
    put(text, id);
    tp_batch *batch = claim_this(pool.a, id, &task);
    must(tp_task_params(pool.a, task, &params, &length));
    expect_number(length, LENGTH);
    assert_string_equal(params, text);
    sure(habit.cuts, "the text came in one piece");
    tp_batch_free(batch);
    free(text);
}

TEST_CALM(test_habits__short_text_is_bound_as_such_where_long_may_not_stand) {
    static const size_t lengths[] = {10, 4000, 4001};
    change_profile(pool.a)->varchar_max = 4000;
    for (size_t i = 0; i < 3; i++) {
        char id[ID], *text = long_text(lengths[i]);
        tp_batch *shown = NULL;
        habit.long_length = lengths[i];
        put(text, id);
        expect_number(habit.long_as, lengths[i] <= 4000 ? SQL_VARCHAR : SQL_LONGVARCHAR);
        must(tp_show(pool.eye, id, &shown));
        assert_string_equal(tp_batch_task(shown, 0)->params, text);
        tp_batch_free(shown);
        free(text);
    }
}

/* ---- Numbers --------------------------------------------------------------------------------------------
 */

static tp_status read_computed(const char *expression, int64_t *number) {
    static const struct tpi_column exact[] = TPI_COLUMN_ONLY(EXACT);
    char sql[100];
    struct tpi_stmt stmt;
    snprintf(sql, sizeof sql, "SELECT %s", expression);
    must(tpi_stmt_prepare(&pool.a->store.link, "now", sql, &stmt));
    must(tpi_stmt_execute(&stmt));
    must(tpi_stmt_fetch(&stmt));
    tp_status status = tpi_record_read(&stmt, 1, exact, NULL, number);
    tpi_stmt_close(&stmt);
    tpi_stmt_free(&stmt);
    return status;
}

TEST_CALM(test_habits__a_number_with_an_exponent_is_refused) {
    int64_t number = 0;
    must(read_computed("1700000000123", &number));
    expect_number(number, 1700000000123);
    /* A float of this size comes with one from every driver. */
    expect(TP_DB, read_computed("1.7e30 * 1e0", &number));
    expect_text("which is not a whole one");
}

/* ---- Workers --------------------------------------------------------------------------------------------
 */

/* Where '' is NULL, and the library writes NULL for it everywhere. */
TEST_CALM(test_habits__a_worker_of_empty_names_is_told_of) {
    tp_worker_row presence = {.name = "", .host = "", .handlers = "", .plan = "", .state = ""};
    tpi_uuid_random(presence.id);
    must(tpi_worker_heartbeat(pool.a, &presence, NULL));
    expect_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_worker WHERE id = '%s' AND state = 'running'",
                             presence.id),
                  1);
}

/* ---- Statements -----------------------------------------------------------------------------------------
 */

static void run_many_statements(void) {
    int64_t now = 0;
    tp_batch *batch = NULL;
    must(tpi_ask_now(pool.a, &now));
    put("x", (char[ID]){0});
    batch = claim_up_to(pool.a, 1);
    must(tp_release(pool.a, tp_batch_task(batch, 0), 0));
    tp_batch_free(batch);
    batch = claim_up_to(pool.a, 2);
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        must(tp_complete(pool.a, tp_batch_task(batch, i)));
    tp_batch_free(batch);
    must(tp_schema_check(pool.a));
}

TEST_CALM(test_habits__no_more_is_kept_prepared_than_the_profile_says) {
    must(tp_conn_reopen(pool.a));
    run_many_statements();
    sure(pool.a->store.prepared_count > 4, "the statements are too few");
    must(tp_conn_reopen(pool.a));
    change_profile(pool.a)->prepared_max = 4;
    for (int i = 0; i < 3; i++) {
        run_many_statements();
        assert_true(pool.a->store.prepared_count <= 4);
    }
}

/* Of pool.a: the others are spared. */
static const struct faults_saying no_cursor = {"HY000", 1000, "ORA-01000: maximum open cursors exceeded"};

TEST_CALM(test_habits__when_cursors_run_out_all_are_given_back) {
    tp_new_task task = task_new("x");
    add_code(pool.a, 1000);
    must(tp_schema_check(pool.a));
    sure(pool.a->store.prepared_count, "nothing is prepared");
    (void)faults_add((struct faults_aim){
        .function = "SQLPrepare", .times = INT_MAX, .fault = TPI_FAULT_NOT_SENT, .says = &no_cursor});
    tp_status status = tp_enqueue(pool.a, &task);
    faults_clear();
    expect(TP_CONFLICT, status);
    assert_true(tp_status_may_retry(status));
    expect_number(pool.a->store.prepared_count, 0);
    must(tp_enqueue(pool.a, &task));
}

/* ---- Waiting --------------------------------------------------------------------------------------------
 */

static tp_status complete_it(tp_conn *conn, void *task) {
    return tp_complete(conn, task);
}

/* Among the drivers here only psqlODBC heeds SQL_ATTR_QUERY_TIMEOUT; Oracle's is documented to. */
TEST_CALM(test_habits__the_driver_ends_a_wait_that_no_setting_ends) {
    const tp_task *task = NULL;
    struct aside aside;
    bool oracle = strcmp(tp_conn_about(pool.a)->profile, "sqora") == 0;
    if (!pool_on_postgres() && !oracle) skip();
    tp_batch *batch = put_and_claim(pool.a, &task);
    change_profile(pool.a)->change_timeout_s = 1;
    if (!oracle) sql_run(pool.a, "SET lock_timeout = 0");
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_pending SET shard = 1 WHERE id = '%s'", task->id), 1);
    aside_start(&aside, pool.a, complete_it, (void *)(uintptr_t)task);
    expect(TP_TIMEOUT, aside_end(&aside));
    must(tp_rollback(pool.b));
    must(tp_conn_reopen(pool.a)); /* a busy machine may need longer than that second */
    must(tp_complete(pool.a, task));
    tp_batch_free(batch);
}

/* ---- Claims ---------------------------------------------------------------------------------------------
 */

static char first_id[ID];

static bool marks(const struct tpi_link *link, const char *function) {
    const char *name = link->statement;
    return name && (strcmp(name, "claim_mark_many") == 0 || strcmp(name, "claim_mark") == 0) &&
           strcmp(function, "SQLExecute") == 0;
}

/* Between the lock and the mark: by the claim's own transaction, since nobody else can. */
static void change_the_row(struct tpi_link *link, void *arg) {
    (void)arg;
    (void)sql_raw(link->dbc,
                  "UPDATE tp_pending SET id = '00000000-0000-4000-8000-00000000000f' WHERE id = '%s'",
                  first_id);
}

/* Gives whether something was marked. */
static bool claim_what_changes(const char *plan) {
    tp_claim_request request = claim_request(10);
    tp_batch *batch = NULL;
    char ids[2][ID];
    task_put_many(2, ids);
    memcpy(first_id, ids[0], ID);
    request.plan = plan;
    faults_clear();
    size_t mark = faults_add((struct faults_aim){.fits = marks, .times = 1, .meet = change_the_row});
    tp_status status = tp_claim(pool.a, &request, &batch);
    bool met = faults_hits(mark);
    faults_clear();
    if (status == TP_CONFLICT) status = tp_claim(pool.a, &request, &batch);
    expect(TP_OK, status);
    expect_number(tp_batch_count(batch), met && strcmp(plan, "row") == 0 ? 1 : 2);
    tp_batch_free(batch);
    return met;
}

TEST_CALM(test_habits__a_claim_whose_locked_rows_changed_may_be_asked_again) {
    bool generic = pool_on_generic();
    if (generic) skip(); /* it locks nothing */
    bool met = pool_plan_possible("skip") && claim_what_changes("skip");
    sure(!prepared() || met, "nothing was marked");
    sure(claim_what_changes("row"), "nothing was marked");
}

/* ---- The schema -----------------------------------------------------------------------------------------
 */

static void make_functions_but_one(const char *prefix) {
    SQLHDBC dbc = pool.eye->store.link.dbc;
    sure(sql_raw(dbc, "CREATE FUNCTION %snow RETURN NUMBER IS BEGIN RETURN 0; END", prefix), "%s",
         sql_reason());
    sure(sql_raw(dbc, "CREATE FUNCTION %sutc(ms IN NUMBER) RETURN NUMBER IS BEGIN RETURN ms; END", prefix),
         "%s", sql_reason());
}

/* As on Oracle, where a function that does not compile is made all the same. */
static tp_status install_without_functions(void) {
    static const char *const tables[] = {"pending",  "finished", "failed", "history", "once",
                                         "schedule", "worker",   "pause",  "meta"};
    char dsn[DSN_MAX], prefix[TP_PREFIX_MAX + 1], function[40];
    SQLHDBC eye = pool.eye->store.link.dbc;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    snprintf(prefix, sizeof prefix, "hb%d_", (int)getpid());
    snprintf(function, sizeof function, " FUNCTION %s", prefix);
    dsn_with(pool.dsn, "Prefix", prefix, dsn, sizeof dsn);
    dsn_with(dsn, "Dialect", "oracle", dsn, sizeof dsn);
    make_functions_but_one(prefix);
    must(tp_env_open(dsn, &env));
    must(tp_conn_open(env, &conn));
    if (habit.warns) add_code(conn, 24344);
    habit.unmade = function;
    tp_status status = tp_schema_install(conn);
    habit.unmade = NULL;
    (void)sql_raw(eye, "DROP VIEW %stasks", prefix);
    (void)sql_raw(eye, "DROP FUNCTION %snow", prefix);
    (void)sql_raw(eye, "DROP FUNCTION %sutc", prefix);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        (void)sql_raw(eye, "DROP TABLE %s%s", prefix, tables[i]);
    tp_conn_close(conn);
    tp_env_close(env);
    return status;
}

TEST_CALM(test_habits__a_warning_that_a_function_does_not_compile_is_an_error) {
    if (!prepared()) skip();
    habit.warns = true;
    expect(TP_SCHEMA, install_without_functions());
    expect_text("does not compile");
}

TEST_CALM(test_habits__functions_that_do_not_work_are_told_without_a_warning) {
    if (!prepared()) skip();
    expect(TP_SCHEMA, install_without_functions());
    expect_text("_new_id");
}

/* ---- The carried clock ----------------------------------------------------------------------------------
 */

TEST_CALM(test_habits__the_carried_clock_goes_on_while_the_machine_sleeps) {
    int64_t before = 0, after = 0;
    if (!pool_on_generic()) skip();
    must(tpi_store_now(&pool.a->store, &before));
    habit.asleep_ns = INT64_C(20000000000);
    must(tpi_store_now(&pool.a->store, &after));
    assert_true(after - before >= 20000);
}

static void fall_asleep(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    if (event == TP_EVENT_CLAIMED) habit.asleep_ns = INT64_C(600000000000);
}

static tp_verdict count_call(tp_run *run, void *calls) {
    (void)run;
    ++*(int *)calls;
    return TP_RUN_DONE;
}

/* It sleeps when the database has given the tasks and the worker has not yet read its clock for them. */
TEST_CALM(test_habits__no_handler_is_called_by_a_lease_that_the_machine_has_slept_over) {
    int calls = 0;
    char id[ID];
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    task_put("x", id);
    options.on_event = fall_asleep;
    options.lease_ms = 300000;
    must(tp_worker_open(pool.env, &options, &worker));
    must(tp_worker_handle(worker, pool.handler, count_call, &calls));
    must(tp_worker_step(worker, NULL));
    expect_number(calls, 0);
    expect_row(id, "pending", "pending", 0);
    tp_worker_close(worker);
}

/* ---- Connecting -----------------------------------------------------------------------------------------
 */

/* Accepts and says nothing. */
struct mute {
    int listener, accepted;
    char dsn[DSN_MAX];
    pthread_t thread;
    atomic_bool ended;
};

static void mute_open(struct mute *mute) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    char port[8];
    mute->listener = socket(AF_INET, SOCK_STREAM, 0);
    bool listens = bind(mute->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                   listen(mute->listener, 1) == 0 &&
                   getsockname(mute->listener, (struct sockaddr *)&at, &length) == 0;
    sure(listens, "cannot listen");
    snprintf(port, sizeof port, "%d", ntohs(at.sin_port));
    dsn_with(pool.dsn, "Server", "127.0.0.1", mute->dsn, sizeof mute->dsn);
    dsn_with(mute->dsn, "Port", port, mute->dsn, sizeof mute->dsn);
}

static void *connect_to_it(void *arg) {
    struct mute *mute = arg;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (tp_env_open(mute->dsn, &env) == TP_OK && tp_conn_open(env, &conn) == TP_OK) tp_conn_close(conn);
    tp_env_close(env);
    atomic_store(&mute->ended, true);
    return NULL;
}

TEST_CALM(test_habits__a_server_that_says_nothing_holds_up_no_other) {
    static struct mute mute;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (pool_on_sqlite()) skip();
    mute_open(&mute);
    must(tp_env_open(pool.dsn, &env));
    sure(pthread_create(&mute.thread, NULL, connect_to_it, &mute) == 0, "no thread");
    mute.accepted = accept(mute.listener, NULL, NULL);
    must(tp_conn_open(env, &conn));
    tp_conn_close(conn);
    bool still_waits = !atomic_load(&mute.ended);
    close(mute.listener);
    shutdown(mute.accepted, SHUT_RDWR);
    close(mute.accepted);
    pthread_join(mute.thread, NULL);
    tp_env_close(env);
    assert_true(still_waits);
}

int main(void) {
    pool_open();
    faults_open();
    faults_spare(&pool.b->store.link);
    faults_spare(&pool.eye->store.link);
    int code = test_main("habits", NULL, NULL);
    pool_close();
    return code;
}
