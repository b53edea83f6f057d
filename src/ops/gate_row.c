/* What a gate lets through. Its row is locked by an update, which at any level of isolation either works on
 * what the last one left, or fails; who has written a row also reads it as it is now. So the row itself
 * counts the tasks that were let through and have not ended, and under its lock the next are let through as
 * long as there is room. See gate_row.h. */
#include "ops/gate_row.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/refused.h"
#include "store/cursor.h"

enum { TRIES = 10, NEXT_MAX = 100 };

tp_status tpi_gate_read(tp_conn *conn, const char *name, struct tpi_gate_row *gate) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct tpi_gate_row, width),
        TPI_COLUMN(CHARS, struct tpi_gate_row, on_failure),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, next_place),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, through),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, tokens),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, period_ms),
        TPI_COLUMN(CHARS, struct tpi_gate_row, held),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, token_at),
        TPI_COLUMN(CHARS, struct tpi_gate_row, pattern),
        TPI_COLUMN(EXACT, struct tpi_gate_row, now),
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

/* ---- Patterns ------------------------------------------------------------------------------------------ */

static bool is_key(const char *name) {
    return *name == TPI_GATE_KEY;
}

/* Each beginning of the name with a * behind it, in all; the shortest first. */
static size_t list_patterns(const char *name, char (*all)[TP_HANDLER_MAX + 2]) {
    size_t count = is_key(name) ? 1 : strnlen(name, TP_HANDLER_MAX) + 1;
    for (size_t i = 0; i < count; i++)
        snprintf(all[i], sizeof all[i], "%.*s%c", is_key(name) ? 0 : (int)i, name,
                 is_key(name) ? TPI_GATE_KEY : TPI_GATE_PATTERN);
    return count;
}

tp_status tpi_gate_pattern(tp_conn *conn, const char *name, struct tpi_gate_row *made) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(CHARS, struct tpi_gate_row, pattern),    TPI_COLUMN(NUMBER, struct tpi_gate_row, width),
        TPI_COLUMN(CHARS, struct tpi_gate_row, on_failure), TPI_COLUMN(NUMBER, struct tpi_gate_row, tokens),
        TPI_COLUMN(NUMBER, struct tpi_gate_row, period_ms), TPI_COLUMN_END,
    };
    char names[TP_HANDLER_MAX + 1][TP_HANDLER_MAX + 2];
    const char *list[TP_HANDLER_MAX + 1];
    struct tpi_gate_row one;
    struct tpi_cursor cursor;
    struct tpi_args args = {0};
    size_t count = list_patterns(name, names);
    *made = (struct tpi_gate_row){.width = 1, .on_failure = "block", .pattern = {TPI_GATE_KEY}};
    if (!is_key(name)) made->pattern[0] = '\0';
    for (size_t i = 0; i < count; i++)
        list[i] = names[i];
    tpi_args_list(&args, list, count);
    tpi_cursor_open(&cursor, &conn->store, TPI_S_gate_patterns, &args, columns, SIZE_MAX);
    while (tpi_cursor_next(&cursor, &one))
        if (strlen(one.pattern) >= strlen(made->pattern)) *made = one;
    tp_status status = tpi_cursor_close(&cursor);
    if (status < TP_OK) return status;
    return *made->pattern ? TP_OK : TP_NONE;
}

/* Another session may make it at the same time; where that is an error that ends the transaction, the call is
 * to be made again. TP_NONE: no pattern makes it. */
static tp_status make(tp_conn *conn, const char *name) {
    struct tpi_gate_row gate;
    struct tpi_args args = {0};
    tp_status status = tpi_gate_pattern(conn, name, &gate);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_pattern, gate.pattern);
    tpi_args_number(&args, TPI_P_width, gate.width);
    tpi_args_text(&args, TPI_P_on_failure, gate.on_failure);
    if (gate.tokens) {
        tpi_args_number(&args, TPI_P_tokens, gate.tokens);
        tpi_args_number(&args, TPI_P_period_ms, gate.period_ms);
    }
    status = tpi_store_change_one(&conn->store, TPI_S_gate_add, &args);
    bool there = tpi_refused_as_there(status);
    bool alone = conn->store.caps & TPI_CAP_LOCKING_READ; /* the insert alone failed */
    if (status == TP_NONE || (alone && there)) return TP_OK;
    if (!there) return status;
    return tpi_error(TP_CONFLICT, "another session has just made gate %s; ask again", name);
}

tp_status tpi_gate_lock_or_make(tp_conn *conn, const char *name, size_t count, struct tpi_gate_row *gate) {
    tp_status status = TP_NONE, made = TP_OK;
    for (int i = 0; i < TRIES && status == TP_NONE && made == TP_OK; i++) {
        status = lock(conn, name, count, gate);
        if (status == TP_NONE) made = make(conn, name);
    }
    if (made < TP_OK) return made;
    if (status == TP_NONE) status = not_locked(conn, name);
    if (status != TP_NONE) return status;
    if (made == TP_NONE)
        return tpi_error(TP_MISUSE, "there is no gate %s; 'taskpool gate set' makes one", name);
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

/* What the gate's row is to say. */
struct level {
    int64_t through, token_at;
    struct tpi_tokens held;
};

static tp_status note(tp_conn *conn, const char *name, const struct tpi_gate_row *gate,
                      const struct level *level) {
    char held[TPI_TOKENS_TEXT];
    struct tpi_args args = {0};
    tpi_tokens_write(&level->held, held);
    if (level->through == gate->through && level->token_at == gate->token_at && strcmp(held, gate->held) == 0)
        return TP_OK;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_width, level->through);
    tpi_args_text(&args, TPI_P_held, held);
    if (level->token_at) tpi_args_number(&args, TPI_P_token_at, level->token_at);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_note, &args);
    if (status == TP_OK && level->token_at && !atomic_exchange(&conn->env->gate_tokens, true))
        tpi_conn_let_through(conn); /* so that a worker looks when it is to look */
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

/* Tokens are held by tasks that were let through, and for a period after their end. */
static int64_t tokens_left(const struct tpi_gate_row *gate, const struct level *level) {
    return gate->tokens ? gate->tokens - level->through - tpi_tokens_held(&level->held) : INT64_MAX;
}

static int64_t room_of(const struct tpi_gate_row *gate, const struct level *level) {
    int64_t places = gate->width - level->through, tokens = tokens_left(gate, level);
    return places < tokens ? places : tokens;
}

/* Who waits is read as it is now, also in a transaction that began before. */
static tp_status let_next_through(tp_conn *conn, const char *name, const struct tpi_gate_row *gate,
                                  struct level *level, bool *nobody_waits) {
    struct next next[NEXT_MAX];
    char first[TPI_UUID_SIZE] = "";
    size_t count = 1;
    tp_status status = TP_OK;
    for (int64_t room; status == TP_OK && count && (room = room_of(gate, level)) > 0;) {
        status = read_next(conn, name, room < NEXT_MAX ? (size_t)room : NEXT_MAX, next, &count);
        if (status == TP_OK && count && strcmp(next[0].id, first) == 0)
            return tpi_refused_silently(&conn->store, "kept a task where it waited", "gate_task");
        if (count) memcpy(first, next[0].id, sizeof first);
        if (status == TP_OK) status = let_all_through(conn, name, next, count, &level->through);
    }
    *nobody_waits = !count;
    return status;
}

tp_status tpi_gate_fill(tp_conn *conn, const char *name, const struct tpi_gate_row *gate, int64_t ended) {
    struct level level = {.through = gate->through - ended};
    bool nobody_waits = false, made = *gate->pattern || is_key(name);
    int64_t behind = conn->store.clock.behind_ms; /* 0 where the database itself tells the time */
    tpi_tokens_read(gate->held, &level.held);     /* without tokens they stay, should there be some again */
    if (gate->tokens) {
        tpi_tokens_return(&level.held, gate->period_ms, gate->now, 4 * behind);
        tpi_tokens_hold(&level.held, gate->period_ms, gate->now + behind, ended);
    }
    tp_status status = let_next_through(conn, name, gate, &level, &nobody_waits);
    if (status != TP_OK) return status;
    bool empty = nobody_waits && !level.through && made;
    if (empty && (!gate->tokens || !level.held.count)) {
        status = tpi_gate_change(conn, TPI_S_gate_remove, name, "");
        return status == TP_NONE ? TP_OK : status;
    }
    if (empty) level.token_at = tpi_tokens_last(&level.held, gate->period_ms);
    if (!nobody_waits && tokens_left(gate, &level) <= 0)
        level.token_at = tpi_tokens_first(&level.held, gate->period_ms);
    return note(conn, name, gate, &level);
}

/* ---- For tests ----------------------------------------------------------------------------------------- */

static tp_status advance(tp_conn *conn, const char *name, int64_t ms) {
    struct tpi_gate_row gate;
    struct level level = {0};
    tp_status status = tpi_gate_read(conn, name, &gate);
    if (status != TP_OK) return status;
    tpi_tokens_read(gate.held, &level.held);
    for (size_t i = 0; i < level.held.count; i++)
        level.held.held[i].ended_at -= ms;
    level.through = gate.through;
    if (gate.token_at) level.token_at = gate.token_at - ms;
    return note(conn, name, &gate, &level);
}

tp_status tpi_gates_advance(tp_conn *conn, int64_t ms) {
    struct tpi_args args = {0};
    struct tpi_keys gates = {.count = 0};
    tp_status status = tpi_store_keys(&conn->store, TPI_S_gate_tokens, &args, &gates);
    for (size_t i = 0; i < gates.count && status == TP_OK; i++)
        status = advance(conn, gates.all[i], ms);
    tpi_keys_free(&gates);
    return status == TP_NONE ? TP_OK : status;
}
