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

/* The scripts of sql/common/adopt, by the number that their names begin with. */
enum script { INSTALL = 1, BACK, COPY, GONE, OPEN, LEFT, REMOVE, COMPARE, ALONE_BACK = 91, ALONE_COPY };
enum { TRIES = 10, IDS_MAX = 500 };

struct adopting {
    tp_conn *conn;
    struct tpi_adoption adoption;
    const char *who;
    bool was_there; /* the table of links, before it was to be made */
    tp_adopt_fn report;
    void *arg;
};

void tpi_adopt_free(struct tpi_adoption *adoption) {
    for (size_t i = 0; i < TPI_ADOPT_COUNT; i++)
        tpi_buf_free(&adoption->words[i]);
    for (size_t i = 0; i < TPI_ADOPT_KEYS_MAX; i++)
        tpi_buf_free(&adoption->keys[i]);
}

/* ---- Running scripts ----------------------------------------------------------------------------------- */

static const struct tpi_script *find_script(const struct tpi_dialect *dialect, enum script number) {
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
static tp_status change(struct adopting *adopting, enum script number, int64_t *rows) {
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

static tp_status define(struct adopting *adopting, enum script number) {
    const struct tpi_script *script = find_script(adopting->adoption.dialect, number);
    struct tpi_store *store = &adopting->conn->store;
    tp_status status = TP_OK;
    for (size_t i = 0; i < script->statement_count && status == TP_OK; i++) {
        struct tpi_buf sql = {0};
        tpi_adopt_render(&adopting->adoption, store->prefix, script->statements[i], &sql);
        status = sql.failed ? tpi_error(TP_NOMEM, "out of memory")
                            : tpi_stmt_direct(&store->link, "adopt_define", sql.data);
        tpi_buf_free(&sql);
        bool there = status < TP_OK && store->link.diag.class == TPI_CLASS_OBJECT_EXISTS;
        if (number != INSTALL || !there) continue;
        adopting->was_there = true;
        status = TP_OK;
    }
    return status;
}

/* Reads at most limit rows of a script that is one query. */
static tp_status query(struct adopting *adopting, enum script number, const struct tpi_column *columns,
                       void *records, size_t size, size_t limit, size_t *count) {
    const struct tpi_script *script = find_script(adopting->adoption.dialect, number);
    struct tpi_stmt stmt = {0};
    tp_status status = prepare(adopting, script->statements[0], &stmt);
    if (status == TP_OK) status = tpi_stmt_execute(&stmt);
    if (status == TP_OK) status = tpi_record_all(&stmt, columns, NULL, records, size, limit, count);
    tpi_stmt_free(&stmt);
    return status;
}

static bool is_alone(const struct tpi_adoption *adoption) {
    return adoption->words[TPI_ADOPT_ALONE].length != 0;
}

static enum script back_script(const struct adopting *adopting) {
    return is_alone(&adopting->adoption) ? ALONE_BACK : BACK;
}

static void report(const struct adopting *adopting, const char *what, int64_t in_old, int64_t in_pool) {
    if (adopting->report) adopting->report(what, in_old, in_pool, adopting->arg);
}

/* ---- Steps --------------------------------------------------------------------------------------------- */

/* Skips the tasks that the script names, as long as it names some. */
static tp_status withdraw(struct adopting *adopting, enum script number, const char *why, int64_t *all) {
    static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    char(*ids)[TPI_UUID_SIZE] = calloc(IDS_MAX, sizeof *ids);
    const char *list[IDS_MAX];
    tp_status status = ids ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
    for (bool more = true; more && status == TP_OK;) {
        tp_selection selection = TP_SELECTION_INIT;
        tp_operated operated = TP_OPERATED_INIT;
        size_t count = 0;
        status = query(adopting, number, only, ids, sizeof *ids, IDS_MAX, &count);
        for (size_t i = 0; i < count; i++)
            list[i] = ids[i];
        selection.ids = list;
        selection.id_count = count;
        selection.pool = "pending";
        selection.who = adopting->who;
        selection.why = why;
        if (status == TP_OK && count)
            status = tp_operate(adopting->conn, TP_ACTION_SKIP, &selection, &operated);
        if (status == TP_NONE) status = TP_OK;
        *all += (int64_t)operated.done;
        more = count == IDS_MAX && operated.done;
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

static tp_status change_and_record(struct adopting *adopting, enum script number, int64_t *rows) {
    tp_status status = change(adopting, number, rows);
    return status == TP_OK && number == COPY ? record(adopting, TPI_AUDIT_COPIED, *rows) : status;
}

/* Some databases cannot make or drop a table in a transaction: it is recorded behind it. */
static tp_status define_and_record(struct adopting *adopting, enum script number, const char *action) {
    struct tpi_scope scope;
    tp_status status = define(adopting, number);
    if (status != TP_OK || adopting->was_there) return status;
    status = tpi_scope_begin(adopting->conn, &scope);
    return status == TP_OK ? tpi_scope_end(adopting->conn, &scope, record(adopting, action, 1)) : status;
}

/* The way back, and then rows into the pool, each in a transaction. Another session that copies, or an old
 * consumer, may get in the way. */
static tp_status move(struct adopting *adopting, enum script number, int64_t *rows) {
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
    int64_t withdrawn = 0, back = 0, taken = 0, rows = 0;
    int64_t batch = tpi_number(adopting->adoption.words[TPI_ADOPT_BATCH].data);
    tp_status status = withdraw(adopting, GONE, "its row was deleted", &withdrawn);
    if (status == TP_OK) status = move(adopting, back_script(adopting), &back);
    const enum script take = is_alone(&adopting->adoption) ? ALONE_COPY : COPY;
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
    tp_status status = query(adopting, COMPARE, columns, lines, sizeof *lines, LINES, &count);
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        report(adopting, lines[i].what, lines[i].in_old, lines[i].in_pool);
        differs = differs || lines[i].in_old != lines[i].in_pool;
    }
    if (status != TP_OK || !differs) return status;
    return tpi_error(TP_CONFLICT, "the old table and the pool differ");
}

/* A step that is asked again after it has removed the links finds none. */
static bool finds_no_table(const struct adopting *adopting, tp_status status) {
    return status < TP_OK && adopting->conn->store.link.diag.class == TPI_CLASS_NO_TABLE;
}

static tp_status remove_links(struct adopting *adopting) {
    static const struct tpi_column only[] = {{TPI_READ_NUMBER, 0, sizeof(int64_t)}, TPI_COLUMN_END};
    int64_t returned = 0, rows = 0, left = 0;
    size_t count = 0;
    tp_status status = withdraw(adopting, OPEN, "returned to the old table", &returned);
    if (finds_no_table(adopting, status)) {
        status = tp_schema_check(adopting->conn);
        if (status == TP_OK) report(adopting, "returned", 0, 0);
        return status;
    }
    if (status == TP_OK) status = move(adopting, back_script(adopting), &rows);
    if (status == TP_OK) status = query(adopting, LEFT, only, &left, sizeof left, 1, &count);
    if (status == TP_OK && left)
        return tpi_error(TP_CONFLICT, "%" PRId64 " tasks of the old table are being handled; ask again",
                         left);
    if (status == TP_OK) status = define_and_record(adopting, REMOVE, TPI_AUDIT_ADOPT_REMOVED);
    if (status == TP_OK) report(adopting, "returned", returned, returned);
    return status;
}

tp_status tp_adopt(tp_conn *conn, const char *mapping, tp_adopt_step step, const char *who,
                   tp_adopt_fn report_to, void *arg) {
    struct adopting adopting = {.conn = conn, .who = who, .report = report_to, .arg = arg};
    tp_status status = tpi_conn_ready_alone(conn, "tp_adopt");
    if (status != TP_OK) return status;
    if (!mapping || !who || !*who) return tpi_error(TP_MISUSE, "tp_adopt needs a mapping, and who asks");
    status = tpi_adopt_read(mapping, conn->store.dialect, &adopting.adoption);
    if (status == TP_OK && (int)step == TP_ADOPT_APPLY)
        status = define_and_record(&adopting, INSTALL, TPI_AUDIT_ADOPTED);
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

/* A script has marks that go over several lines. */
static tp_status print_script(const struct tpi_adoption *adoption, const char *prefix,
                              const struct tpi_script *script, tp_text_fn write, void *arg) {
    struct tpi_buf text = {0}, out = {0};
    for (size_t i = 0; i < script->line_count; i++) {
        tpi_buf_text(&text, script->lines[i]);
        tpi_buf_char(&text, '\n');
    }
    if (!text.failed && text.length) tpi_adopt_render(adoption, prefix, text.data, &out);
    bool failed = text.failed || out.failed;
    if (!failed && out.length) write(out.data, out.length, arg);
    if (!failed) write("\n", 1, arg);
    tpi_buf_free(&text);
    tpi_buf_free(&out);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* Of a table that is shared with old consumers, and of one that is not. */
static bool is_used(const struct tpi_adoption *adoption, enum script number) {
    bool shared = number == BACK || number == COPY, alone = number >= ALONE_BACK;
    return is_alone(adoption) ? !shared : !alone;
}

tp_status tp_adopt_print(tp_env *env, const char *mapping, tp_text_fn write, void *arg) {
    struct tpi_adoption adoption = {0};
    if (!env || !mapping || !write) return tpi_error(TP_MISUSE, "tp_adopt_print: an argument is NULL");
    const struct tpi_dialect *dialect = atomic_load(&env->dialect);
    if (!dialect)
        return tpi_error(TP_MISUSE, "which dialect? say Dialect= in the connection string, or connect first");
    tp_status status = tpi_adopt_read(mapping, dialect, &adoption);
    for (const struct tpi_script *script = dialect->adopt; status == TP_OK && script->file; script++)
        if (is_used(&adoption, (enum script)script->version))
            status = print_script(&adoption, env->prefix, script, write, arg);
    tpi_adopt_free(&adoption);
    return status;
}
