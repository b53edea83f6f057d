/* Finds what others left at gates, and mends it: places of tasks that are gone, rows that count wrongly, room
 * that nobody filled. Read next: gate_row.c. */
#include <stdlib.h>

#include "base/texts.h"
#include "ops/for_workers.h"
#include "ops/gate_row.h"
#include "store/record.h"

/* Takes the places of those that have ended. */
static tp_status drop_gone(tp_conn *conn, const char *name) {
    static const struct tpi_column only[] = {{TPI_READ_ID, 0, TPI_UUID_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    void *all = NULL;
    size_t count = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status =
        tpi_store_list(&conn->store, TPI_S_gate_gone, &args, only, NULL, TPI_UUID_SIZE, &all, &count);
    char(*ids)[TPI_UUID_SIZE] = all;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        status = tpi_gate_change(conn, TPI_S_gate_leave, name, ids[i]);
        if (status == TP_NONE) status = TP_OK;
    }
    free(all);
    return status;
}

tp_status tpi_gate_mend(tp_conn *conn, const char *name) {
    struct tpi_gate_row gate = {0};
    struct tpi_args args = {0};
    int64_t there = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_gate_lock(conn, name, 0, &gate);
    if (status != TP_OK) return status < TP_OK ? status : TP_OK;
    status = drop_gone(conn, name);
    if (status == TP_OK) status = tpi_ask_number(conn, TPI_S_gate_count, &args, &there);
    return status == TP_OK ? tpi_gate_fill(conn, name, &gate, gate.through - there) : status;
}

static tp_status mend_in_scope(tp_conn *conn, const char *name) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = tpi_gate_mend(conn, name);
    return tpi_scope_end(conn, &scope, status);
}

tp_status tpi_gates_mend(tp_conn *conn) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(TEXT);
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    void *all = NULL;
    size_t count = 0;
    tp_status met = TP_OK;
    tp_status status =
        tpi_store_list(&conn->store, TPI_S_gate_lacking, &args, only, &texts, sizeof(char *), &all, &count);
    const char *const *names = all;
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        status = mend_in_scope(conn, names[i]);
        bool next_may_do = status == TP_CONFLICT || status == TP_TIMEOUT || status == TP_DB;
        if (status == TP_DB || (next_may_do && met == TP_OK)) met = status;
        if (next_may_do) status = TP_OK;
    }
    free(all);
    tpi_texts_free(&texts);
    return status == TP_OK ? met : status;
}
