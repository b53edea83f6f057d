/* Reads which handlers are paused, and when the first task is not wanted any more; each connection keeps the
 * answer for a second. Read next: pause.c, cancel.c. */
#include "ops/pause.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/record.h"

enum { READ_AGAIN_MS = 1000 };

/* By tpi_clock_boot_ms, which goes on while the machine sleeps: until then claims look by themselves. */
static atomic_int_least64_t look_until;

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

/* The row of a name that no handler has says in how many ms. */
static void take_unwanted(struct tpi_pauses *pauses) {
    size_t kept = 0;
    pauses->unwanted_at = INT64_MAX;
    for (size_t i = 0; i < pauses->count; i++) {
        if (strcmp(pauses->all[i].handler, "!") != 0)
            pauses->all[kept++] = pauses->all[i];
        else if (pauses->all[i].since < TP_DURATION_MAX)
            pauses->unwanted_at = pauses->read_at + pauses->all[i].since;
    }
    pauses->count = kept;
}

tp_status tpi_pauses_read(tp_conn *conn, struct tpi_pauses **out) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, tp_paused, handler),
        TPI_COLUMN(TEXT, tp_paused, who),
        TPI_COLUMN(TEXT, tp_paused, why),
        TPI_COLUMN(NUMBER, tp_paused, since),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_pauses *pauses = calloc(1, sizeof *pauses);
    if (!pauses) return tpi_link_no_memory(&conn->store.link);
    pauses->read_at = tpi_clock_boot_ms();
    void *all = NULL;
    tp_status status = tpi_store_list(&conn->store, TPI_S_pause_list, &args, columns, &pauses->texts,
                                      sizeof *pauses->all, &all, &pauses->count);
    pauses->all = all;
    if (status != TP_OK) {
        tpi_pauses_free(pauses);
        return status;
    }
    take_unwanted(pauses);
    *out = pauses;
    return TP_OK;
}

bool tpi_pause_knows(const tp_conn *conn, const char *handler) {
    const struct tpi_pauses *pauses = conn->pauses;
    for (size_t i = 0; pauses && i < pauses->count; i++)
        if (strcmp(pauses->all[i].handler, handler) == 0) return true;
    return false;
}

tp_status tpi_pause_refresh(tp_conn *conn) {
    struct tpi_pauses *pauses = NULL;
    if (conn->pauses && tpi_clock_boot_ms() - conn->pauses->read_at < READ_AGAIN_MS) return TP_OK;
    tp_status status = tpi_pauses_read(conn, &pauses);
    if (status != TP_OK) return status;
    tpi_pause_forget(conn);
    conn->pauses = pauses;
    return TP_OK;
}

void tpi_pause_hint(bool on) {
    atomic_store(&look_until, on ? tpi_clock_boot_ms() + 2 * READ_AGAIN_MS : 0);
}

bool tpi_pause_unwanted(const tp_conn *conn) {
    int64_t now = tpi_clock_boot_ms();
    return !conn->pauses || now >= conn->pauses->unwanted_at || now < atomic_load(&look_until);
}

tp_status tpi_pause_leave_out(tp_conn *conn, const char *const *handlers, size_t count, const char **open,
                              size_t *open_count) {
    *open_count = 0;
    bool none = conn->pauses && conn->pauses->count == 0;
    tp_status status = none ? TP_OK : tpi_pause_refresh(conn);
    if (status != TP_OK) return status;
    for (size_t i = 0; i < count; i++)
        if (!tpi_pause_knows(conn, handlers[i])) open[(*open_count)++] = handlers[i];
    return TP_OK;
}
