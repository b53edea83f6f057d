/* Pausing handlers and going on with them: who paused what is a row of the pause table, and the history keeps
 * it. Read next: pause_list.c. */
#include "ops/pause.h"
#include "base/error.h"
#include "base/utf8.h"
#include "ops/history.h"
#include "ops/refused.h"

struct request {
    const char *handler;
    char who[TPI_WHO_SIZE]; /* "": this process */
    char why[TP_REASON_MAX + 1];
};

static tp_status make_request(tp_conn *conn, const char *handler, const char *who, const char *why,
                              struct request *request) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_check_handler(handler);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    request->handler = handler;
    tpi_who(request->who);
    if (who && *who) tpi_utf8_copy(who, request->who, sizeof request->who);
    tpi_utf8_copy(why ? why : "", request->why, sizeof request->why);
    return TP_OK;
}

static void fill_args(const struct request *request, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_handler, request->handler);
    tpi_args_text(args, TPI_P_who, request->who);
    tpi_args_text(args, TPI_P_reason, request->why);
}

static tp_status tell(tp_conn *conn, const struct request *request, const char *event) {
    struct tpi_told told = {
        .handler = request->handler, .event = event, .who = request->who, .reason = request->why};
    return tpi_history_add(conn, &told);
}

/* Asked first, because a second row would be an error, which ends a transaction around. */
static tp_status pause_handler(tp_conn *conn, const struct request *request) {
    struct tpi_args args;
    bool found = false;
    fill_args(request, &args);
    tp_status status = tpi_store_exists(&conn->store, TPI_S_pause_find, &args, &found);
    if (status != TP_OK || found) return found ? TP_EXISTS : status;
    status = tpi_store_change_one(&conn->store, TPI_S_pause_add, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "pause");
    return status == TP_OK ? tell(conn, request, TPI_TOLD_PAUSED) : status;
}

static tp_status resume_handler(tp_conn *conn, const struct request *request) {
    struct tpi_args args;
    bool found = false;
    fill_args(request, &args);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_pause_remove, &args);
    tp_status looked =
        status == TP_NONE ? tpi_store_exists(&conn->store, TPI_S_pause_find, &args, &found) : TP_OK;
    if (looked != TP_OK) return looked;
    if (found) return tpi_refused_silently(&conn->store, "kept a row that was to go", "pause");
    return status == TP_OK ? tell(conn, request, TPI_TOLD_RESUMED) : status;
}

static tp_status in_scope(tp_conn *conn, const struct request *request,
                          tp_status (*act)(tp_conn *, const struct request *)) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(conn, &scope, act(conn, request));
    tpi_pause_forget(conn);
    return status;
}

tp_status tp_pause(tp_conn *conn, const char *handler, const char *who, const char *why) {
    struct request request = {0};
    tp_status status = make_request(conn, handler, who, why, &request);
    if (status == TP_OK) status = in_scope(conn, &request, pause_handler);
    /* Somebody else paused it at the same moment: now there is a row. */
    bool again = status == TP_CONFLICT && tpi_conn_is_alone(conn);
    if (again) status = in_scope(conn, &request, pause_handler);
    return again ? tpi_refused_judge(&conn->store, status, "pause", tpi_refused_by_none, NULL) : status;
}

tp_status tp_resume(tp_conn *conn, const char *handler, const char *who) {
    struct request request = {0};
    tp_status status = make_request(conn, handler, who, NULL, &request);
    return status == TP_OK ? in_scope(conn, &request, resume_handler) : status;
}

tp_status tp_paused_each(tp_conn *conn, tp_paused_fn see, void *arg) {
    struct tpi_pauses *pauses = NULL;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_paused_each: see is NULL");
    status = tpi_pauses_read(conn, &pauses);
    if (status != TP_OK || !pauses) return status;
    for (size_t i = 0; i < pauses->count; i++)
        see(&pauses->all[i], arg);
    status = pauses->count ? TP_OK : TP_NONE;
    tpi_pauses_free(pauses);
    return status;
}
