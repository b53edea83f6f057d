/* Which handlers are paused, as the pause table has it; each connection knows it for a second. Claims ask
 * here; nothing else depends on it. Read next: claim.c. */
#include "ops/pause.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/record.h"

enum { LOOK_AGAIN_MS = 1000 };

void tpi_pauses_free(struct tpi_pauses *pauses) {
    if (!pauses) return;
    tpi_texts_free(&pauses->texts);
    free(pauses->all);
    free(pauses);
}

void tpi_pause_forget(tp_conn *conn) {
    tpi_pauses_free(conn->pauses);
    conn->pauses = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, tp_paused, handler),
    TPI_COLUMN(TEXT, tp_paused, who),
    TPI_COLUMN(TEXT, tp_paused, why),
    TPI_COLUMN(NUMBER, tp_paused, since),
    TPI_COLUMN_END,
};

static tp_status read_all(tp_conn *conn, struct tpi_pauses *pauses) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tp_paused paused;
    tp_status status = tpi_store_query(&conn->store, TPI_S_pause_list, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, columns, &pauses->texts, &paused)) == TP_OK) {
        tp_paused *all = realloc(pauses->all, (pauses->count + 1) * sizeof *all);
        if (!all) {
            status = tpi_error(TP_NOMEM, "out of memory");
            break;
        }
        pauses->all = all;
        all[pauses->count++] = paused;
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_pauses_read(tp_conn *conn, struct tpi_pauses **out) {
    struct tpi_pauses *pauses = calloc(1, sizeof *pauses);
    if (!pauses) return tpi_link_no_memory(&conn->store.link);
    pauses->read_at = tpi_clock_mono_ms();
    tp_status status = read_all(conn, pauses);
    if (status == TP_OK)
        *out = pauses;
    else
        tpi_pauses_free(pauses);
    return status;
}

/* ---- For claims ---------------------------------------------------------------------------------------- */

static tp_status look(tp_conn *conn) {
    struct tpi_pauses *pauses = NULL;
    if (conn->pauses && tpi_clock_mono_ms() - conn->pauses->read_at < LOOK_AGAIN_MS) return TP_OK;
    tp_status status = tpi_pauses_read(conn, &pauses);
    if (status != TP_OK) return status;
    tpi_pause_forget(conn);
    conn->pauses = pauses;
    return TP_OK;
}

static bool is_paused(const struct tpi_pauses *pauses, const char *handler) {
    for (size_t i = 0; pauses && i < pauses->count; i++)
        if (strcmp(pauses->all[i].handler, handler) == 0) return true;
    return false;
}

tp_status tpi_pause_leave_out(tp_conn *conn, const char *const *handlers, size_t count, const char **open,
                              size_t *open_count) {
    *open_count = 0;
    tp_status status = look(conn);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        if (!is_paused(conn->pauses, handlers[i])) open[(*open_count)++] = handlers[i];
    return status;
}
