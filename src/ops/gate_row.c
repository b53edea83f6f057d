/* What a gate lets through. Its row is locked by an update, which at any level of isolation either works on
 * what the last one left, or fails; who has written a row also reads it as it is now. So the row itself
 * counts the tasks that were let through and have not ended, and under its lock the next are let through as
 * long as there is room. See gate_row.h. */
#include "ops/gate_row.h"

#include <string.h>

#include "base/error.h"
#include "ops/refused.h"
#include "store/record.h"

enum { TRIES = 10, NEXT_MAX = 100 };

bool tpi_gate_is_key(const char *name) {
    return *name == TPI_GATE_KEY;
}

tp_status tpi_gate_read(tp_conn *conn, const char *name, struct tpi_gate_row *gate) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct tpi_gate_row, width),
        TPI_COLUMN(CHARS, struct tpi_gate_row, on_failure),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, next_place),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, through),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    return tpi_store_read(&conn->store, TPI_S_gate_read, &args, columns, NULL, gate);
}

/* It is not there, or something keeps it as it is and says nothing. */
static tp_status not_locked(tp_conn *conn, const char *name) {
    struct tpi_gate_row gate;
    tp_status status = tpi_gate_read(conn, name, &gate);
    return status == TP_OK ? tpi_refused_silently(&conn->store, "kept a gate as it was", "gate") : status;
}

static tp_status lock(tp_conn *conn, const char *name, size_t count, struct tpi_gate_row *gate) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_place, (int64_t)count);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_lock, &args);
    return status == TP_OK ? tpi_gate_read(conn, name, gate) : status;
}

tp_status tpi_gate_lock(tp_conn *conn, const char *name, size_t count, struct tpi_gate_row *gate) {
    tp_status status = lock(conn, name, count, gate);
    return status == TP_NONE ? not_locked(conn, name) : status;
}

/* The gate of an order key, as the row = says. Another session may make it at the same time; where that is an
 * error that ends the transaction, the call is to be made again. */
static tp_status make(tp_conn *conn, const char *name) {
    static const char model[] = {TPI_GATE_KEY, '\0'};
    struct tpi_gate_row gate = {.width = 1};
    struct tpi_args args = {0};
    tp_status status = tpi_gate_read(conn, model, &gate);
    if (status < TP_OK) return status;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_width, gate.width);
    tpi_args_text(&args, TPI_P_on_failure, status == TP_OK ? gate.on_failure : "block");
    status = tpi_store_change_one(&conn->store, TPI_S_gate_add, &args);
    bool there = tpi_refused_as_there(&conn->store, status);
    bool alone = conn->store.caps & TPI_CAP_LOCKING_READ; /* the insert alone failed */
    if (status == TP_NONE || (alone && there)) return TP_OK;
    if (!there) return status;
    conn->store.link.diag.class = TPI_CLASS_CONFLICT; /* no task was there */
    return tpi_error(TP_CONFLICT, "another session has just made the gate of this order key; ask again");
}

tp_status tpi_gate_lock_or_make(tp_conn *conn, const char *name, size_t count, struct tpi_gate_row *gate) {
    tp_status status = TP_NONE;
    bool made = tpi_gate_is_key(name);
    for (int i = 0; i < TRIES; i++) {
        status = lock(conn, name, count, gate);
        if (status != TP_NONE || !made) break;
        tp_status done = make(conn, name);
        if (done != TP_OK) return done;
    }
    if (status == TP_NONE) status = not_locked(conn, name);
    if (status != TP_NONE) return status;
    if (!made) return tpi_error(TP_MISUSE, "there is no gate %s; 'taskpool gate set' makes one", name);
    return tpi_refused_silently(&conn->store, "stored no row", "gate");
}

/* ---- Its tasks ----------------------------------------------------------------------------------------- */

tp_status tpi_gate_change(tp_conn *conn, enum tpi_statement statement, const char *name, const char *id) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_change_one(&conn->store, statement, &args);
}

/* TP_NONE: it has left the pool, and its place goes with it, or it was let through before. */
static tp_status let_through(tp_conn *conn, const char *name, const char *id) {
    tp_status status = tpi_gate_change(conn, TPI_S_gate_open, name, id);
    if (status == TP_OK) return tpi_gate_change(conn, TPI_S_gate_pass, name, id);
    if (status == TP_NONE) status = tpi_gate_change(conn, TPI_S_gate_forget, name, id);
    return status == TP_OK ? TP_NONE : status;
}

struct next {
    char id[TPI_UUID_SIZE];
};

static tp_status read_next(tp_conn *conn, const char *name, size_t limit, struct next *all, size_t *count) {
    static const struct tpi_column columns[] = {TPI_COLUMN(ID, struct next, id), TPI_COLUMN_END};
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    *count = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_limit, (int64_t)limit);
    bool locks = conn->store.caps & TPI_CAP_LOCKING_READ; /* not only when lent, as in enqueue.c */
    tp_status status =
        tpi_store_query(&conn->store, locks ? TPI_S_gate_next_locking : TPI_S_gate_next, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_record_all(stmt, columns, NULL, all, sizeof *all, limit, count);
}

static tp_status note(tp_conn *conn, const char *name, int64_t through) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_width, through);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_note, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "kept a gate as it was", "gate") : status;
}

/* Adds to through how many of them were let through. */
static tp_status let_all_through(tp_conn *conn, const char *name, const struct next *next, size_t count,
                                 int64_t *through) {
    for (size_t i = 0; i < count; i++) {
        tp_status status = let_through(conn, name, next[i].id);
        if (status < TP_OK) return status;
        if (status == TP_NONE) continue;
        tpi_conn_let_through(conn);
        ++*through;
    }
    return TP_OK;
}

/* Who waits is read as it is now, also in a transaction that began before. */
tp_status tpi_gate_fill(tp_conn *conn, const char *name, const struct tpi_gate_row *gate, int64_t ended) {
    struct next next[NEXT_MAX];
    char first[TPI_UUID_SIZE] = "";
    int64_t through = gate->through - ended;
    size_t count = 1;
    tp_status status = TP_OK;
    while (status == TP_OK && through < gate->width && count) {
        int64_t room = gate->width - through;
        status = read_next(conn, name, room < NEXT_MAX ? (size_t)room : NEXT_MAX, next, &count);
        if (status == TP_OK && count && strcmp(next[0].id, first) == 0)
            return tpi_refused_silently(&conn->store, "kept a task where it waited", "gate_task");
        if (count) memcpy(first, next[0].id, sizeof first);
        if (status == TP_OK) status = let_all_through(conn, name, next, count, &through);
    }
    bool gone = status == TP_OK && !through && !count && tpi_gate_is_key(name);
    if (gone) {
        status = tpi_gate_change(conn, TPI_S_gate_remove, name, "");
        return status == TP_NONE ? TP_OK : status;
    }
    return status == TP_OK && through != gate->through ? note(conn, name, through) : status;
}
