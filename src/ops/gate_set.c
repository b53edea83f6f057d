/* Gates as people manage them: makes, changes, removes and lists them. What a change lets through is let
 * through in its transaction. Read next: gate.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/gate.h"
#include "ops/refused.h"
#include "store/cursor.h"

static const char *const failure_names[] = {[TP_GATE_BLOCK] = "block", [TP_GATE_PASS] = "pass"};

static bool is_model(const char *name) {
    return name && name[0] == TPI_GATE_KEY && name[1] == '\0';
}

static tp_status check(tp_conn *conn, const char *name) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    return status == TP_OK && !is_model(name) ? tpi_check_gate_name(name) : status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct line {
    const char *name, *on_failure, *changed_by;
    int64_t width, through, waiting, changed_at;
};

static void open_lines(struct tpi_cursor *cursor, tp_conn *conn, const char *name) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct line, name),       TPI_COLUMN(NUMBER, struct line, width),
        TPI_COLUMN(TEXT, struct line, on_failure), TPI_COLUMN(NUMBER, struct line, through),
        TPI_COLUMN(NUMBER, struct line, waiting),  TPI_COLUMN(NUMBER, struct line, changed_at),
        TPI_COLUMN(TEXT, struct line, changed_by), TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_cursor_open(cursor, &conn->store, name ? TPI_S_gate_find : TPI_S_gate_list, &args, columns, SIZE_MAX);
}

static tp_gate gate_of(const struct line *line) {
    return (tp_gate){.name = line->name,
                     .through = line->through,
                     .waiting = line->waiting,
                     .changed_at = line->changed_at,
                     .changed_by = line->changed_by,
                     .width = (int32_t)line->width,
                     .on_failure = strcmp(line->on_failure, "pass") == 0 ? TP_GATE_PASS : TP_GATE_BLOCK};
}

/* TP_NONE: there is none. The names are not kept. */
static tp_status find(tp_conn *conn, const char *name, tp_gate *gate) {
    struct tpi_cursor cursor;
    struct line line;
    open_lines(&cursor, conn, name);
    if (tpi_cursor_next(&cursor, &line)) *gate = gate_of(&line);
    return tpi_cursor_close(&cursor);
}

tp_status tp_gate_each(tp_conn *conn, const char *name, tp_gate_fn see, void *arg) {
    struct tpi_cursor cursor;
    struct line line;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_gate_each: see is NULL");
    open_lines(&cursor, conn, name);
    while (tpi_cursor_next(&cursor, &line)) {
        tp_gate gate = gate_of(&line);
        see(&gate, arg);
    }
    return tpi_cursor_close(&cursor);
}

/* ---- Changing ------------------------------------------------------------------------------------------ */

struct asked {
    const char *name;
    int32_t width;
    tp_gate_failure on_failure;
    char who[TPI_WHO_MAX + 1];
};

/* Somebody else made it or removed it, or something keeps it as it is and says nothing. */
static tp_status not_changed(tp_conn *conn, const char *name, bool was_there) {
    tp_gate gate;
    tp_status status = find(conn, name, &gate);
    if (status < TP_OK) return status;
    if (was_there != (status == TP_OK))
        return tpi_error(TP_CONFLICT, "another session changed the gate meanwhile; ask again");
    return tpi_refused_silently(&conn->store, "kept a gate as it was", "gate");
}

/* In the transaction: of two who change it one waits. */
static tp_status store(tp_conn *conn, const struct asked *asked) {
    char detail[64];
    tp_gate old = {.width = -1};
    struct tpi_args args = {0};
    tp_status status = find(conn, asked->name, &old);
    bool there = status == TP_OK;
    if (status < TP_OK) return status;
    if (there && old.width == asked->width && old.on_failure == asked->on_failure) return TP_EXISTS;
    tpi_args_text(&args, TPI_P_name, asked->name);
    tpi_args_number(&args, TPI_P_width, asked->width);
    tpi_args_text(&args, TPI_P_on_failure, failure_names[asked->on_failure]);
    tpi_args_text(&args, TPI_P_who, asked->who);
    status = tpi_store_change_one(&conn->store, there ? TPI_S_gate_change : TPI_S_gate_add, &args);
    if (status == TP_NONE) return not_changed(conn, asked->name, there);
    if (status == TP_OK && !is_model(asked->name)) status = tpi_gate_mend(conn, asked->name);
    snprintf(detail, sizeof detail, "width %" PRId32 ", on failure %s", asked->width,
             failure_names[asked->on_failure]);
    struct tpi_act act = {.action = TPI_AUDIT_GATE_SET,
                          .who = asked->who,
                          .subject = asked->name,
                          .detail = detail,
                          .changed = 1};
    return status == TP_OK ? tpi_audit_add(conn, &act) : status;
}

static tp_status store_in_scope(tp_conn *conn, const struct asked *asked) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, store(conn, asked));
}

tp_status tp_gate_set(tp_conn *conn, const char *name, int32_t width, tp_gate_failure on_failure,
                      const char *who) {
    struct asked asked = {.name = name, .width = width, .on_failure = on_failure};
    tp_status status = check(conn, name);
    if (status == TP_OK && (width < 0 || width > TP_GATE_WIDTH_MAX))
        status = tpi_error(TP_MISUSE, "a gate's width is 0 to %d", TP_GATE_WIDTH_MAX);
    if (status == TP_OK && !width && is_model(name))
        status =
            tpi_error(TP_MISUSE, "the width of order keys is 1 or more: those that are made with 0 stay so");
    if (status == TP_OK && on_failure != TP_GATE_BLOCK && on_failure != TP_GATE_PASS)
        status = tpi_error(TP_MISUSE, "on_failure is neither TP_GATE_BLOCK nor TP_GATE_PASS");
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    (void)tpi_audit_who(conn, who, asked.who);
    bool alone = tpi_conn_is_alone(conn);
    status = store_in_scope(conn, &asked);
    /* Somebody else made it at the same moment: now there is one to change. */
    if (status == TP_CONFLICT && alone) status = store_in_scope(conn, &asked);
    return tpi_refused_judge(&conn->store, status, "gate", NULL, NULL);
}

/* ---- Removing ------------------------------------------------------------------------------------------ */

static tp_status remove_gate(tp_conn *conn, const char *name, const char *who) {
    tp_gate gate = {.width = -1};
    struct tpi_args args = {0};
    tp_status status = tpi_gate_mend(conn, name); /* which locks it */
    if (status == TP_OK) status = find(conn, name, &gate);
    if (status != TP_OK) return status;
    if (gate.through || gate.waiting)
        return tpi_error(TP_MISUSE,
                         "%" PRId64 " tasks are behind gate %s, of which it has let %" PRId64
                         " through; one in the failed pool counts while the gate blocks",
                         gate.through + gate.waiting, name, gate.through);
    tpi_args_text(&args, TPI_P_name, name);
    status = tpi_store_change_one(&conn->store, TPI_S_gate_remove, &args);
    if (status == TP_NONE) return not_changed(conn, name, true);
    struct tpi_act act = {.action = TPI_AUDIT_GATE_REMOVED, .who = who, .subject = name, .changed = 1};
    return status == TP_OK ? tpi_audit_add(conn, &act) : status;
}

tp_status tp_gate_remove(tp_conn *conn, const char *name, const char *who) {
    struct tpi_scope scope;
    char writer[TPI_WHO_MAX + 1];
    tp_status status = check(conn, name);
    if (status == TP_OK && is_model(name))
        status = tpi_error(TP_MISUSE, "the row = says how gates of order keys are made, and stays");
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    (void)tpi_audit_who(conn, who, writer);
    status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, remove_gate(conn, name, writer));
}
