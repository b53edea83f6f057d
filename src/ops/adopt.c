/* Adoption: the steps that make an old task table of the application the producer. The rules are in the
 * scripts of sql/common/adopt; a state of a task is changed by tp_operate only. See adopt.h. */
#include "ops/adopt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/operate.h"
#include "store/record.h"

enum { TRIES = 10, IDS_MAX = 500 };

struct adopting {
    tp_conn *conn;
    struct tpi_adoption adoption;
    const char *who;
    bool was_there; /* the table of links, before it was to be made */
    tp_adopt_fn report;
    void *arg;
};

/* ---- Running scripts ----------------------------------------------------------------------------------- */

static const struct tpi_script *find_script(const struct tpi_dialect *dialect, enum tpi_adopt_script number) {
    const struct tpi_script *script = dialect->adopt;
    while (script->version != (int)number)
        script++;
    return script;
}

static tp_status prepare(struct adopting *adopting, const char *text, struct tpi_stmt *stmt) {
    struct tpi_buf sql = {0};
    struct tpi_store *store = &adopting->conn->store;
    tpi_adopt_render(&adopting->adoption, store->prefix, text, &sql);
    tp_status status = sql.failed ? tpi_error(TP_NOMEM, "out of memory")
                                  : tpi_stmt_prepare(&store->link, "adopt", sql.data, stmt);
    tpi_buf_free(&sql);
    return status;
}

/* rows gets what the last statement changed. */
static tp_status change(struct adopting *adopting, enum tpi_adopt_script number, int64_t *rows) {
    const struct tpi_script *script = find_script(adopting->adoption.dialect, number);
    tp_status status = TP_OK;
    for (size_t i = 0; i < script->statement_count && status == TP_OK; i++) {
        struct tpi_stmt stmt = {0};
        status = prepare(adopting, script->statements[i], &stmt);
        if (status == TP_OK) {
            tpi_stmt_limit_wait(&stmt);
            status = tpi_stmt_execute(&stmt);
        }
        if (status == TP_OK) status = tpi_stmt_changed(&stmt, rows);
        tpi_stmt_free(&stmt);
    }
    return status;
}

static tp_status define(struct adopting *adopting, enum tpi_adopt_script number) {
    const struct tpi_script *script = find_script(adopting->adoption.dialect, number);
    struct tpi_store *store = &adopting->conn->store;
    tp_status status = TP_OK;
    for (size_t i = 0; i < script->statement_count && status == TP_OK; i++) {
        struct tpi_buf sql = {0};
        tpi_adopt_render(&adopting->adoption, store->prefix, script->statements[i], &sql);
        status = sql.failed ? tpi_error(TP_NOMEM, "out of memory")
                            : tpi_stmt_direct(&store->link, "adopt_define", sql.data);
        tpi_buf_free(&sql);
        bool there = status < TP_OK && tpi_link_failed_as(TPI_CLASS_OBJECT_EXISTS);
        if (number != TPI_ADOPT_S_INSTALL || !there) continue;
        adopting->was_there = true;
        status = TP_OK;
    }
    return status;
}

/* Reads at most limit rows of a script that is one query. */
static tp_status query(struct adopting *adopting, enum tpi_adopt_script number,
                       const struct tpi_column *columns, void *records, size_t size, size_t limit,
                       size_t *count) {
    const struct tpi_script *script = find_script(adopting->adoption.dialect, number);
    struct tpi_stmt stmt = {0};
    tp_status status = prepare(adopting, script->statements[0], &stmt);
    if (status == TP_OK) status = tpi_stmt_execute(&stmt);
    if (status == TP_OK) status = tpi_record_all(&stmt, columns, NULL, records, size, limit, count);
    tpi_stmt_free(&stmt);
    return status;
}

static enum tpi_adopt_script back_script(const struct adopting *adopting) {
    return tpi_adopt_alone(&adopting->adoption) ? TPI_ADOPT_S_ALONE_BACK : TPI_ADOPT_S_BACK;
}

static void report(const struct adopting *adopting, const char *what, int64_t in_old, int64_t in_pool) {
    if (adopting->report) adopting->report(what, in_old, in_pool, adopting->arg);
}

/* ---- Steps --------------------------------------------------------------------------------------------- */

/* Tasks that are called back, and what is then written into their links, in the same transaction. */
struct recall {
    enum tpi_adopt_script which, then;
    const char *pool, *why;
};
static const struct recall of_deleted = {TPI_ADOPT_S_GONE, TPI_ADOPT_S_WITHDRAWN, "pending",
                                         "its row was deleted"};
static const struct recall of_open = {TPI_ADOPT_S_OPEN, TPI_ADOPT_S_RETURNED, "pending",
                                      "returned to the old table"};
static const struct recall of_reopened = {TPI_ADOPT_S_REOPENED, TPI_ADOPT_S_WITHDRAWN, "all",
                                          "its row was opened again, or written over"};
static const struct recall of_failed = {TPI_ADOPT_S_FAILED, TPI_ADOPT_S_WITHDRAWN, "failed",
                                        "returned to the old table"};

/* All of them, and their links, or TP_CONFLICT: a link must not say so of a task that others changed. */
static tp_status recall_these(struct adopting *adopting, const struct recall *recall, const char *const *ids,
                              size_t count) {
    struct tpi_buf *list = &adopting->adoption.words[TPI_ADOPT_TASKS];
    size_t done = 0;
    int64_t rows = (int64_t)count;
    tpi_buf_clear(list);
    for (size_t i = 0; i < count; i++) {
        tpi_buf_text(list, i ? ", '" : "'");
        tpi_buf_text(list, ids[i]);
        tpi_buf_char(list, '\'');
    }
    if (list->failed) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tpi_operate_skip_as(TPI_HISTORY_RECALLED, adopting->conn, recall->pool, ids, count,
                                           adopting->who, recall->why, &done);
    if (status == TP_OK && done == count) status = change(adopting, recall->then, &rows);
    if (status == TP_OK && (done != count || rows != (int64_t)count))
        return tpi_error(TP_CONFLICT, "another session changed tasks of the old table");
    return status;
}

/* *called: all were, or none; of more than one, TP_CONFLICT may be about one of them. */
static tp_status recall_some(struct adopting *adopting, const struct recall *recall, const char *const *ids,
                             size_t count, int64_t *called) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(adopting->conn, &scope);
    if (status == TP_OK)
        status = tpi_scope_end(adopting->conn, &scope, recall_these(adopting, recall, ids, count));
    if (status == TP_OK) *called += (int64_t)count;
    return status;
}

/* Those that somebody else has in hand are passed over. */
static tp_status recall_chunk(struct adopting *adopting, const struct recall *recall, const char *const *ids,
                              size_t count, int64_t *called) {
    tp_status status = recall_some(adopting, recall, ids, count, called);
    if (status != TP_CONFLICT && status != TP_TIMEOUT) return status;
    status = TP_OK;
    for (size_t i = 0; i < count && count > 1 && status == TP_OK; i++)
        status = recall_chunk(adopting, recall, &ids[i], 1, called);
    return status;
}

/* The tasks that the script names, as long as it names some. */
static tp_status recall_all(struct adopting *adopting, const struct recall *recall, int64_t *called) {
    static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    char(*ids)[TPI_UUID_SIZE] = calloc(IDS_MAX, sizeof *ids);
    const char *list[IDS_MAX];
    tp_status status = ids ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
    for (bool more = true; more && status == TP_OK;) {
        size_t count = 0;
        int64_t before = *called;
        status = query(adopting, recall->which, only, ids, sizeof *ids, IDS_MAX, &count);
        for (size_t i = 0; i < count; i++)
            list[i] = ids[i];
        for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
            some = count - at < TPI_CHUNK ? count - at : TPI_CHUNK;
            status = recall_chunk(adopting, recall, &list[at], some, called);
        }
        more = count == IDS_MAX && *called > before;
    }
    free(ids);
    return status;
}

/* The table of links is what it is done to; the mapping is a file of the application's own. */
static tp_status record(struct adopting *adopting, const char *action, int64_t rows) {
    struct tpi_act act = {.action = action,
                          .who = adopting->who,
                          .subject = adopting->adoption.words[TPI_ADOPT_NAME].data,
                          .changed = rows};
    return rows ? tpi_audit_add(adopting->conn, &act) : TP_OK;
}

static tp_status change_and_record(struct adopting *adopting, enum tpi_adopt_script number, int64_t *rows) {
    tp_status status = change(adopting, number, rows);
    return status == TP_OK && number == TPI_ADOPT_S_COPY ? record(adopting, TPI_AUDIT_COPIED, *rows) : status;
}

/* Some databases cannot make or drop a table in a transaction: it is recorded behind it. */
static tp_status define_and_record(struct adopting *adopting, enum tpi_adopt_script number,
                                   const char *action) {
    struct tpi_scope scope;
    tp_status status = define(adopting, number);
    if (status != TP_OK || adopting->was_there) return status;
    status = tpi_scope_begin(adopting->conn, &scope);
    return status == TP_OK ? tpi_scope_end(adopting->conn, &scope, record(adopting, action, 1)) : status;
}

/* The way back, and then rows into the pool, each in a transaction. Another session that copies, or an old
 * consumer, may get in the way. */
static tp_status move(struct adopting *adopting, enum tpi_adopt_script number, int64_t *rows) {
    tp_status status = TP_OK;
    for (int i = 0; i < TRIES; i++) {
        struct tpi_scope scope;
        status = tpi_scope_begin(adopting->conn, &scope);
        if (status == TP_OK)
            status = tpi_scope_end(adopting->conn, &scope, change_and_record(adopting, number, rows));
        if (status != TP_CONFLICT) return status;
    }
    return status;
}

static tp_status copy(struct adopting *adopting) {
    int64_t withdrawn = 0, reopened = 0, back = 0, taken = 0, rows = 0;
    int64_t batch = tpi_number(adopting->adoption.words[TPI_ADOPT_BATCH].data);
    tp_status status = recall_all(adopting, &of_deleted, &withdrawn);
    if (status == TP_OK) status = move(adopting, back_script(adopting), &back);
    if (status == TP_OK) status = recall_all(adopting, &of_reopened, &reopened);
    const enum tpi_adopt_script take =
        tpi_adopt_alone(&adopting->adoption) ? TPI_ADOPT_S_ALONE_COPY : TPI_ADOPT_S_COPY;
    do {
        if (status == TP_OK) status = move(adopting, take, &rows);
        if (status == TP_OK) taken += rows;
    } while (status == TP_OK && rows == batch);
    if (status != TP_OK) return status;
    report(adopting, "withdrawn", withdrawn, withdrawn);
    report(adopting, "copied", taken, taken);
    return TP_OK;
}

static tp_status compare(struct adopting *adopting) {
    enum { LINES = 6 };
    struct counted {
        char what[32];
        int64_t in_old, in_pool;
    } lines[LINES];
    static const struct tpi_column columns[] = {TPI_COLUMN(CHARS, struct counted, what),
                                                TPI_COLUMN(NUMBER, struct counted, in_old),
                                                TPI_COLUMN(NUMBER, struct counted, in_pool), TPI_COLUMN_END};
    size_t count = 0;
    bool differs = false;
    memset(lines, 0, sizeof lines);
    tp_status status = query(adopting, TPI_ADOPT_S_COMPARE, columns, lines, sizeof *lines, LINES, &count);
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        report(adopting, lines[i].what, lines[i].in_old, lines[i].in_pool);
        differs = differs || lines[i].in_old != lines[i].in_pool;
    }
    if (status != TP_OK || !differs) return status;
    return tpi_error(TP_CONFLICT, "the old table and the pool differ");
}

/* A step that is asked again after it has removed the links finds none. */
static bool finds_no_table(tp_status status) {
    return status < TP_OK && tpi_link_failed_as(TPI_CLASS_NO_TABLE);
}

/* A copy uses the links by their name: its transactions that are under way end before the links get another,
 * and none begins afterwards. They have it still where a removal was cut off. */
static tp_status attach(struct adopting *adopting) {
    tp_status status = define(adopting, TPI_ADOPT_S_ATTACH);
    return finds_no_table(status) ? TP_OK : status;
}

/* TP_CONFLICT: there are links that must not be dropped. */
static tp_status check_left(struct adopting *adopting, bool detached) {
    struct left {
        int64_t all, lost;
    } left = {0, 0};
    static const struct tpi_column columns[] = {TPI_COLUMN(NUMBER, struct left, all),
                                                TPI_COLUMN(NUMBER, struct left, lost), TPI_COLUMN_END};
    struct tpi_buf *word = &adopting->adoption.words[TPI_ADOPT_DETACHED];
    size_t count = 0;
    tpi_buf_clear(word);
    if (detached) tpi_buf_text(word, "ed");
    tp_status status = query(adopting, TPI_ADOPT_S_LEFT, columns, &left, sizeof left, 1, &count);
    tpi_buf_clear(word);
    if (status != TP_OK || !left.all) return status;
    if (left.lost < left.all)
        return tpi_error(TP_CONFLICT, "%" PRId64 " tasks of the old table are being handled; ask again",
                         left.all - left.lost);
    return tpi_error(TP_CONFLICT,
                     "%" PRId64 " tasks of the old table are in no pool: they were purged or erased before "
                     "their results were written back; set their rows by hand, delete their links, and ask "
                     "again (docs/adopting.md)",
                     left.lost);
}

/* What a copy put in meanwhile is seen once they are detached; then they are attached again. */
static tp_status detach_and_drop(struct adopting *adopting) {
    tp_status status = define(adopting, TPI_ADOPT_S_DETACH);
    if (status != TP_OK) return status;
    status = check_left(adopting, true);
    if (status == TP_OK) return define_and_record(adopting, TPI_ADOPT_S_REMOVE, TPI_AUDIT_ADOPT_REMOVED);
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status attached = attach(adopting);
    if (attached == TP_OK) tpi_error_restore(&kept);
    return attached == TP_OK ? status : attached;
}

static tp_status remove_links(struct adopting *adopting) {
    int64_t returned = 0, rows = 0;
    const bool shared = !tpi_adopt_alone(&adopting->adoption);
    tp_status status = attach(adopting);
    if (status == TP_OK) status = recall_all(adopting, &of_open, &returned);
    if (finds_no_table(status)) {
        status = tp_schema_check(adopting->conn);
        if (status == TP_OK) report(adopting, "returned", 0, 0);
        return status;
    }
    if (status == TP_OK) status = move(adopting, back_script(adopting), &rows);
    if (status == TP_OK && shared) status = recall_all(adopting, &of_reopened, &rows);
    if (status == TP_OK && shared) status = recall_all(adopting, &of_failed, &rows);
    if (status == TP_OK) status = check_left(adopting, false);
    if (status == TP_OK) status = detach_and_drop(adopting);
    if (status == TP_OK) report(adopting, "returned", returned, returned);
    return status;
}

static tp_status apply(struct adopting *adopting) {
    tp_status status = attach(adopting);
    return status == TP_OK ? define_and_record(adopting, TPI_ADOPT_S_INSTALL, TPI_AUDIT_ADOPTED) : status;
}

tp_status tp_adopt(tp_conn *conn, const char *mapping, tp_adopt_step step, const char *who,
                   tp_adopt_fn report_to, void *arg) {
    struct adopting adopting = {.conn = conn, .who = who, .report = report_to, .arg = arg};
    tp_status status = tpi_conn_ready_alone(conn, "tp_adopt");
    if (status != TP_OK) return status;
    if (!mapping || !who || !*who) return tpi_error(TP_MISUSE, "tp_adopt needs a mapping, and who asks");
    status = tpi_adopt_read(mapping, conn->store.dialect, &adopting.adoption);
    if (status == TP_OK && (int)step == TP_ADOPT_APPLY)
        status = apply(&adopting);
    else if (status == TP_OK && step == TP_ADOPT_COPY)
        status = copy(&adopting);
    else if (status == TP_OK && step == TP_ADOPT_COMPARE)
        status = compare(&adopting);
    else if (status == TP_OK && step == TP_ADOPT_REMOVE)
        status = remove_links(&adopting);
    else if (status == TP_OK)
        status = tpi_error(TP_MISUSE, "step %d is none of the tp_adopt_step list", (int)step);
    tpi_adopt_free(&adopting.adoption);
    return status;
}
