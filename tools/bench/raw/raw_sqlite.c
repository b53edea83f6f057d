/* The statements of taskpool over libsqlite3 itself. One session is one connection to the file, with the
 * settings that taskpool's driver profile asks for. Read raw.h first. */
#include "raw.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statement.h"

enum { BUSY_MS = 60000 };

/* Columns of hold_take; any other statement begins with the id. */
enum { PACKED = 2, COLUMNS = 3 };

struct ready {
    const char *name;
    struct statement statement;
    sqlite3_stmt *stmt;
};

struct raw_session {
    sqlite3 *db;
    struct ready enqueue, lanes, claim, read, move, move_delete, take, hold, hold_delete, one, one_delete;
};

static void check(const struct raw_session *session, int code, const char *what) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        raw_die("%s: %s", what, sqlite3_errmsg(session->db));
}

static void run(struct raw_session *session, const char *sql) {
    atomic_fetch_add(&raw_statements, 1);
    check(session, sqlite3_exec(session->db, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(struct raw_session *session, struct ready *ready) {
    if (ready->stmt) return ready->stmt;
    statement_read(&ready->statement, "sqlite", ready->name, raw_options.prefix, 1);
    int code = sqlite3_prepare_v3(session->db, ready->statement.text, -1, SQLITE_PREPARE_PERSISTENT,
                                  &ready->stmt, NULL);
    check(session, code, ready->name);
    return ready->stmt;
}

/* Copied, for raw_text has one place for each thread. */
static int bind_one(sqlite3_stmt *stmt, int at, const char *name, const struct raw_values *values) {
    int64_t number = 0;
    if (raw_number(name, values, &number)) return sqlite3_bind_int64(stmt, at, number);
    return sqlite3_bind_text(stmt, at, raw_text(name, values), -1, SQLITE_TRANSIENT);
}

static void bind(const struct raw_session *session, struct ready *ready, const struct raw_values *values) {
    atomic_fetch_add(&raw_statements, 1);
    for (size_t i = 0; i < ready->statement.count; i++)
        check(session, bind_one(ready->stmt, (int)i + 1, ready->statement.names[i], values), ready->name);
}

static size_t change(struct raw_session *session, struct ready *ready, const struct raw_values *values) {
    sqlite3_stmt *stmt = prepare(session, ready);
    bind(session, ready, values);
    check(session, sqlite3_step(stmt), ready->name);
    check(session, sqlite3_reset(stmt), ready->name);
    return (size_t)sqlite3_changes(session->db);
}

/* Of what is packed behind the id (TPI_ROWS_HELD in src/ops/batch.h) a third number is the last when the task
 * is pending and its times are when it was put in. */
static void keep_state(const char *packed, struct raw_task *task) {
    long long created = 0, due = 0, modified = 0;
    int read = sscanf(packed, "%lld,%*d,%*d,%*d,%*d,%*d,%*d,%lld,%lld", &created, &due, &modified);
    const char *state = read == 1 ? "pending" : strchr(packed, '/') + 1;
    snprintf(task->state, sizeof task->state, "%.*s", (int)strcspn(state, "\x1f"), state);
    task->due_at = read == 1 ? created : due;
    task->modified_at = read == 1 ? created : modified;
}

/* Only one that is settled by itself is settled as it was. */
static void keep(sqlite3_stmt *stmt, const struct raw_values *values, struct raw_task *task) {
    bool packed = sqlite3_column_count(stmt) == COLUMNS;
    const char *text = (const char *)sqlite3_column_text(stmt, packed ? PACKED : 0);
    memcpy(task->id, text, RAW_ID_SIZE - 1);
    task->id[RAW_ID_SIZE - 1] = '\0';
    if (packed && values->limit == 1) keep_state(text + RAW_ID_SIZE, task);
}

/* Every column is fetched, as a program would that runs the tasks. tasks NULL: nothing is kept. */
static size_t query(struct raw_session *session, struct ready *ready, const struct raw_values *values,
                    struct raw_task *tasks) {
    sqlite3_stmt *stmt = prepare(session, ready);
    size_t count = 0;
    bind(session, ready, values);
    for (int code = sqlite3_step(stmt); code != SQLITE_DONE; code = sqlite3_step(stmt)) {
        check(session, code, ready->name);
        for (int column = 0; column < sqlite3_column_count(stmt); column++)
            (void)sqlite3_column_text(stmt, column);
        if (tasks) keep(stmt, values, &tasks[count]);
        count++;
    }
    check(session, sqlite3_reset(stmt), ready->name);
    return count;
}

struct raw_session *raw_open(void) {
    struct raw_session *session = calloc(1, sizeof *session);
    if (!session) raw_die("out of memory");
    *session = (struct raw_session){.enqueue = {.name = "enqueue_many"},
                                    .lanes = {.name = "claim_lanes"},
                                    .claim = {.name = "claim_batch"},
                                    .read = {.name = "claim_read"},
                                    .move = {.name = "move_finished_many"},
                                    .move_delete = {.name = "move_delete_many"},
                                    .take = {.name = "hold_take"},
                                    .hold = {.name = "hold_finish_many"},
                                    .hold_delete = {.name = "hold_delete_many"},
                                    .one = {.name = "hold_finish"},
                                    .one_delete = {.name = "hold_delete"}};
    if (sqlite3_open(raw_options.target, &session->db) != SQLITE_OK)
        raw_die("%s cannot be opened", raw_options.target);
    sqlite3_busy_timeout(session->db, BUSY_MS);
    run(session, "PRAGMA journal_mode = WAL");
    run(session, "PRAGMA synchronous = FULL");
    return session;
}

void raw_close(struct raw_session *session) {
    struct ready *all[] = {&session->enqueue,     &session->lanes,       &session->claim,     &session->read,
                           &session->move,        &session->move_delete, &session->take,      &session->hold,
                           &session->hold_delete, &session->one,         &session->one_delete};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sqlite3_finalize(all[i]->stmt);
        statement_free(&all[i]->statement);
    }
    if (sqlite3_close(session->db) != SQLITE_OK) raw_die("the connection cannot be closed");
    free(session);
}

void raw_enqueue(struct raw_session *session, const char *document, size_t count) {
    struct raw_values values = {.document = document};
    run(session, "BEGIN IMMEDIATE");
    raw_expect_rows("enqueue_many", change(session, &session->enqueue, &values), count);
    run(session, "COMMIT");
}

size_t raw_claim(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks) {
    struct raw_values values = {.token = token, .limit = limit};
    if (query(session, &session->lanes, &values, NULL) == 0) return 0;
    size_t marked = change(session, &session->claim, &values);
    size_t count = marked ? query(session, &session->read, &values, tasks) : 0;
    raw_expect_rows("claim_batch", marked, count);
    return count;
}

void raw_settle(struct raw_session *session, const char *token, const struct raw_task *tasks, size_t count) {
    struct raw_values values = {.token = token, .tasks = tasks, .count = count};
    run(session, "BEGIN IMMEDIATE");
    raw_expect_rows("move_finished_many", change(session, &session->move, &values), count);
    raw_expect_rows("move_delete_many", change(session, &session->move_delete, &values), count);
    run(session, "COMMIT");
}

static void move_many(struct raw_session *session, const struct raw_values *values) {
    raw_expect_rows("hold_finish_many", change(session, &session->hold, values), values->count);
    raw_expect_rows("hold_delete_many", change(session, &session->hold_delete, values), values->count);
}

/* These return what they changed. */
static void move_one(struct raw_session *session, const struct raw_values *values) {
    raw_expect_rows("hold_finish", query(session, &session->one, values, NULL), 1);
    raw_expect_rows("hold_delete", query(session, &session->one_delete, values, NULL), 1);
}

/* The lane is known: claims go on with it, until it is empty, without asking which there are. */
size_t raw_hold(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks) {
    struct raw_values values = {.token = token, .limit = limit, .tasks = tasks};
    run(session, "BEGIN IMMEDIATE");
    size_t count = values.count = query(session, &session->take, &values, tasks);
    if (limit == 1) values.task = tasks;
    if (count && limit == 1) move_one(session, &values);
    if (count && limit > 1) move_many(session, &values);
    run(session, "COMMIT");
    return count;
}
