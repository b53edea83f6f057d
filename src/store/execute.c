/* Prepares, binds and executes one statement. See execute.h. */
#include "store/execute.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/prepared.h"

enum { PLAN_MS = 1000 }; /* how long a plan that the server keeps may be used */

size_t tpi_store_repeats(size_t count) {
    size_t repeats = count ? 1 : 0;
    while (repeats < count)
        repeats *= 2;
    return repeats < TPI_LIST_MAX ? repeats : TPI_LIST_MAX;
}

static tp_status prepare_text(struct tpi_store *store, struct tpi_prepared *prepared,
                              const struct tpi_args *args) {
    struct tpi_buf text = {0};
    const char *name = tpi_statement_name(prepared->statement);
    const struct tpi_sql *sql = &store->dialect->sql[prepared->statement];
    if (!sql->text)
        return tpi_error(TP_UNSUPPORTED, "dialect %s has no statement %s", store->dialect->name, name);
    tpi_render(sql, store->prefix, prepared->repeats, &text);
    tpi_render_names(&store->names, &text);
    tpi_stmt_free(&prepared->stmt);
    prepared->made_ms = tpi_clock_mono_ms();
    prepared->runs = 1;
    prepared->limit = tpi_args_value(args, TPI_P_limit);
    tp_status status = text.failed ? tpi_error(TP_NOMEM, "out of memory")
                                   : tpi_stmt_prepare(&store->link, name, text.data, &prepared->stmt);
    tpi_buf_free(&text);
    return status;
}

/* Binds a statement's parameters one after the other. */
struct binder {
    struct tpi_store *store;
    struct tpi_stmt *stmt;
    SQLLEN *indicators;
    size_t next, room;       /* of indicators */
    bool text_arrives;       /* a borrowed session was asked: it takes what is not ASCII */
    struct tpi_buf document; /* of the list */
};

static bool is_ascii(const char *text, size_t length) {
    for (size_t i = 0; text && i < length; i++)
        if ((unsigned char)text[i] > 127) return false;
    return true;
}

static tp_status next_indicator(struct binder *binder, SQLLEN **indicator) {
    if (binder->next == binder->room)
        return tpi_error(TP_DB, "a statement has more values than there is room for");
    *indicator = &binder->indicators[binder->next++];
    return TP_OK;
}

static tp_status bind_text(struct binder *binder, enum tpi_param_kind kind, const char *text, size_t length) {
    static const enum tpi_bind binds[] = {
        [TPI_TEXT] = TPI_BIND_TEXT,           [TPI_TEXT_LIST] = TPI_BIND_TEXT,
        [TPI_NUMBER] = TPI_BIND_NUMBER,       [TPI_NUMBER_LIST] = TPI_BIND_NUMBER,
        [TPI_LONG_TEXT] = TPI_BIND_LONG_TEXT, [TPI_LIST_DOCUMENT] = TPI_BIND_LONG_TEXT,
    };
    SQLLEN *indicator = NULL;
    size_t max = binder->store->text_max;
    if (max && length > max)
        return tpi_error(TP_TOOBIG,
                         "a value of %zu bytes is longer than the server takes in one statement (%zu)",
                         length, max);
    if (!binder->store->link.owned && !binder->text_arrives && !is_ascii(text, length)) {
        tp_status status = tpi_link_ask_text(&binder->store->link, false);
        if (status != TP_OK) return status;
        binder->text_arrives = true;
    }
    tp_status status = next_indicator(binder, &indicator);
    if (status != TP_OK) return status;
    return tpi_stmt_bind(binder->stmt, binder->next, binds[kind], text, length, indicator);
}

static tp_status bind_one(struct binder *binder, enum tpi_param_kind kind, struct tpi_arg *arg) {
    SQLLEN *indicator = NULL;
    if (!arg->is_number) return bind_text(binder, kind, arg->text, arg->length);
    if (kind != TPI_NUMBER || !binder->store->link.driver->binds_int64)
        return bind_text(binder, kind, arg->digits, tpi_digits(arg->number, arg->digits));
    tp_status status = next_indicator(binder, &indicator);
    if (status != TP_OK) return status;
    return tpi_stmt_bind_number(binder->stmt, binder->next, &arg->number, indicator);
}

static tp_status bind_list(struct binder *binder, enum tpi_param_kind kind, const char *const *items,
                           size_t count, size_t repeats) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < repeats && status == TP_OK; i++) {
        const char *item = items[i < count ? i : count - 1];
        status = bind_text(binder, kind, item, strlen(item));
    }
    return status;
}

static tp_status bind_document(struct binder *binder, const struct tpi_args *args) {
    struct tpi_buf *document = &binder->document;
    for (size_t i = 0; i < args->list_count; i++) {
        tpi_buf_char(document, i ? ',' : '[');
        tpi_buf_json(document, args->list[i]);
    }
    tpi_buf_char(document, ']');
    if (document->failed) return tpi_error(TP_NOMEM, "out of memory");
    return bind_text(binder, TPI_LIST_DOCUMENT, document->data, document->length);
}

/* The parameters from the i-th to the one before end. */
static tp_status bind_part(struct binder *binder, const struct tpi_prepared *prepared, struct tpi_args *args,
                           size_t i, size_t end) {
    const struct tpi_sql *sql = &binder->store->dialect->sql[prepared->statement];
    tp_status status = TP_OK;
    for (; i < end && status == TP_OK; i++) {
        enum tpi_param param = (enum tpi_param)sql->params[i];
        enum tpi_param_kind kind = tpi_param_kind(param);
        if (kind == TPI_TEXT_LIST)
            status = bind_list(binder, kind, args->list, args->list_count, prepared->repeats.list);
        else if (kind == TPI_NUMBER_LIST)
            status = bind_list(binder, kind, args->numbers, args->number_count, prepared->repeats.numbers);
        else if (kind == TPI_LIST_DOCUMENT)
            status = bind_document(binder, args);
        else
            status = bind_one(binder, kind, &args->one[param]);
    }
    return status;
}

/* How many parameters stand before the mark; all of them where there is none. */
static size_t params_before(const struct tpi_sql *sql, char mark) {
    size_t count = 0;
    const char *end = strchr(sql->text, mark);
    if (!end) return sql->param_count;
    for (const char *at = sql->text; at < end; at++)
        count += *at == TPI_SQL_PARAM;
    return count;
}

static tp_status bind_all(struct binder *binder, const struct tpi_prepared *prepared, struct tpi_args *args,
                          size_t rows) {
    const struct tpi_sql *sql = &binder->store->dialect->sql[prepared->statement];
    size_t begin = params_before(sql, TPI_SQL_ROWS), end = params_before(sql, TPI_SQL_ROWS_END);
    tp_status status = bind_part(binder, prepared, args, 0, begin);
    for (size_t i = 0; i < rows && status == TP_OK; i++)
        status = bind_part(binder, prepared, &args[i], begin, end);
    return status == TP_OK ? bind_part(binder, prepared, args, end, sql->param_count) : status;
}

/* Is 0 among the numbers, where that makes another statement? */
static bool has_zero(const struct tpi_sql *sql, const struct tpi_args *args, size_t rows) {
    if (!strchr(sql->text, TPI_SQL_BUT_0)) return false;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < args[row].number_count; i++)
            if (strcmp(args[row].numbers[i], "0") == 0) return true;
    return false;
}

static struct tpi_repeats repeats_for(const struct tpi_sql *sql, const struct tpi_args *args, size_t rows) {
    bool as_document = tpi_args_used(sql, TPI_P_ids_document);
    return (struct tpi_repeats){.list = as_document ? 0 : tpi_store_repeats(args->list_count),
                                .numbers = tpi_store_repeats(args->number_count),
                                .rows = rows,
                                .zero = has_zero(sql, args, rows)};
}

static tp_status bind_and_execute(struct tpi_store *store, struct tpi_prepared *prepared,
                                  struct tpi_args *args, size_t rows) {
    const struct tpi_sql *sql = &store->dialect->sql[prepared->statement];
    /* Each list as often as it is written out; in a part for each row, where there are many rows, a list has
     * one. */
    size_t a_param = 1 + prepared->repeats.list + prepared->repeats.numbers;
    size_t room = sql->param_count * (rows + a_param);
    SQLLEN *indicators = calloc(room + 1, sizeof *indicators);
    if (!indicators) return tpi_error(TP_NOMEM, "out of memory");
    struct binder binder = {.store = store, .stmt = &prepared->stmt, .indicators = indicators, .room = room};
    tp_status status = bind_all(&binder, prepared, args, rows);
    if (status == TP_OK) status = tpi_stmt_execute(&prepared->stmt);
    tpi_buf_free(&binder.document);
    free(indicators);
    return status;
}

/* Must it be prepared, or prepared anew, before it runs? */
static bool needs_preparing(const struct tpi_store *store, struct tpi_prepared *prepared,
                            const struct tpi_args *args) {
    const struct tpi_driver *driver = store->link.driver;
    if (!prepared->stmt.handle || store->link.forgets) return true;
    /* Another limit would not be seen. */
    bool sticks = (store->caps & TPI_CAP_ROWNUM) && driver->rownum_sticks;
    if (sticks && prepared->limit != tpi_args_value(args, TPI_P_limit)) return true;
    /* It would read the whole groups that it is to go through the heads of. */
    bool grouped = store->dialect->sql[prepared->statement].grouped;
    if (grouped && prepared->stmt.executed && driver->grouping_spoils) return true;
    /* A plan that the server made while a pool was all but empty reads all of it, however it has grown since.
     */
    if (!driver->keeps_plans || !store->link.owned || ++prepared->runs <= driver->keeps_plans) return false;
    return tpi_clock_mono_ms() - prepared->made_ms > PLAN_MS;
}

static tp_status prepare(struct tpi_store *store, enum tpi_statement statement, const struct tpi_args *args,
                         size_t rows, struct tpi_prepared **out) {
    struct tpi_repeats repeats = repeats_for(&store->dialect->sql[statement], args, rows);
    struct tpi_prepared *prepared = tpi_prepared_find(store, statement, &repeats);
    if (!prepared) prepared = tpi_prepared_add(store, statement, &repeats);
    if (!prepared) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = needs_preparing(store, prepared, args) ? prepare_text(store, prepared, args) : TP_OK;
    if (status == TP_OK)
        *out = prepared;
    else
        tpi_prepared_forget(store, prepared);
    return status;
}

static tp_status try_run(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         size_t rows, bool changes, tpi_fill_fn *fill, struct tpi_stmt **stmt) {
    struct tpi_prepared *prepared = NULL;
    tp_status status = fill ? fill(store, statement, args, rows) : TP_OK;
    if (status == TP_OK) status = prepare(store, statement, args, rows, &prepared);
    if (prepared && changes) tpi_stmt_limit_wait(&prepared->stmt);
    if (prepared) status = bind_and_execute(store, prepared, args, rows);
    if (prepared && status == TP_OK) *stmt = &prepared->stmt;
    if (status == TP_CONFLICT && tpi_link_failed_as(TPI_CLASS_CURSORS)) tpi_prepared_forget_all(store);
    return status;
}

/* Where the server forgot, the application's transaction may be over: some drivers roll back after any error,
 * and a session may have been put in the place of another. The same statement would then be committed without
 * what went before. In autocommit mode nobody knows afterwards whether one was open. */
static tp_status same_transaction(struct tpi_link *link) {
    bool open = true;
    tp_status status = link->owned ? TP_OK : tpi_link_own_tx(link, &open);
    if (status != TP_OK || open) return status;
    return tpi_error(TP_CONFLICT, "the server forgot what was prepared, and a transaction of yours, if one "
                                  "was open, is lost: roll it back, and do the whole of it again");
}

/* Settings of the session may be lost with what was prepared, so our own is left for a new one. What was
 * prepared a moment ago and is not known again: nothing goes over this session any more. */
tp_status tpi_execute(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                      size_t rows, bool changes, tpi_fill_fn *fill, struct tpi_stmt **stmt) {
    store->link.forgotten = false;
    tp_status status = try_run(store, statement, args, rows, changes, fill, stmt);
    if (status < TP_OK && store->link.forgotten) {
        store->link.forgotten = false;
        tpi_store_forget(store);
        status = store->link.owned ? tpi_link_renew(&store->link) : TP_OK;
        if (status == TP_OK) status = same_transaction(&store->link);
        if (status == TP_OK) status = try_run(store, statement, args, rows, changes, fill, stmt);
    }
    if (status >= TP_OK || !store->link.forgotten) return status;
    const struct tpi_diag *diag = &store->link.diag;
    store->link.dead = true;
    return tpi_error_db(TP_DISCONNECTED, diag->state, diag->native, store->link.statement,
                        "the server does not know what was just prepared: %s [%s, %d]; reopen the connection "
                        "and ask again",
                        diag->text, diag->state, (int)diag->native);
}
