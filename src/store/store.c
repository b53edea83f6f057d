/* See store.h. */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "odbc/turn.h"
#include "odbc/types.h"
#include "store/prepared.h"

enum { PLAN_MS = 1000 }; /* how long a plan that the server keeps may be used */

void tpi_store_forget(struct tpi_store *store) {
    tpi_prepared_forget_all(store);
    store->clock.known = false;
}

size_t tpi_store_places(size_t count) {
    size_t places = count ? 1 : 0;
    while (places < count)
        places *= 2;
    return places < TPI_LIST_MAX ? places : TPI_LIST_MAX;
}

static tp_status prepare_text(struct tpi_store *store, struct tpi_prepared *prepared) {
    struct tpi_buf text = {0};
    const char *name = tpi_statement_name(prepared->statement);
    const struct tpi_sql *sql = &store->dialect->sql[prepared->statement];
    if (!sql->text)
        return tpi_error(TP_UNSUPPORTED, "dialect %s has no statement %s", store->dialect->name, name);
    tpi_render(sql, store->prefix, prepared->places, &text);
    tpi_render_names(&store->names, &text);
    prepared->made_ms = tpi_clock_mono_ms();
    prepared->runs = 0;
    tp_status status = text.failed ? tpi_error(TP_NOMEM, "out of memory")
                                   : tpi_stmt_prepare(&store->link, name, text.data, &prepared->stmt);
    tpi_buf_free(&text);
    return status;
}

static tp_status prepare(struct tpi_store *store, enum tpi_statement statement,
                         const struct tpi_places *places, struct tpi_prepared **out) {
    *out = tpi_prepared_find(store, statement, places);
    if (*out) return TP_OK;
    struct tpi_prepared *prepared = calloc(1, sizeof *prepared);
    if (!prepared) return tpi_error(TP_NOMEM, "out of memory");
    *prepared = (struct tpi_prepared){.statement = statement, .places = *places};
    tpi_prepared_make_room(store);
    tp_status status = prepare_text(store, prepared);
    if (status == TP_OK && !tpi_prepared_add(store, prepared)) {
        tpi_stmt_free(&prepared->stmt);
        status = tpi_error(TP_NOMEM, "out of memory");
    }
    if (status != TP_OK) {
        free(prepared);
        return status;
    }
    *out = prepared;
    return TP_OK;
}

/* Binds one row's parameters from place *place on. */
struct binder {
    struct tpi_store *store;
    struct tpi_stmt *stmt;
    SQLLEN *indicators;
    size_t place, room;      /* in indicators */
    struct tpi_buf document; /* of the list */
};

static bool is_ascii(const char *text, size_t length) {
    for (size_t i = 0; text && i < length; i++)
        if ((unsigned char)text[i] > 127) return false;
    return true;
}

static tp_status bind_text(struct binder *binder, enum tpi_param_kind kind, const char *text, size_t length) {
    static const enum tpi_bind binds[] = {
        [TPI_TEXT] = TPI_BIND_TEXT,           [TPI_TEXT_LIST] = TPI_BIND_TEXT,
        [TPI_NUMBER] = TPI_BIND_NUMBER,       [TPI_NUMBER_LIST] = TPI_BIND_NUMBER,
        [TPI_LONG_TEXT] = TPI_BIND_LONG_TEXT, [TPI_LIST_DOCUMENT] = TPI_BIND_LONG_TEXT,
    };
    size_t max = binder->store->text_max;
    if (max && length > max)
        return tpi_error(TP_TOOBIG,
                         "a value of %zu bytes is longer than the server takes in one statement (%zu)",
                         length, max);
    if (binder->place == binder->room)
        return tpi_error(TP_DB, "a statement has more values than there is room for");
    if (binder->store->link.ascii_only && !is_ascii(text, length)) {
        tp_status status = tpi_link_check_text(&binder->store->link);
        if (status != TP_OK) return status;
    }
    size_t i = binder->place++;
    return tpi_stmt_bind(binder->stmt, i + 1, binds[kind], text, length, &binder->indicators[i]);
}

static tp_status bind_list(struct binder *binder, enum tpi_param_kind kind, const char *const *items,
                           size_t count, size_t places) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < places && status == TP_OK; i++) {
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
static tp_status bind_part(struct binder *binder, const struct tpi_prepared *prepared,
                           const struct tpi_args *args, size_t i, size_t end) {
    const struct tpi_sql *sql = &binder->store->dialect->sql[prepared->statement];
    tp_status status = TP_OK;
    for (; i < end && status == TP_OK; i++) {
        enum tpi_param param = (enum tpi_param)sql->params[i];
        enum tpi_param_kind kind = tpi_param_kind(param);
        if (kind == TPI_TEXT_LIST)
            status = bind_list(binder, kind, args->list, args->list_count, prepared->places.list);
        else if (kind == TPI_NUMBER_LIST)
            status = bind_list(binder, kind, args->numbers, args->number_count, prepared->places.numbers);
        else if (kind == TPI_LIST_DOCUMENT)
            status = bind_document(binder, args);
        else
            status = bind_text(binder, kind, args->one[param].text, args->one[param].length);
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

static tp_status bind_all(struct binder *binder, const struct tpi_prepared *prepared,
                          const struct tpi_args *args, size_t rows) {
    const struct tpi_sql *sql = &binder->store->dialect->sql[prepared->statement];
    size_t begin = params_before(sql, TPI_SQL_ROWS), end = params_before(sql, TPI_SQL_ROWS_END);
    tp_status status = bind_part(binder, prepared, args, 0, begin);
    for (size_t i = 0; i < rows && status == TP_OK; i++)
        status = bind_part(binder, prepared, &args[i], begin, end);
    return status == TP_OK ? bind_part(binder, prepared, args, end, sql->param_count) : status;
}

static bool uses(const struct tpi_sql *sql, enum tpi_param param) {
    for (size_t i = 0; i < sql->param_count; i++)
        if (sql->params[i] == param) return true;
    return false;
}

/* Is 0 among the numbers, where that makes another statement? */
static bool has_zero(const struct tpi_sql *sql, const struct tpi_args *args, size_t rows) {
    if (!strchr(sql->text, TPI_SQL_BUT_0)) return false;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < args[row].number_count; i++)
            if (strcmp(args[row].numbers[i], "0") == 0) return true;
    return false;
}

static struct tpi_places places_for(const struct tpi_sql *sql, const struct tpi_args *args, size_t rows) {
    bool as_document = uses(sql, TPI_P_ids_document);
    return (struct tpi_places){.list = as_document ? 0 : tpi_store_places(args->list_count),
                               .numbers = tpi_store_places(args->number_count),
                               .rows = rows,
                               .zero = has_zero(sql, args, rows)};
}

static int64_t number(const struct tpi_args *args, enum tpi_param param) {
    return args->one[param].text ? strtoll(args->one[param].text, NULL, 10) : 0;
}

/* Fills in the parameters that stand for the database's clock. */
static tp_status fill_clock(struct tpi_store *store, const struct tpi_sql *sql, struct tpi_args *args,
                            size_t rows) {
    int64_t now = 0;
    if (!(store->caps & TPI_CAP_CLIENT_CLOCK)) return TP_OK;
    if (!uses(sql, TPI_P_now) && !uses(sql, TPI_P_now_plus_delay) && !uses(sql, TPI_P_now_plus_lease))
        return TP_OK;
    tp_status status = tpi_store_now(store, &now);
    if (status != TP_OK) return status;
    for (size_t i = 0; i < rows; i++) {
        bool absolute = args[i].one[TPI_P_due_at].text && uses(sql, TPI_P_now_plus_delay);
        int64_t due = absolute ? number(&args[i], TPI_P_due_at) : now + number(&args[i], TPI_P_delay_ms);
        tpi_args_number(&args[i], TPI_P_now, now);
        tpi_args_number(&args[i], TPI_P_now_plus_delay, due);
        /* A lease must not lapse early by another session's clock. */
        int64_t lapse = now + store->clock.coarse_ms + number(&args[i], TPI_P_lease_ms);
        tpi_args_number(&args[i], TPI_P_now_plus_lease, lapse);
    }
    return TP_OK;
}

static tp_status bind_and_execute(struct tpi_store *store, struct tpi_prepared *prepared,
                                  struct tpi_args *args, size_t rows) {
    const struct tpi_sql *sql = &store->dialect->sql[prepared->statement];
    /* Each list once in all its places; in a part for each row, where there are many rows, a list has one. */
    size_t a_param = 1 + prepared->places.list + prepared->places.numbers;
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

/* Is the limit another one, and would the old one stick? */
static bool limit_sticks(struct tpi_store *store, struct tpi_prepared *prepared,
                         const struct tpi_args *args) {
    int64_t limit = number(args, TPI_P_limit);
    if (!(store->caps & TPI_CAP_ROWNUM) || !store->link.driver->rownum_sticks) return false;
    bool stuck = prepared->limit && prepared->limit != limit;
    prepared->limit = limit;
    return stuck;
}

/* Would the statement read the whole groups that it is to go through the heads of? */
static bool plan_spoils(const struct tpi_store *store, const struct tpi_prepared *prepared) {
    return store->dialect->sql[prepared->statement].grouped && prepared->stmt.executed &&
           store->link.driver->grouping_spoils;
}

/* A plan that the server made while a pool was all but empty reads all of it, however it has grown since. */
static bool plan_is_old(const struct tpi_store *store, struct tpi_prepared *prepared) {
    unsigned runs = store->link.driver->keeps_plans;
    if (!runs || !store->link.owned || ++prepared->runs <= runs) return false;
    return tpi_clock_mono_ms() - prepared->made_ms > PLAN_MS;
}

/* Prepares anew what cannot be run again as it is. */
static tp_status freshen(struct tpi_store *store, struct tpi_prepared *prepared,
                         const struct tpi_args *args) {
    if (prepared->stmt.handle && !limit_sticks(store, prepared, args) && !plan_spoils(store, prepared) &&
        !plan_is_old(store, prepared))
        return TP_OK;
    tpi_stmt_free(&prepared->stmt);
    tp_status status = prepare_text(store, prepared);
    if (status != TP_OK) tpi_prepared_forget(store, prepared);
    return status;
}

static tp_status try_run(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         size_t rows, bool changes, struct tpi_stmt **stmt) {
    struct tpi_prepared *prepared = NULL;
    const struct tpi_sql *sql = &store->dialect->sql[statement];
    tp_status status = fill_clock(store, sql, args, rows);
    if (status != TP_OK) return status;
    struct tpi_places places = places_for(sql, args, rows);
    status = prepare(store, statement, &places, &prepared);
    if (status == TP_OK) status = freshen(store, prepared, args);
    if (status == TP_OK && changes) tpi_stmt_limit_wait(&prepared->stmt);
    if (status == TP_OK) status = bind_and_execute(store, prepared, args, rows);
    if (status == TP_OK) *stmt = &prepared->stmt;
    if (status == TP_CONFLICT && store->link.diag.class == TPI_CLASS_CURSORS) tpi_prepared_forget_all(store);
    return status;
}

/* Settings of the session may be lost with what was prepared, so our own is left for a new one. */
static tp_status start_over(struct tpi_store *store) {
    store->link.forgotten = false;
    tpi_store_forget(store);
    return store->link.owned ? tpi_link_renew(&store->link) : TP_OK;
}

/* What was prepared a moment ago is not known again: nothing goes over this session any more. */
static tp_status leave(struct tpi_link *link) {
    const struct tpi_diag *diag = &link->diag;
    link->dead = true;
    return tpi_error_db(TP_DISCONNECTED, diag->state, diag->native, link->statement,
                        "the server does not know what was just prepared: %s [%s, %d]; reopen the connection "
                        "and ask again",
                        diag->text, diag->state, (int)diag->native);
}

/* What failed before the driver was asked, too, is missing in the transaction. */
static tp_status run(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                     size_t rows, bool changes, struct tpi_stmt **stmt) {
    store->link.forgotten = false;
    tp_status status = try_run(store, statement, args, rows, changes, stmt);
    if (status < TP_OK && store->link.forgotten) {
        status = start_over(store);
        if (status == TP_OK) status = try_run(store, statement, args, rows, changes, stmt);
        if (status < TP_OK && store->link.forgotten) status = leave(&store->link);
    }
    if (status < TP_OK) tpi_link_doom(&store->link);
    return status;
}

static tp_status change(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                        size_t count, int64_t *rows) {
    struct tpi_stmt *stmt = NULL;
    bool alone = store->link.tx == TPI_TX_NONE;
    if (alone) tpi_turn_take(&store->link);
    tp_status status = run(store, statement, args, count, true, &stmt);
    if (alone) tpi_turn_give(&store->link);
    if (status != TP_OK) return status;
    status = tpi_stmt_changed(stmt, rows);
    if (store->dialect->sql[statement].returns) tpi_stmt_close(stmt);
    stmt->open = false; /* no result to close */
    return status;
}

tp_status tpi_store_change(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                           int64_t *rows) {
    return change(store, statement, args, 1, rows);
}

tp_status tpi_store_change_one(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args) {
    int64_t rows = 0;
    tp_status status = change(store, statement, args, 1, &rows);
    if (status != TP_OK || rows == 1) return status;
    if (rows == 0) return TP_NONE;
    tpi_link_doom(&store->link);
    return tpi_error(TP_DB,
                     "%s changed %lld rows where it must change one; the primary key of the table is missing",
                     tpi_statement_name(statement), (long long)rows);
}

tp_status tpi_store_change_rows(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                                size_t count, int64_t *rows) {
    return change(store, statement, args, count, rows);
}

tp_status tpi_store_query(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                          struct tpi_stmt **rows) {
    return run(store, statement, args, 1, false, rows);
}

tp_status tpi_store_query_rows(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                               size_t count, struct tpi_stmt **rows) {
    return run(store, statement, args, count, false, rows);
}

tp_status tpi_store_exists(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                           bool *found) {
    struct tpi_stmt *stmt = NULL;
    tp_status status = run(store, statement, args, 1, false, &stmt);
    if (status != TP_OK) return status;
    status = tpi_stmt_fetch(stmt);
    tpi_stmt_close(stmt);
    if (status < TP_OK) return status;
    *found = status == TP_OK;
    return TP_OK;
}

tp_status tpi_store_long_text(struct tpi_store *store, struct tpi_buf *out) {
    return tpi_types_long_text(&store->link, out);
}

tp_status tpi_store_define_text(struct tpi_store *store, const char *name, struct tpi_buf *text,
                                const char *long_text) {
    struct tpi_buf sql = {0};
    const char *word = long_text ? store->dialect->long_text : NULL;
    tpi_render_names(&store->names, text);
    if (!text->failed) tpi_render_script(text->data, store->prefix, word, long_text, &sql);
    tp_status status = text->failed || sql.failed ? tpi_error(TP_NOMEM, "out of memory")
                                                  : tpi_stmt_direct(&store->link, name, sql.data);
    tpi_buf_free(&sql);
    return status;
}

tp_status tpi_store_define(struct tpi_store *store, enum tpi_statement statement) {
    struct tpi_buf long_text = {0}, text = {0};
    tp_status status = store->dialect->long_text ? tpi_store_long_text(store, &long_text) : TP_OK;
    tpi_render(&store->dialect->sql[statement], store->prefix, (struct tpi_places){0}, &text);
    if (status == TP_OK)
        status = tpi_store_define_text(store, tpi_statement_name(statement), &text, long_text.data);
    tpi_buf_free(&text);
    tpi_buf_free(&long_text);
    return status;
}
