/* A database file that cannot be opened, written, or made longer. SQLite only: it is the one database whose
 * disk a test can fill without harm. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/message.h"
#include "input/tiny_disk.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum { NOBODY = 65534, FEW = 10, MANY = 1000, PARAMS = 4000 };

static char file[100];
static tp_env *env;
static tp_conn *conn;
static tp_new_task tasks[MANY];
static char params[PARAMS + 1];

/* The driver of TASKPOOL_TEST_DSN, on a file of our own. */
static const char *dsn_of(const char *path) {
    static char dsn[1000];
    dsn_with(getenv("TASKPOOL_TEST_DSN"), "Database", path, dsn, sizeof dsn);
    return dsn;
}

static void fill_tasks(void) {
    memset(params, 'x', PARAMS);
    for (size_t i = 0; i < MANY; i++)
        tasks[i] = (tp_new_task){.size = sizeof(tp_new_task), .handler = "points", .params = params};
}

/* A pool with FEW tasks in it. */
static int open_pool(void **state) {
    (void)state;
    snprintf(file, sizeof file, "%s/pool.db", tiny_disk_path());
    fill_tasks();
    must(tp_env_open(dsn_of(file), &env));
    must(tp_conn_open(env, &conn));
    must(tp_schema_install(conn));
    must(tp_enqueue_many(conn, tasks, FEW, NULL));
    fill_tasks();
    return 0;
}

static int close_pool(void **state) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[150];
    (void)state;
    tp_conn_close(conn);
    tp_env_close(env);
    conn = NULL;
    env = NULL;
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", file, ends[i]);
        (void)unlink(path);
    }
    return 0;
}

#define TEST_ON_POOL(name) TEST_BETWEEN(name, open_pool, close_pool)

static void add(const tp_stat *stat, void *arg) {
    *(int64_t *)arg += stat->count;
}

static int64_t stored(void) {
    int64_t count = 0;
    must(tp_stats(conn, 1, add, &count));
    return count;
}

/* The database's own word that the file is whole. */
static void assert_sound(void) {
    char answer[200];
    sql_text(conn, answer, sizeof answer, "PRAGMA integrity_check");
    assert_string_equal(answer, "ok");
}

/* ---- Full ---------------------------------------------------------------------------------------------- */

TEST_ON_POOL(test_full__a_batch_that_does_not_fit_leaves_nothing_behind) {
    size_t inserted = 77;
    tp_status status = tp_enqueue_many(conn, tasks, MANY, &inserted);
    message_is("enqueue_many", status, TP_UNWRITABLE, "is full", "make room and ask again");
    assert_int_equal(inserted, 77);
    assert_int_equal(stored(), FEW);
    assert_sound();
}

TEST_ON_POOL(test_full__an_explicit_transaction_cannot_be_committed_after_it) {
    must(tp_begin(conn));
    must(tp_enqueue(conn, &tasks[0]));
    message_is("enqueue_many", tp_enqueue_many(conn, tasks + 1, MANY - 1, NULL), TP_UNWRITABLE, "is full",
               NULL);
    message_is("commit", tp_commit(conn), TP_CONFLICT, "rolled back", "do the whole again");
    assert_int_equal(stored(), FEW);
}

TEST_ON_POOL(test_full__a_settle_that_does_not_fit_can_be_asked_again) {
    static const char *const handlers[] = {"points"};
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = handlers;
    request.handler_count = 1;
    must(tp_claim(conn, &request, &batch));
    assert_int_equal(tp_batch_count(batch), FEW);
    tiny_disk_fill(0);
    tp_status status = tp_complete(conn, tp_batch_task(batch, 0));
    message_is("complete", status, TP_UNWRITABLE, "is full", "make room and ask again");
    assert_int_equal(stored(), FEW);
    tiny_disk_empty();
    for (size_t i = 0; i < FEW; i++)
        must(tp_complete(conn, tp_batch_task(batch, i)));
    tp_batch_free(batch);
    assert_int_equal(stored(), FEW);
    assert_sound();
}

/* What the last session leaves in the write-ahead log could be written again without room; a new one begins
 * with the log's index (32 KiB) and nothing. */
static void reopen_with_room(size_t left) {
    tp_conn_close(conn);
    conn = NULL;
    tiny_disk_fill(left);
    must(tp_conn_open(env, &conn));
}

TEST_ON_POOL(test_full__a_claim_that_does_not_fit_takes_nothing) {
    static const char *const handlers[] = {"points"};
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = handlers;
    request.handler_count = 1;
    reopen_with_room(48 * 1024);
    message_is("claim", tp_claim(conn, &request, &batch), TP_UNWRITABLE, "is full",
               "make room and ask again");
    assert_null(batch);
    tiny_disk_empty();
    must(tp_claim(conn, &request, &batch));
    assert_int_equal(tp_batch_count(batch), FEW);
    assert_int_equal(tp_batch_task(batch, 0)->failures, 0);
    tp_batch_free(batch);
}

/* No file yet, and no room for one: SQLite says full, or only that it cannot write. */
TEST_ON_POOL(test_full__an_install_that_does_not_fit_is_told_and_done_later) {
    char other[150];
    tp_env *other_env = NULL;
    tp_conn *other_conn = NULL;
    snprintf(other, sizeof other, "%s/other.db", tiny_disk_path());
    tiny_disk_fill(8192);
    must(tp_env_open(dsn_of(other), &other_env));
    tp_status status = tp_conn_open(other_env, &other_conn);
    if (status == TP_OK) status = tp_schema_install(other_conn);
    if (status != TP_DISCONNECTED) message_is("install", status, TP_DB, "disk", NULL);
    tiny_disk_empty();
    if (!other_conn) must(tp_conn_open(other_env, &other_conn));
    must(tp_schema_install(other_conn));
    tp_conn_close(other_conn);
    tp_env_close(other_env);
    (void)unlink(other);
}

/* ---- Not to be written --------------------------------------------------------------------------------- */

/* Opens the file anew and puts a task in. */
static tp_status open_and_enqueue(void) {
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_env *own_env = NULL;
    tp_conn *own = NULL;
    task.handler = "points";
    tp_status status = tp_env_open(dsn_of(file), &own_env);
    if (status == TP_OK) status = tp_conn_open(own_env, &own);
    if (status == TP_OK) status = tp_enqueue(own, &task);
    tp_conn_close(own);
    tp_env_close(own_env);
    return status;
}

static void assert_refused(tp_status status) {
    if (status != TP_DB && status != TP_DISCONNECTED) fail_msg("%s", tp_status_name(status));
    message_is("a file not to be written", status, status, NULL, "check");
    const char *text = tp_last_error()->text;
    if (!strstr(text, "permissions") && !strstr(text, "file")) fail_msg("no word of the file: %s", text);
}

TEST_ON_POOL(test_read_only__a_disk_is_told) {
    tp_conn_close(conn);
    conn = NULL;
    tiny_disk_read_only(true);
    tp_status status = open_and_enqueue();
    assert_refused(status);
    tiny_disk_read_only(false);
    must(open_and_enqueue());
    must(tp_conn_open(env, &conn));
    assert_int_equal(stored(), FEW + 1);
}

/* Permission bits do not bind root, so a child becomes nobody. */
static int enqueue_as_nobody(void) {
    if (getuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                          setresuid(NOBODY, NOBODY, NOBODY) != 0))
        return 2;
    tp_status status = open_and_enqueue();
    if (status == TP_OK) return 3;
    fprintf(stderr, "as nobody: %s\n", tp_last_error()->text);
    bool told = strstr(tp_last_error()->text, "permissions") || strstr(tp_last_error()->text, "file");
    return told && !strpbrk(tp_last_error()->text, "\r\n") ? 0 : 4;
}

static void enqueue_in_child(mode_t file_mode, mode_t folder_mode) {
    int exit_status = 0;
    tp_conn_close(conn);
    conn = NULL;
    assert_int_equal(chmod(file, file_mode), 0);
    assert_int_equal(chmod(tiny_disk_path(), folder_mode), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(enqueue_as_nobody());
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_int_equal(chmod(file, 0644), 0);
    assert_int_equal(chmod(tiny_disk_path(), 0777), 0);
    assert_true(WIFEXITED(exit_status));
    if (WEXITSTATUS(exit_status) == 3) fail_msg("nobody wrote to a file of mode %o", (unsigned)file_mode);
    assert_int_equal(WEXITSTATUS(exit_status), 0);
    must(tp_conn_open(env, &conn));
    assert_int_equal(stored(), FEW);
}

TEST_ON_POOL(test_read_only__a_file_of_another_user_is_told) {
    if (getuid() != 0) skip();
    enqueue_in_child(0444, 0777);
    enqueue_in_child(0644, 0555);
}

TEST_ON_POOL(test_read_only__a_file_that_may_not_even_be_read_is_told) {
    if (getuid() != 0) skip();
    enqueue_in_child(0600, 0777);
}

/* ---- Not to be opened ---------------------------------------------------------------------------------- */

TEST(test_open__a_folder_is_no_database) {
    open_fails(dsn_of(tiny_disk_path()), TP_DISCONNECTED, "cannot connect", "file");
}

TEST(test_open__a_file_in_a_folder_that_is_not_there_is_told) {
    open_fails(dsn_of("/no/such/folder/pool.db"), TP_DISCONNECTED, "cannot connect", "file");
}

TEST(test_open__a_file_that_is_no_database_is_told) {
    char path[150];
    tp_env *own_env = NULL;
    tp_conn *own = NULL;
    snprintf(path, sizeof path, "%s/letter.txt", tiny_disk_path());
    FILE *letter = fopen(path, "w");
    assert_non_null(letter);
    for (int i = 0; i < 100; i++)
        fputs("Dear Sir or Madam, this is not a database.\n", letter);
    fclose(letter);
    must(tp_env_open(dsn_of(path), &own_env));
    tp_status status = tp_conn_open(own_env, &own);
    if (status == TP_OK) status = tp_schema_install(own);
    if (status != TP_DB && status != TP_DISCONNECTED) fail_msg("%s", tp_status_name(status));
    message_is("no database", status, status, "not a database", NULL);
    tp_conn_close(own);
    tp_env_close(own_env);
    (void)unlink(path);
}

/* The last, because the disk stays larger. */
TEST_ON_POOL(test_full__the_same_batch_asked_again_is_stored_once_there_is_room) {
    size_t inserted = 0;
    message_is("enqueue_many", tp_enqueue_many(conn, tasks, MANY, &inserted), TP_UNWRITABLE, "is full", NULL);
    tiny_disk_resize(16 * 1024);
    must(tp_enqueue_many(conn, tasks, MANY, &inserted));
    assert_int_equal(inserted, MANY);
    assert_int_equal(stored(), FEW + MANY);
    must(tp_enqueue_many(conn, tasks, MANY, &inserted));
    assert_int_equal(inserted, 0);
    assert_int_equal(stored(), FEW + MANY);
    assert_sound();
}

static int end_of_disk(void **state) {
    (void)state;
    tiny_disk_unmount();
    return 0;
}

int main(void) {
    pool.entry = getenv("TASKPOOL_TEST_ENTRY");
    const char *required = getenv("TASKPOOL_TEST_REQUIRE");
    if (tiny_disk_mount()) return test_main("bad_disk", NULL, end_of_disk);
    printf("SKIPPED: this user may not mount a small disk; run the test as root\n");
    return required && strcmp(required, "1") == 0 ? 1 : 77;
}
