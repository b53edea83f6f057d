/* The pool's tables: which version is there, and the numbered scripts that bring it up to date. It
 * must not know what the tables are for. Read next: store/render.h. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/doctor.h"
#include "store/record.h"
#include "store/render.h"

/* What came after BASE_VERSION hinders no library that knows BASE_VERSION only: the tables still say that
 * this is what must be known, and beside it how far they have come. */
enum { SCHEMA_VERSION = 9, BASE_VERSION = 2, TRIES = 50, LOCKED_TRIES = 3 };

int tpi_schema_pause_ms = 2000;

int tp_schema_version(void) {
    return SCHEMA_VERSION;
}

struct versions {
    long schema, latest;
};

static tp_status read_versions(struct tpi_stmt *stmt, struct versions *versions) {
    enum { SIZE = 32 };
    struct row {
        char name[SIZE];
        int64_t value;
    } row = {0};
    static const struct tpi_column columns[] = {TPI_COLUMN(CHARS, struct row, name),
                                                TPI_COLUMN(NUMBER, struct row, value), TPI_COLUMN_END};
    tp_status status = TP_OK;
    while ((status = tpi_record_next(stmt, columns, NULL, &row)) == TP_OK)
        *(strcmp(row.name, "schema") == 0 ? &versions->schema : &versions->latest) = (long)row.value;
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* 0: no tables. More than SCHEMA_VERSION: tables that a newer library must know. */
static tp_status read_version(struct tpi_store *store, long *version) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct versions versions = {0};
    *version = 0;
    tp_status status = tpi_store_query(store, TPI_S_meta_version, &args, &stmt);
    if (status == TP_OK) status = read_versions(stmt, &versions);
    if (status < TP_OK) return status == TP_SCHEMA ? TP_OK : status;
    *version = versions.schema;
    if (versions.schema >= BASE_VERSION && versions.schema < versions.latest &&
        versions.schema <= SCHEMA_VERSION)
        *version = versions.latest < SCHEMA_VERSION ? versions.latest : SCHEMA_VERSION;
    return TP_OK;
}

static tp_status compare(const struct tpi_store *store, long version) {
    if (version == SCHEMA_VERSION) return TP_OK;
    if (version == 0)
        return tpi_error(TP_SCHEMA,
                         "no taskpool tables with prefix %s are there; run 'taskpool schema install'",
                         store->prefix);
    if (version > SCHEMA_VERSION)
        return tpi_error(TP_SCHEMA,
                         "the taskpool tables with prefix %s are of version %ld, and this library knows "
                         "version %d; install a newer taskpool",
                         store->prefix, version, SCHEMA_VERSION);
    return tpi_error(TP_SCHEMA,
                     "the taskpool tables with prefix %s are of version %ld, and this library needs version "
                     "%d; run 'taskpool schema install'",
                     store->prefix, version, SCHEMA_VERSION);
}

/* A query that names every table finds out whether one is missing. A user who may not read them all, such as
 * a producer, gets no further than the version. */
static tp_status touch_tables(struct tpi_store *store) {
    struct tpi_args args = {0};
    bool found = false;
    tp_status status = tpi_store_exists(store, TPI_S_schema_touch, &args, &found);
    return status == TP_DB && tpi_link_failed_as(TPI_CLASS_DENIED) ? TP_OK : status;
}

tp_status tpi_schema_version(tp_conn *conn, long *version) {
    tp_status status = tpi_conn_ready_alone(conn, "tp_schema_check");
    return status == TP_OK ? read_version(&conn->store, version) : status;
}

tp_status tp_schema_check(tp_conn *conn) {
    long version = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_schema_check");
    if (status == TP_OK) status = read_version(&conn->store, &version);
    if (status == TP_OK) status = compare(&conn->store, version);
    return status == TP_OK ? touch_tables(&conn->store) : status;
}

/* Where a failed script is not undone, a second run meets what the first one made. Triggers take a privilege
 * that an owner of tables may lack, and only hinder him: without them the pool works. */
static bool tolerated(const struct tpi_store *store, const char *statement) {
    bool trigger = strstr(statement, " TRIGGER ") && !strstr(statement, "TABLE");
    if (trigger && tpi_link_failed_as(TPI_CLASS_DENIED)) return true;
    if (store->caps & TPI_CAP_DDL_ROLLS_BACK) return false;
    return tpi_link_failed_as(TPI_CLASS_OBJECT_EXISTS) || tpi_link_failed_as(TPI_CLASS_EXISTS);
}

/* One transaction where the database can undo DDL. */
static tp_status run_script(tp_conn *conn, const struct tpi_script *script, const char *long_text) {
    struct tpi_store *store = &conn->store;
    struct tpi_scope scope;
    bool whole = store->caps & TPI_CAP_DDL_ROLLS_BACK;
    tp_status status = whole ? tpi_scope_begin(conn, &scope) : TP_OK;
    for (size_t i = 0; i < script->statement_count && status == TP_OK; i++) {
        struct tpi_buf sql = {0};
        tpi_render_script(script->statements[i], store->prefix, NULL, NULL, &sql);
        status = tpi_store_define_text(store, "schema_install", &sql, long_text);
        tpi_buf_free(&sql);
        if (status < TP_OK && tolerated(store, script->statements[i])) status = TP_OK;
    }
    return whole ? tpi_scope_end(conn, &scope, status) : status;
}

/* Functions that are there and answer are left as they are, whoever made them. */
static bool functions_answer(struct tpi_store *store, const struct tpi_script *script) {
    struct tpi_args args = {0};
    bool found = false;
    if (!(store->caps & TPI_CAP_FUNCTIONS) || !strstr(script->file, "_functions.")) return false;
    return tpi_store_exists(store, TPI_S_functions_answer, &args, &found) == TP_OK && found;
}

/* A function that does not compile is made all the same. */
static tp_status check_functions(struct tpi_store *store) {
    struct tpi_args args = {0};
    bool found = false;
    if (!(store->caps & TPI_CAP_FUNCTIONS)) return TP_OK;
    tp_status status = tpi_store_exists(store, TPI_S_functions_answer, &args, &found);
    if (status == TP_OK || tp_status_may_retry(status)) return status;
    struct tpi_diag diag = store->link.diag;
    return tpi_error_db(
        TP_SCHEMA, diag.state, diag.native, "functions_answer",
        "a function of the schema was made but does not work: %s; it may lack a privilege of its owner, see "
        "USER_ERRORS",
        diag.text);
}

static tp_status run_scripts(tp_conn *conn, long version) {
    struct tpi_store *store = &conn->store;
    struct tpi_buf long_text = {0};
    tp_status status = TP_OK;
    if (store->dialect->long_text) status = tpi_store_long_text(store, &long_text);
    for (const struct tpi_script *script = store->dialect->scripts; script->file && status == TP_OK; script++)
        if (script->version > version && !functions_answer(store, script))
            status = run_script(conn, script, long_text.data);
    tpi_buf_free(&long_text);
    return status == TP_OK ? check_functions(store) : status;
}

/* From which version on scripts are to run; SCHEMA_VERSION: none. A table that went missing comes back by
 * running them all. */
static tp_status find_start(struct tpi_store *store, long *version) {
    tp_status status = read_version(store, version);
    if (status == TP_OK && *version > SCHEMA_VERSION) return compare(store, *version);
    if (status != TP_OK || *version < SCHEMA_VERSION) return status;
    status = touch_tables(store);
    if (status == TP_SCHEMA) *version = 0;
    return status == TP_SCHEMA ? TP_OK : status;
}

static tp_status once_and_roll_back(tp_conn *conn, const char *key) {
    tp_status status = tp_begin(conn);
    if (status != TP_OK) return status;
    status = tp_once(conn, key, NULL);
    tp_status undone = tp_rollback(conn);
    return status >= TP_OK && undone < TP_OK ? undone : status;
}

/* With an older version in them no connection uses the tables, and the next install checks them again. */
static tp_status refuse_tables(tp_conn *conn) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, "schema");
    tpi_args_text(&args, TPI_P_value, "1");
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_meta_set, &args);
    if (status < TP_OK) return status;
    return tpi_error(
        TP_UNSUPPORTED,
        "what is rolled back stays in the tables: their storage engine has no transactions. Drop "
        "them, make one that has them the default, and run 'taskpool schema install' again");
}

/* Some servers make tables that know no transactions where nothing says which engine to use. */
static tp_status check_rollback(tp_conn *conn) {
    char key[TPI_UUID_SIZE];
    tpi_uuid_random(key);
    tp_status status = once_and_roll_back(conn, key);
    if (status == TP_OK) status = once_and_roll_back(conn, key);
    return status == TP_EXISTS ? refuse_tables(conn) : status;
}

/* Two sessions that install at once get in each other's way, at worst at each table; the loser starts again.
 * So does, twice, who met a transaction that uses a table which is to be changed: while it waited all others
 * waited behind it, so they go on for a while first. */
static bool starts_again(tp_status status, int *locked) {
    if (status == TP_CONFLICT) return true;
    if (status != TP_TIMEOUT) return status < TP_OK && tpi_link_failed_as(TPI_CLASS_OBJECT_EXISTS);
    if (++*locked == LOCKED_TRIES) return false;
    (void)poll(NULL, 0, tpi_schema_pause_ms);
    return true;
}

tp_status tp_schema_install(tp_conn *conn) {
    int locked = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_schema_install");
    for (int i = 0; i < TRIES && status == TP_OK; i++) {
        long version = 0;
        status = find_start(&conn->store, &version);
        if (status == TP_OK && version == SCHEMA_VERSION) return check_rollback(conn);
        if (status == TP_OK) {
            tpi_store_forget(&conn->store);
            status = run_scripts(conn, version);
        }
        if (i + 1 < TRIES && starts_again(status, &locked)) status = TP_OK;
    }
    if (status == TP_OK) status = tp_schema_check(conn);
    return status == TP_OK ? check_rollback(conn) : status;
}

tp_status tp_schema_print(tp_env *env, tp_text_fn write, void *arg) {
    if (!env || !write) return tpi_error(TP_MISUSE, "tp_schema_print: an argument is NULL");
    const struct tpi_dialect *dialect = atomic_load(&env->dialect);
    if (!dialect)
        return tpi_error(TP_MISUSE,
                         "which dialect's scripts? say Dialect= in the connection string, or connect first");
    struct tpi_buf line = {0};
    for (const struct tpi_script *script = dialect->scripts; script->file; script++)
        for (size_t i = 0; i < script->line_count && !line.failed; i++) {
            tpi_buf_clear(&line);
            tpi_render_script(script->lines[i], env->prefix, NULL, NULL, &line);
            tpi_buf_char(&line, '\n');
            if (!line.failed) write(line.data, line.length, arg);
        }
    bool failed = line.failed;
    tpi_buf_free(&line);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}
