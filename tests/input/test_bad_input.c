/* What users get wrong, on every database: where to connect, as whom, how, and what they hand in. Files and
 * disks: test_bad_disk.c. Connection strings that cannot be read: tests/unit/test_env.c. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/message.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

static char password[200];

static int open_pool(void **state) {
    (void)state;
    pool_open_bare(NULL);
    pool_install();
    dsn_get(pool.dsn, "PWD", password, sizeof password);
    message_hides(password);
    return 0;
}

static int close_pool(void **state) {
    (void)state;
    pool_close();
    return 0;
}

static bool runs_on(const char *database) {
    return strstr(tp_conn_about(pool.a)->dbms_name, database) != NULL;
}

static bool is_file(void) {
    return runs_on("SQLite");
}

/* The pool's connection string with a key set, or taken out. */
static const char *with(const char *key, const char *value) {
    static char dsn[DSN_MAX];
    dsn_with(pool.dsn, key, value, dsn, sizeof dsn);
    return dsn;
}

static void accepts(const char *dsn) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    must(tp_env_open(dsn, &env));
    must(tp_conn_open(env, &conn));
    tp_conn_close(conn);
    tp_env_close(env);
}

/* ---- Where and as whom --------------------------------------------------------------------------------- */

/* Bound and never listened on, so that connecting is refused and nobody else takes it meanwhile. */
static int closed_port(char *text, size_t size) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(text, size, "%d", ntohs(address.sin_port));
    return fd;
}

TEST(test_open__an_unreachable_server_is_told) {
    char port[16];
    if (is_file()) skip();
    int fd = closed_port(port, sizeof port);
    open_fails(with("Port", port), TP_DISCONNECTED, "cannot connect", "check server");
    close(fd);
    open_fails(with("Server", "no.such.host.invalid"), TP_DISCONNECTED, "no.such.host.invalid",
               "check server");
}

static tp_verdict done(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    return TP_RUN_DONE;
}

static void start_fails(const char *dsn, tp_status wanted, const char *wrong, const char *remedy) {
    tp_env *env = NULL;
    tp_worker *worker = NULL;
    tp_worker_options o = TP_WORKER_INIT;
    assert_int_equal(tp_env_open(dsn, &env), TP_OK);
    assert_int_equal(tp_worker_open(env, &o, &worker), TP_OK);
    assert_int_equal(tp_worker_handle(worker, "pay", done, NULL), TP_OK);
    message_is("starting", tp_worker_start(worker), wanted, wrong, remedy);
    tp_worker_close(worker);
    tp_env_close(env);
}

/* A connection is there, as to a server or a proxy that hangs; nobody ever reads what is sent. */
TEST(test_open__a_server_that_says_nothing_is_told) {
    char port[16];
    if (is_file()) skip();
    int fd = closed_port(port, sizeof port);
    assert_int_equal(listen(fd, 16), 0);
    open_fails(with("Port", port), TP_DISCONNECTED, "cannot connect", "check server");
    start_fails(with("Port", port), TP_DISCONNECTED, "cannot connect", "check server");
    close(fd);
}

TEST(test_open__a_wrong_password_is_told_without_the_password) {
    static const char *const wrong[] = {"hunter2-wrong", "hun}ter;2 {x=y", "hun'ter\"2\\", " hunter2 ",
                                        "\xe5\xaf\x86\xe7\xa0\x81hunter2"};
    if (is_file()) skip();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        open_fails(with("PWD", wrong[i]), TP_DISCONNECTED, "cannot connect",
                   "password in the connection string");
        assert_null(strstr(tp_last_error()->text, wrong[i]));
        assert_null(strstr(tp_last_error()->text, "ter"));
    }
    open_fails(with("PWD", ""), TP_DISCONNECTED, "cannot connect", "password in the connection string");
}

TEST(test_open__an_unknown_user_or_database_is_told_by_name) {
    if (is_file()) skip();
    open_fails(with("UID", "nobody_of_this_name"), TP_DISCONNECTED, "nobody_of_this_name",
               "password in the connection string");
    open_fails(with("Database", "no_such_database"), TP_DISCONNECTED, "no_such_database", "database");
}

TEST(test_open__no_database_is_told) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (!runs_on("MariaDB") && !runs_on("MySQL")) skip();
    assert_int_equal(tp_env_open(with("Database", NULL), &env), TP_OK);
    assert_int_equal(tp_conn_open(env, &conn), TP_OK);
    message_is("the schema of no database", tp_schema_check(conn), TP_MISUSE, "no database is named",
               "add Database= to the connection string");
    tp_conn_close(conn);
    tp_env_close(env);
}

TEST(test_open__a_dialect_of_another_database_is_told) {
    static const char *const dialects[] = {"mysql", "postgres", "sqlite"};
    const char *dbms = tp_conn_about(pool.a)->dbms_name;
    char wrong[100];
    for (size_t i = 0; i < 3; i++) {
        bool own = strcmp(dialects[i], is_file()               ? "sqlite"
                                       : runs_on("PostgreSQL") ? "postgres"
                                                               : "mysql") == 0;
        snprintf(wrong, sizeof wrong, "Dialect=%s, but the database is %s", dialects[i], dbms);
        if (own)
            accepts(with("Dialect", dialects[i]));
        else
            open_fails(with("Dialect", dialects[i]), TP_MISUSE, wrong, "leave Dialect= out");
    }
    accepts(with("Dialect", "oracle"));
    accepts(with("Dialect", "generic"));
}

TEST(test_open__a_driver_that_is_not_installed_is_told) {
    open_fails(with("Driver", "No Such Driver"), TP_UNSUPPORTED, "No Such Driver", "odbcinst -q -d");
    open_fails(with("Driver", "/no/such/driver.so"), TP_UNSUPPORTED, "/no/such/driver.so",
               "install the driver");
    open_fails("DSN=no_such_source;PWD=hunter2", TP_UNSUPPORTED, "data source", "correct Driver= or DSN=");
    open_fails(with("Driver", NULL), TP_UNSUPPORTED, "data source", "correct Driver= or DSN=");
    assert_null(strstr(tp_last_error()->text, "hunter2"));
}

/* 0: the error is the right one. In a child, where no check may jump out. */
static int tells_misspelled_key(const char *dsn) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_status status = tp_env_open(dsn, &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    const char *text = tp_last_error()->text;
    if (status == TP_MISUSE && strstr(text, "unknown key 'Databse'; did you mean Database?")) return 0;
    fprintf(stderr, "Databse= is told as: %s\n", text);
    return 1;
}

/* Drivers pass over keys that they do not know. In a child, because the SQLite driver loses memory when
 * Database is missing, which a sanitizer would hold against us. */
TEST(test_open__a_misspelled_key_of_the_driver_is_told) {
    char value[300], dsn[DSN_MAX];
    int exit_status = 0;
    dsn_get(pool.dsn, "Database", value, sizeof value);
    dsn_with(with("Database", NULL), "Databse", value, dsn, sizeof dsn);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(tells_misspelled_key(dsn));
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_int_equal(exit_status, 0);
}

/* ---- How ----------------------------------------------------------------------------------------------- */

TEST(test_open__a_plan_that_cannot_run_is_told_with_one_that_can) {
    static const char *const plans[] = {"row", "batch", "skip", "cas"};
    const char *dialect = tp_conn_about(pool.a)->dialect;
    char remedy[64], wrong[64];
    snprintf(remedy, sizeof remedy, "leave Plan= out for %s", tp_conn_about(pool.a)->plan);
    for (size_t i = 0; i < 4; i++) {
        snprintf(wrong, sizeof wrong, "plan %s cannot run with dialect %s", plans[i], dialect);
        if (pool_plan_possible(plans[i]))
            accepts(with("Plan", plans[i]));
        else
            open_fails(with("Plan", plans[i]), TP_UNSUPPORTED, wrong, remedy);
    }
}

TEST(test_open__a_driver_that_would_reconnect_by_itself_is_refused) {
    if (!runs_on("MariaDB")) skip();
    open_fails(with("AUTO_RECONNECT", "1"), TP_MISUSE, "AUTO_RECONNECT", "take it out");
    accepts(with("AUTO_RECONNECT", "0"));
}

/* The driver takes any number but 0 for yes, and bit 22 of OPTION for the same key. */
TEST(test_open__reconnecting_is_refused_however_it_is_asked_for) {
    if (!runs_on("MariaDB")) skip();
    open_fails(with("AUTO_RECONNECT", "2"), TP_MISUSE, "AUTO_RECONNECT", "take it out");
    open_fails(with("OPTION", "4194306"), TP_MISUSE, "OPTION", NULL);
}

TEST(test_open__a_session_that_cuts_values_silently_is_refused) {
    if (!runs_on("MariaDB")) skip();
    open_fails(with("INITSTMT", "SET sql_mode=''"), TP_UNSUPPORTED, "STRICT_TRANS_TABLES",
               "CONCAT(@@sql_mode");
    open_fails(with("INITSTMT", "SET sql_mode=ORACLE"), TP_UNSUPPORTED, "STRICT_TRANS_TABLES",
               "CONCAT(@@sql_mode");
}

TEST(test_open__a_session_that_is_not_utf8_is_refused) {
    if (runs_on("MariaDB"))
        open_fails(with("CHARSET", "latin1"), TP_UNSUPPORTED, "utf8mb4", "take CHARSET out");
    else if (runs_on("PostgreSQL"))
        open_fails(with("ConnSettings", "set client_encoding to 'LATIN1'"), TP_UNSUPPORTED, "UTF8",
                   "set client_encoding to 'UTF8'");
    else
        skip();
}

TEST(test_open__another_isolation_level_is_refused) {
    if (!runs_on("PostgreSQL")) skip();
    open_fails(
        with("ConnSettings", "set session characteristics as transaction isolation level serializable"),
        TP_UNSUPPORTED, "read committed", "take other settings out");
}

TEST(test_open__a_driver_told_not_to_begin_transactions_is_refused) {
    if (!is_file()) skip();
    open_fails(with("NoTXN", "1"), TP_MISUSE, "NoTXN", "take it out");
}

TEST(test_write__a_read_only_session_is_told) {
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    if (!runs_on("PostgreSQL")) skip();
    task.handler = "x";
    assert_int_equal(tp_env_open(with("ConnSettings", "set default_transaction_read_only to on"), &env),
                     TP_OK);
    assert_int_equal(tp_conn_open(env, &conn), TP_OK);
    message_is("enqueue", tp_enqueue(conn, &task), TP_UNWRITABLE, "cannot be written", "may be a standby");
    tp_conn_close(conn);
    tp_env_close(env);
}

/* ---- What is handed in -----------------------------------------------------------------------------------
 */

static char params_too_long[TP_PARAMS_MAX + 2], params_longest[TP_PARAMS_MAX + 1];
static char handler_too_long[TP_HANDLER_MAX + 2], key_too_long[TP_KEY_MAX + 2];

static void fill(char *text, size_t size) {
    memset(text, 'x', size - 1);
    text[size - 1] = '\0';
}

static const struct {
    tp_new_task task;
    tp_status status;
    const char *wrong, *remedy;
} bad_tasks[] = {
    {{.size = sizeof(tp_new_task), .handler = "points", .params = params_too_long},
     TP_TOOBIG,
     "params have 1048577 bytes",
     "put its key in params"},
    {{.size = sizeof(tp_new_task), .handler = "points", .params = "caf\xe9"},
     TP_MISUSE,
     "params are not valid UTF-8",
     NULL},
    {{.size = sizeof(tp_new_task), .handler = handler_too_long},
     TP_TOOBIG,
     "handler name has 65 bytes",
     "at most 64"},
    {{.size = sizeof(tp_new_task)}, TP_MISUSE, "needs a handler", NULL},
    {{.size = sizeof(tp_new_task), .handler = ""}, TP_MISUSE, "needs a handler", NULL},
    {{.size = sizeof(tp_new_task), .handler = "a b"}, TP_MISUSE, "handler name", "letters, digits"},
    {{.size = sizeof(tp_new_task), .handler = "it's"}, TP_MISUSE, "handler name", "letters, digits"},
    {{.size = sizeof(tp_new_task), .handler = "\xe5\xb7\xa5"}, TP_MISUSE, "handler name", "letters"},
    {{.size = sizeof(tp_new_task), .handler = "points", .biz_key = key_too_long},
     TP_TOOBIG,
     "biz_key has 129 bytes",
     "at most 128"},
    {{.size = sizeof(tp_new_task), .handler = "points", .dedup_key = key_too_long},
     TP_TOOBIG,
     "dedup_key has 129 bytes",
     "at most 128"},
    {{.size = sizeof(tp_new_task), .handler = "points", .biz_key = "a\xff"},
     TP_MISUSE,
     "biz_key is not valid UTF-8",
     NULL},
    {{.size = sizeof(tp_new_task), .handler = "points", .dedup_key = "a\nb"},
     TP_MISUSE,
     "dedup_key holds a control character",
     NULL},
    {{.size = sizeof(tp_new_task), .handler = "points", .dedup_key = "key "},
     TP_MISUSE,
     "dedup_key ends with a blank",
     "trim it"},
    {{.size = sizeof(tp_new_task), .handler = "points", .priority = 32768},
     TP_MISUSE,
     "priority 32768",
     "-32768 to 32767"},
    {{.size = sizeof(tp_new_task), .handler = "points", .max_failures = -1},
     TP_MISUSE,
     "max_failures is negative",
     NULL},
    {{.size = sizeof(tp_new_task), .handler = "points", .delay_ms = -1}, TP_MISUSE, "negative", NULL},
    {{.size = sizeof(tp_new_task), .handler = "points", .due_at = -1}, TP_MISUSE, "negative", NULL},
    {{.size = sizeof(tp_new_task), .handler = "points", .delay_ms = 1, .due_at = 1},
     TP_MISUSE,
     "delay_ms or due_at",
     "not both"},
    {{.size = sizeof(tp_new_task), .handler = "points", .id = "not-a-uuid"},
     TP_MISUSE,
     "not a UUID",
     "such as"},
    {{.size = 0, .handler = "points"}, TP_MISUSE, "size", "TP_NEW_TASK_INIT"},
};
enum { BAD_TASKS = sizeof bad_tasks / sizeof bad_tasks[0], LIST = 5, BAD_PLACE = 3 };

static void fill_texts(void) {
    fill(params_too_long, sizeof params_too_long);
    fill(params_longest, sizeof params_longest);
    fill(handler_too_long, sizeof handler_too_long);
    fill(key_too_long, sizeof key_too_long);
}

TEST(test_enqueue__what_cannot_be_stored_is_told_and_nothing_is_written) {
    fill_texts();
    for (size_t i = 0; i < BAD_TASKS; i++) {
        tp_new_task task = bad_tasks[i].task;
        message_is("enqueue", tp_enqueue(pool.a, &task), bad_tasks[i].status, bad_tasks[i].wrong,
                   bad_tasks[i].remedy);
    }
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending"), 0);
}

/* The message says which of them, and not one of the others is stored. */
TEST(test_enqueue_many__one_bad_task_stops_them_all_and_is_named) {
    fill_texts();
    for (size_t i = 0; i < BAD_TASKS; i++) {
        tp_new_task tasks[LIST];
        size_t inserted = 77;
        for (size_t k = 0; k < LIST; k++)
            tasks[k] = (tp_new_task){.size = sizeof(tp_new_task), .handler = "points"};
        tasks[BAD_PLACE] = bad_tasks[i].task;
        tp_status status = tp_enqueue_many(pool.a, tasks, LIST, &inserted);
        message_is("enqueue_many", status, bad_tasks[i].status, "task 4 of 5: ", bad_tasks[i].wrong);
        message_is("enqueue_many", status, bad_tasks[i].status, bad_tasks[i].wrong, bad_tasks[i].remedy);
        assert_int_equal(inserted, 77);
    }
    assert_int_equal(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_pending"), 0);
}

TEST(test_enqueue__the_longest_that_is_allowed_is_stored) {
    static char handler[TP_HANDLER_MAX + 1], key[TP_KEY_MAX + 1];
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_batch *batch = NULL;
    fill_texts();
    fill(handler, sizeof handler);
    fill(key, sizeof key);
    task.handler = handler;
    task.params = params_longest;
    task.biz_key = task.dedup_key = key;
    must(tp_enqueue(pool.a, &task));
    assert_int_equal(tp_show(pool.a, task.id, &batch), TP_OK);
    assert_int_equal(strlen(tp_batch_task(batch, 0)->params), TP_PARAMS_MAX);
    assert_string_equal(tp_batch_task(batch, 0)->handler, handler);
    assert_string_equal(tp_batch_task(batch, 0)->dedup_key, key);
    tp_batch_free(batch);
    sql_run(pool.eye, "DELETE FROM tp_pending");
}

int main(void) {
    return test_main("bad_input", open_pool, close_pool);
}
