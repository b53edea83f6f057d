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

typedef tp_status (*gate_fn)(tp_conn *conn, const char *name);

/* Each in a transaction of its own. One that others are at, or that cannot be written, holds up no other. */
static tp_status do_each(tp_conn *conn, gate_fn fn, const char *const *names, size_t count) {
    tp_status met = TP_OK;
    for (size_t i = 0; i < count; i++) {
        struct tpi_scope scope;
        tp_status status = tpi_scope_begin(conn, &scope);
        if (status == TP_OK) status = fn(conn, names[i]);
        status = tpi_scope_end(conn, &scope, status);
        bool next_may_do = status == TP_CONFLICT || status == TP_TIMEOUT || status == TP_DB;
        if (status < TP_OK && !next_may_do) return status;
        if (status == TP_DB || (status < TP_OK && met == TP_OK)) met = status;
    }
    return met;
}

tp_status tpi_gates_mend(tp_conn *conn) {
    struct tpi_args args = {0};
    struct tpi_keys gates = {.count = 0};
    tp_status status = tpi_store_keys(&conn->store, TPI_S_gate_lacking, &args, &gates);
    if (status == TP_OK) status = do_each(conn, tpi_gate_mend, gates.all, gates.count);
    tpi_keys_free(&gates);
    return status;
}

/* ---- Tokens -------------------------------------------------------------------------------------------- */

static tp_status fill(tp_conn *conn, const char *name) {
    struct tpi_gate_row gate = {0};
    tp_status status = tpi_gate_lock(conn, name, 0, &gate);
    bool due = status == TP_OK && gate.token_at && gate.token_at <= gate.now;
    return due ? tpi_gate_fill(conn, name, &gate, 0) : status < TP_OK ? status : TP_OK;
}

struct waiting {
    const char *name;
    int64_t token_at, now;
};

tp_status tpi_gates_give_tokens(tp_conn *conn, int64_t *wait_ms) {
    enum { MOST = 100 };
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct waiting, name),
        TPI_COLUMN(NUMBER, struct waiting, token_at),
        TPI_COLUMN(EXACT, struct waiting, now),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    struct tpi_stmt *stmt = NULL;
    struct waiting all[MOST];
    const char *due[MOST];
    size_t count = 0, some = 0;
    tpi_args_number(&args, TPI_P_limit, MOST);
    tp_status status = tpi_store_query(&conn->store, TPI_S_gate_waiting, &args, &stmt);
    if (status == TP_OK) status = tpi_record_all(stmt, columns, &texts, all, sizeof *all, MOST, &count);
    while (status == TP_OK && some < count && all[some].token_at <= all[some].now) {
        due[some] = all[some].name;
        some++;
    }
    *wait_ms = some < count ? all[some].token_at - all[some].now : some == MOST ? 0 : -1;
    if (status == TP_OK) status = do_each(conn, fill, due, some);
    tpi_texts_free(&texts);
    return status;
}

tp_status tpi_gates_look_for_tokens(tp_conn *conn) {
    struct tpi_args args = {0};
    bool found = false;
    tp_status status = tpi_store_exists(&conn->store, TPI_S_gate_tokens, &args, &found);
    if (status == TP_OK) atomic_store(&conn->env->gate_tokens, found);
    return status;
}

bool tpi_gates_may_have_tokens(tp_env *env) {
    return atomic_load(&env->gate_tokens);
}
