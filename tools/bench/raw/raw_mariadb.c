/* The statements of taskpool over libmariadb itself, prepared in the server. Read raw.h first. */
#include "raw.h"

#include <mysql.h>
#include <stdlib.h>
#include <string.h>

#include "statement.h"

enum {
    PLACES_MAX = RAW_LIST_MAX + STATEMENT_NAMES,
    PASSED_COLUMNS_MAX = 32,
    PASSED_BYTES = 8192 + 1,
    WINDOW_MAX = 10 * RAW_CLAIM_MAX
};

/* A statement that was prepared for a list of that length; another length prepares it anew. */
struct ready {
    const char *name;
    struct statement statement;
    MYSQL_STMT *stmt;
    size_t list;
};

struct raw_session {
    MYSQL *db;
    struct ready enqueue, claim, read, move, move_delete, take, hold, hold_delete;
    bool begun; /* raw_hold's next transaction */
    MYSQL_BIND places[PLACES_MAX];
    int64_t numbers[PLACES_MAX];
};

static void check(const struct ready *ready, int failed) {
    if (failed) raw_die("%s: %s", ready->name, mysql_stmt_error(ready->stmt));
}

static void run(struct raw_session *session, const char *sql) {
    atomic_fetch_add(&raw_statements, 1);
    if (mysql_query(session->db, sql) != 0) raw_die("%s: %s", sql, mysql_error(session->db));
}

static void drop(struct ready *ready) {
    if (ready->stmt) mysql_stmt_close(ready->stmt);
    ready->stmt = NULL;
    statement_free(&ready->statement);
}

static void prepare(struct raw_session *session, struct ready *ready, size_t list) {
    if (ready->stmt && ready->list == list) return;
    drop(ready);
    statement_read(&ready->statement, "mysql", ready->name, raw_options.prefix, list);
    ready->list = list;
    ready->stmt = mysql_stmt_init(session->db);
    if (!ready->stmt) raw_die("out of memory");
    check(ready, mysql_stmt_prepare(ready->stmt, ready->statement.text, strlen(ready->statement.text)));
}

static void bind_text(MYSQL_BIND *place, const char *text, size_t length) {
    *place = (MYSQL_BIND){
        .buffer_type = MYSQL_TYPE_STRING, .buffer = (void *)(uintptr_t)text, .buffer_length = length};
}

static void bind_one(struct raw_session *session, size_t at, const char *name,
                     const struct raw_values *values) {
    MYSQL_BIND *place = &session->places[at];
    if (raw_number(name, values, &session->numbers[at])) {
        *place = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &session->numbers[at]};
    } else {
        const char *text = raw_text(name, values);
        bind_text(place, text, strlen(text));
    }
}

static void execute(struct raw_session *session, struct ready *ready, size_t list,
                    const struct raw_values *values) {
    size_t at = 0;
    atomic_fetch_add(&raw_statements, 1);
    prepare(session, ready, list);
    for (size_t i = 0; i < ready->statement.count; i++) {
        const char *name = ready->statement.names[i];
        bool ids = strcmp(name, "ids") == 0;
        for (size_t k = 0; k < (ids ? list : 1); k++, at++)
            if (ids)
                bind_text(&session->places[at], values->tasks[k].id, RAW_ID_SIZE - 1);
            else
                bind_one(session, at, name, values);
    }
    check(ready, mysql_stmt_bind_param(ready->stmt, session->places));
    check(ready, mysql_stmt_execute(ready->stmt));
}

static size_t change(struct raw_session *session, struct ready *ready, size_t list,
                     const struct raw_values *values) {
    execute(session, ready, list, values);
    return (size_t)mysql_stmt_affected_rows(ready->stmt);
}

/* Every column is fetched, as a program would that runs the tasks. */
static size_t query(struct raw_session *session, struct ready *ready, size_t list,
                    const struct raw_values *values, struct raw_task *tasks) {
    static _Thread_local char passed[PASSED_COLUMNS_MAX][PASSED_BYTES];
    MYSQL_BIND columns[PASSED_COLUMNS_MAX] = {{0}};
    char id[RAW_ID_SIZE] = "";
    size_t count = 0;
    execute(session, ready, list, values);
    unsigned width = mysql_stmt_field_count(ready->stmt);
    if (width > PASSED_COLUMNS_MAX) raw_die("%s: %u columns are too many", ready->name, width);
    columns[0] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = id, .buffer_length = sizeof id};
    for (unsigned i = 1; i < width; i++)
        columns[i] = (MYSQL_BIND){
            .buffer_type = MYSQL_TYPE_STRING, .buffer = passed[i], .buffer_length = PASSED_BYTES};
    check(ready, mysql_stmt_bind_result(ready->stmt, columns));
    check(ready, mysql_stmt_store_result(ready->stmt));
    for (int code = mysql_stmt_fetch(ready->stmt); code != MYSQL_NO_DATA;
         code = mysql_stmt_fetch(ready->stmt)) {
        check(ready, code);
        memcpy(tasks[count++].id, id, RAW_ID_SIZE);
    }
    mysql_stmt_free_result(ready->stmt);
    return count;
}

/* ---- Connecting ---------------------------------------------------------------------------------------- */

/* HOST:PORT:USER:DATABASE, taken apart in place. */
static void connect_to(MYSQL *db, char *target) {
    char *part[4] = {target};
    for (size_t i = 1; i < 4; i++) {
        part[i] = strchr(part[i - 1], ':');
        if (!part[i]) raw_die("--target is HOST:PORT:USER:DATABASE");
        *part[i]++ = '\0';
    }
    unsigned port = (unsigned)strtoul(part[1], NULL, 10);
    if (!mysql_real_connect(db, part[0], part[2], getenv("RAW_PASSWORD"), part[3], port, NULL,
                            CLIENT_FOUND_ROWS))
        raw_die("%s", mysql_error(db));
}

struct raw_session *raw_open(void) {
    struct raw_session *session = calloc(1, sizeof *session);
    char *target = strdup(raw_options.target);
    if (!session || !target) raw_die("out of memory");
    session->enqueue.name = "enqueue_many";
    session->claim.name = "claim_skip";
    session->read.name = "claim_read";
    session->move.name = "move_finished_many";
    session->move_delete.name = "move_delete_many";
    session->take.name = "hold_take";
    session->hold.name = "hold_finish_many";
    session->hold_delete.name = "hold_delete_many";
    session->db = mysql_init(NULL);
    if (!session->db) raw_die("out of memory");
    mysql_options(session->db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    connect_to(session->db, target);
    run(session, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    free(target);
    return session;
}

void raw_close(struct raw_session *session) {
    struct ready *all[] = {&session->enqueue,     &session->claim, &session->read, &session->move,
                           &session->move_delete, &session->take,  &session->hold, &session->hold_delete};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        drop(all[i]);
    mysql_close(session->db);
    free(session);
}

/* ---- What taskpool does ----------------------------------------------------------------------------------
 */

void raw_enqueue(struct raw_session *session, const char *document, size_t count) {
    struct raw_values values = {.document = document};
    run(session, "START TRANSACTION");
    raw_expect_rows("enqueue_many", change(session, &session->enqueue, 1, &values), count);
    run(session, "COMMIT");
}

size_t raw_claim(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks) {
    struct raw_values values = {.token = token, .limit = limit};
    size_t marked = change(session, &session->claim, 1, &values);
    size_t count = marked ? query(session, &session->read, 1, &values, tasks) : 0;
    raw_expect_rows("claim_skip", marked, count);
    return count;
}

void raw_settle(struct raw_session *session, const char *token, const struct raw_task *tasks, size_t count) {
    struct raw_values values = {.token = token, .tasks = tasks, .count = count};
    run(session, "START TRANSACTION");
    raw_expect_rows("move_finished_many", change(session, &session->move, count, &values), count);
    raw_expect_rows("move_delete_many", change(session, &session->move_delete, count, &values), count);
    run(session, "COMMIT");
}

/* The lane is known. Others may hold all that is looked at though more is due: then it looks at more. */
size_t raw_hold(struct raw_session *session, const char *token, size_t limit, struct raw_task *tasks) {
    struct raw_values values = {.token = token, .limit = limit, .window = limit * 2 + 16, .tasks = tasks};
    if (!session->begun) run(session, "START TRANSACTION");
    session->begun = true;
    size_t count = 0;
    for (; count == 0 && values.window <= WINDOW_MAX; values.window *= 8)
        count = query(session, &session->take, 1, &values, tasks);
    if (count) {
        raw_expect_rows("hold_finish_many", change(session, &session->hold, count, &values), count);
        raw_expect_rows("hold_delete_many", change(session, &session->hold_delete, count, &values), count);
    }
    run(session, "COMMIT AND CHAIN");
    return count;
}
