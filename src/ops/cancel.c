/* See cancel.h: the rows of tp_cancel. The call that ends one task: cancel_one.c; what maintenance does with
 * the rows: cancel_sweep.c. */
#include "ops/cancel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/date.h"
#include "ops/for_workers.h"
#include "ops/history.h"
#include "ops/pause.h"
#include "ops/refused.h"

/* ---- What is not wanted any more ----------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
    const struct tpi_unwanted *one = a, *two = b;
    return strcmp(one->id, two->id);
}

/* What was a deadline, as the reason names it: to the second, so that maintenance can skip many with one. */
static const char *name_deadline(struct tpi_texts *texts, int64_t due_at) {
    char date[TPI_DATE_SIZE], text[TPI_DATE_SIZE + 32];
    int64_t at = due_at > 0 ? due_at / 1000 : 0, second = at % TPI_DAY_S;
    tpi_date_text(at / TPI_DAY_S, date);
    int length = snprintf(text, sizeof text, "%s %02d:%02d:%02d UTC,", date, (int)(second / 3600),
                          (int)(second / 60 % 60), (int)(second % 60));
    return tpi_texts_keep(texts, text, (size_t)length);
}

tp_status tpi_unwanted_read(struct tpi_stmt *stmt, const struct tpi_column *columns, struct tpi_texts *texts,
                            void *rows, size_t size, size_t limit, size_t *count) {
    size_t at = *count;
    struct tpi_link *link = stmt->link;
    tp_status status = tpi_record_all(stmt, columns, texts, rows, size, limit, count);
    for (; at < *count && status == TP_OK; at++) {
        struct tpi_unwanted *one = (struct tpi_unwanted *)(void *)((char *)rows + at * size);
        if (!*one->who) one->why = name_deadline(texts, one->due_at);
        if (!one->why) status = tpi_link_no_memory(link);
    }
    return status;
}

static tp_status find_some(tp_conn *conn, const char *const *ids, size_t count,
                           struct tpi_unwanted_list *list) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct tpi_unwanted, id),
        TPI_COLUMN(TEXT, struct tpi_unwanted, who),
        TPI_COLUMN(TEXT, struct tpi_unwanted, why),
        TPI_COLUMN(NUMBER, struct tpi_unwanted, due_at),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_query(&conn->store, TPI_S_cancel_among, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_unwanted_read(stmt, columns, &list->texts, list->all, sizeof *list->all, list->count + count,
                             &list->count);
}

tp_status tpi_unwanted_find(tp_conn *conn, const char *const *ids, size_t count,
                            struct tpi_unwanted_list *list) {
    tp_status status = TP_OK;
    *list = (struct tpi_unwanted_list){.count = 0};
    if (!count) return TP_OK;
    list->all = calloc(count, sizeof *list->all);
    if (!list->all) return tpi_link_no_memory(&conn->store.link);
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        some = count - at < TPI_LIST_MAX ? count - at : TPI_LIST_MAX;
        status = find_some(conn, ids + at, some, list);
    }
    if (list->count) qsort(list->all, list->count, sizeof *list->all, by_id);
    return status;
}

const struct tpi_unwanted *tpi_unwanted_of(const struct tpi_unwanted_list *list, const char *id) {
    const struct tpi_unwanted wanted = {.id = id};
    if (!list->count) return NULL;
    return bsearch(&wanted, list->all, list->count, sizeof wanted, by_id);
}

void tpi_unwanted_free(struct tpi_unwanted_list *list) {
    tpi_texts_free(&list->texts);
    free(list->all);
    list->all = NULL;
    list->count = 0;
}

void tpi_cancel_reason(const char *who, const char *why, char out[TP_REASON_MAX + 1]) {
    char text[TPI_WHO_MAX + TP_REASON_MAX + 40];
    if (*who)
        snprintf(text, sizeof text, "cancelled by %.*s%s%.*s", TPI_WHO_MAX, who, *why ? ": " : "",
                 TP_REASON_MAX, why);
    else
        snprintf(text, sizeof text, "its deadline%s%.*s had passed", *why ? ", " : "", TP_REASON_MAX, why);
    tpi_utf8_copy(text, out, TP_REASON_MAX + 1);
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

tp_status tpi_cancel_ask(tp_conn *conn, const char *id, const char *who, const char *why, int64_t at,
                         bool *news) {
    struct tpi_store *store = &conn->store;
    struct tpi_args args = {0};
    bool asked = false, open = false;
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_text(&args, TPI_P_who, who);
    tpi_args_text(&args, TPI_P_reason, why);
    tpi_args_number(&args, TPI_P_at, at);
    *news = true;
    tp_status status = tpi_store_change_one(store, TPI_S_cancel_change, &args);
    if (status == TP_NONE) status = tpi_store_change_one(store, TPI_S_cancel_add, &args);
    tpi_pause_hint(true);
    if (status != TP_NONE) return status;
    *news = false;
    status = tpi_store_exists(store, TPI_S_cancel_asked, &args, &asked);
    if (status != TP_OK || asked) return status;
    status = tpi_store_exists(store, TPI_S_find_open, &args, &open);
    if (status == TP_OK && open) return tpi_refused_silently(store, "stored no row", "cancel");
    return status == TP_OK ? TP_NONE : status;
}

tp_status tpi_cancel_forget(tp_conn *conn, const char *const *ids, size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_list(&args, ids, count);
    return tpi_store_change(&conn->store, TPI_S_cancel_forget, &args, &rows);
}

tp_status tpi_cancel_retract(tp_conn *conn, const char *const *ids, size_t count) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    tpi_args_list(&args, ids, count);
    return tpi_store_change(&conn->store, TPI_S_cancel_retract, &args, &rows);
}

tp_status tpi_cancel_record(tp_conn *conn, const tp_task *task, const struct tpi_unwanted *unwanted) {
    struct tpi_args args = {0};
    int64_t rows = 0;
    char reason[TP_REASON_MAX + 1];
    tpi_cancel_reason(unwanted->who, unwanted->why, reason);
    struct tpi_history_event event = {.task_id = task->id,
                                      .handler = task->handler,
                                      .event = TPI_HISTORY_CANCELED,
                                      .owner = task->owner,
                                      .who = unwanted->who,
                                      .reason = reason};
    tpi_args_text(&args, TPI_P_id, task->id);
    tp_status status = tpi_store_change(&conn->store, TPI_S_cancel_remove, &args, &rows);
    return status == TP_OK ? tpi_history_add(conn, &event) : status;
}

/* ---- For workers --------------------------------------------------------------------------------------- */

tp_status tpi_cancel_look(tp_conn *conn, const char *const *ids, size_t count, tpi_cancel_fn see, void *arg) {
    struct tpi_unwanted_list list = {.count = 0};
    tp_status status = tpi_conn_ready(conn);
    tpi_pause_forget(conn);
    if (status == TP_OK) status = tpi_pause_refresh(conn);
    if (status != TP_OK) return status;
    if (!tpi_pause_unwanted(conn)) return TP_NONE;
    status = tpi_unwanted_find(conn, ids, count, &list);
    if (list.count) tpi_pause_hint(true);
    for (size_t i = 0; i < list.count && status == TP_OK; i++)
        see(list.all[i].id, list.all[i].who, list.all[i].why, arg);
    tpi_unwanted_free(&list);
    return status;
}

bool tpi_cancel_skips(tp_verdict verdict) {
    static const enum tpi_event events[] = {
        [TP_RUN_DONE] = TPI_EVENT_COMPLETE,
        [TP_RUN_FAILED] = TPI_EVENT_FAIL,
        [TP_RUN_SKIPPED] = TPI_EVENT_SKIP,
        [TP_RUN_LATER] = TPI_EVENT_RELEASE,
    };
    const struct tpi_facts facts = {.max_failures = INT32_MAX, .holder = true, .unwanted = true};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, events[verdict], &facts);
    return change.state == TPI_STATE_SKIPPED;
}

static tp_status settle(tp_conn *conn, const tp_task *task, const struct tpi_cancel_end *end) {
    const struct tpi_unwanted unwanted = {task->id, end->who, end->why, 0};
    struct tpi_args args = {0};
    int64_t rows = 0;
    tp_status status =
        end->reason ? tp_skip(conn, task, end->reason) : tp_complete_with(conn, task, end->result);
    if (status != TP_OK) return status;
    if (end->reason) return tpi_cancel_record(conn, task, &unwanted);
    tpi_args_text(&args, TPI_P_id, task->id);
    return tpi_store_change(&conn->store, TPI_S_cancel_remove, &args, &rows);
}

/* What an earlier try has stored is found by the token, outside of the transaction that met it. */
tp_status tpi_cancel_settle(tp_conn *conn, const tp_task *task, const struct tpi_cancel_end *end) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = settle(conn, task, end);
    status = tpi_scope_end(conn, &scope, status);
    if (status != TP_CONFLICT || !scope.own) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    if (tp_settled(conn, task) == TP_OK) return TP_OK;
    tpi_error_restore(&kept);
    return status;
}
