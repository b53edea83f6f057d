/* Gates as people manage them: makes, changes, removes and lists them. What a change lets through is let
 * through in its transaction. Read next: gate.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/gate_row.h"
#include "ops/refused.h"
#include "store/cursor.h"

static const char *const failure_names[] = {[TP_GATE_BLOCK] = "block", [TP_GATE_PASS] = "pass"};

static bool is_of_keys(const char *name) {
    return name && name[0] == TPI_GATE_KEY && name[1] == '\0';
}

/* A pattern's name is another's with a * behind it, or that alone. */
static tp_status check_name(const char *name, bool *pattern) {
    char before[TP_HANDLER_MAX + 2];
    size_t length = name ? strnlen(name, sizeof before) : 0;
    *pattern = length && name[length - 1] == TPI_GATE_PATTERN;
    if (!*pattern) return tpi_check_gate_name(name);
    snprintf(before, sizeof before, "%.*s", (int)(length - 1), name);
    return length == 1 ? TP_OK : tpi_check_gate_name(before);
}

static tp_status check(tp_conn *conn, const char *name, bool *pattern) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK && !is_of_keys(name)) return check_name(name, pattern);
    *pattern = true;
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct line {
    const char *name, *on_failure, *changed_by, *held, *pattern;
    int64_t width, through, waiting, changed_at, tokens, period_ms, token_at, now;
};

static void open_lines(struct tpi_cursor *cursor, tp_conn *conn, const char *name) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct line, name),        TPI_COLUMN(NUMBER, struct line, width),
        TPI_COLUMN(TEXT, struct line, on_failure),  TPI_COLUMN(NUMBER, struct line, through),
        TPI_COLUMN(NUMBER, struct line, waiting),   TPI_COLUMN(NUMBER, struct line, changed_at),
        TPI_COLUMN(TEXT, struct line, changed_by),  TPI_COLUMN(NUMBER, struct line, tokens),
        TPI_COLUMN(NUMBER, struct line, period_ms), TPI_COLUMN(TEXT, struct line, held),
        TPI_COLUMN(NUMBER, struct line, token_at),  TPI_COLUMN(TEXT, struct line, pattern),
        TPI_COLUMN(EXACT, struct line, now),        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_cursor_open(cursor, &conn->store, name ? TPI_S_gate_find : TPI_S_gate_list, &args, columns, SIZE_MAX);
}

static int64_t tokens_left(const struct line *line) {
    struct tpi_tokens held;
    tpi_tokens_read(line->held, &held);
    tpi_tokens_return(&held, line->period_ms, line->now, 0);
    int64_t left = line->tokens - line->through - tpi_tokens_held(&held);
    return left > 0 ? left : 0;
}

static tp_gate gate_of(const struct line *line) {
    return (tp_gate){.name = line->name,
                     .through = line->through,
                     .waiting = line->waiting,
                     .changed_at = line->changed_at,
                     .changed_by = line->changed_by,
                     .width = (int32_t)line->width,
                     .on_failure = strcmp(line->on_failure, "pass") == 0 ? TP_GATE_PASS : TP_GATE_BLOCK,
                     .period_ms = line->tokens ? line->period_ms : 0,
                     .token_at = line->tokens ? line->token_at : 0,
                     .tokens = (int32_t)line->tokens,
                     .tokens_left = line->tokens ? (int32_t)tokens_left(line) : 0,
                     .pattern = line->pattern};
}

/* TP_NONE: there is none. No text of it is kept, but whether it has a pattern. */
static tp_status find(tp_conn *conn, const char *name, tp_gate *gate) {
    struct tpi_cursor cursor;
    struct line line;
    open_lines(&cursor, conn, name);
    if (tpi_cursor_next(&cursor, &line)) {
        *gate = gate_of(&line);
        gate->pattern = *line.pattern ? "?" : "";
        gate->name = gate->changed_by = NULL;
    }
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
    tp_gate_options given, to; /* to.width: how many, 0 for none */
    bool pattern;
    char who[TPI_WHO_MAX + 1];
};

enum {
    KEEPS_ALL = TP_GATE_KEEPS_WIDTH | TP_GATE_KEEPS_TOKENS | TP_GATE_KEEPS_PERIOD | TP_GATE_KEEPS_ON_FAILURE
};

static tp_status check_limits(const tp_gate_options *given) {
    if (given->width < TP_GATE_CLOSED || given->width > TP_GATE_WIDTH_MAX)
        return tpi_error(TP_MISUSE, "a gate's width is 0 to %d", TP_GATE_WIDTH_MAX);
    if (given->tokens < 0 || given->tokens > TP_GATE_WIDTH_MAX)
        return tpi_error(TP_MISUSE, "a gate has 1 to %d tokens, or none", TP_GATE_WIDTH_MAX);
    if (!given->tokens != !given->period_ms) return tpi_error(TP_MISUSE, "tokens and period_ms go together");
    if (given->tokens && (given->period_ms < TP_GATE_PERIOD_MIN || given->period_ms > TP_DURATION_MAX))
        return tpi_error(TP_MISUSE, "a period of tokens is a second to 100 years");
    if (given->on_failure != TP_GATE_BLOCK && given->on_failure != TP_GATE_PASS)
        return tpi_error(TP_MISUSE, "on_failure is neither TP_GATE_BLOCK nor TP_GATE_PASS");
    return TP_OK;
}

/* How many at a time: tokens are a limit to that as well. */
static int32_t width_of(const tp_gate_options *given) {
    int32_t most = given->tokens ? given->tokens : TP_GATE_WIDTH_MAX;
    if (given->width == TP_GATE_CLOSED) return 0;
    if (!given->width) return given->tokens ? given->tokens : 1;
    return given->width < most ? given->width : most;
}

/* to is what is given, and of the old gate, if there is one, what is to be kept. */
static tp_status decide(struct asked *asked, const tp_gate *old) {
    tp_gate_options *to = &asked->to;
    const int32_t keeps = old ? asked->given.keeps : 0;
    *to = asked->given;
    if (keeps & TP_GATE_KEEPS_WIDTH) to->width = old->width ? old->width : TP_GATE_CLOSED;
    if (keeps & TP_GATE_KEEPS_TOKENS) to->tokens = old->tokens;
    if (keeps & TP_GATE_KEEPS_PERIOD) to->period_ms = old->period_ms;
    if (keeps & TP_GATE_KEEPS_ON_FAILURE) to->on_failure = old->on_failure;
    tp_status status = check_limits(to);
    to->width = width_of(to);
    if (status != TP_OK || to->width || !asked->pattern) return status;
    return tpi_error(TP_MISUSE, "the width of a pattern is 1 or more: what it makes with 0 stays so");
}

static bool is_so(const tp_gate *gate, const tp_gate_options *to) {
    return gate->width == to->width && gate->on_failure == to->on_failure && gate->tokens == to->tokens &&
           gate->period_ms == to->period_ms && !*gate->pattern;
}

static void say(const tp_gate_options *to, char *text, size_t size) {
    int length =
        snprintf(text, size, "width %" PRId32 ", on failure %s", to->width, failure_names[to->on_failure]);
    if (to->tokens)
        snprintf(text + length, size - (size_t)length, ", %" PRId32 " tokens in %" PRId64 " ms", to->tokens,
                 to->period_ms);
}

/* What there is room for now is let through; of gates that a pattern made by the maintenance of a worker. */
static tp_status let_through(tp_conn *conn, const struct asked *asked, struct tpi_args *args) {
    int64_t rows = 0;
    if (!asked->pattern) return tpi_gate_mend(conn, asked->name);
    return tpi_store_change(&conn->store, TPI_S_gate_change_made, args, &rows);
}

/* Somebody else made it or removed it, or something keeps it as it is and says nothing. */
static tp_status not_changed(tp_conn *conn, const char *name, bool was_there) {
    tp_gate gate;
    tp_status status = find(conn, name, &gate);
    if (status < TP_OK) return status;
    if (was_there != (status == TP_OK))
        return tpi_error(TP_CONFLICT, "another session changed the gate meanwhile; ask again");
    return tpi_refused_silently(&conn->store, "kept a gate as it was", "gate");
}

/* In the transaction: of two who change it one waits, before it reads what it keeps. */
static tp_status store(tp_conn *conn, struct asked *asked) {
    char detail[128];
    tp_gate old = {.width = -1, .pattern = ""};
    struct tpi_gate_row locked;
    struct tpi_args args = {0};
    tp_status status = asked->given.keeps ? tpi_gate_lock(conn, asked->name, 0, &locked) : TP_OK;
    if (status >= TP_OK) status = find(conn, asked->name, &old);
    bool there = status == TP_OK;
    if (status >= TP_OK) status = decide(asked, there ? &old : NULL);
    if (status < TP_OK) return status;
    if (there && is_so(&old, &asked->to)) return TP_EXISTS;
    tpi_args_text(&args, TPI_P_name, asked->name);
    tpi_args_number(&args, TPI_P_width, asked->to.width);
    tpi_args_text(&args, TPI_P_on_failure, failure_names[asked->to.on_failure]);
    if (asked->to.tokens) {
        tpi_args_number(&args, TPI_P_tokens, asked->to.tokens);
        tpi_args_number(&args, TPI_P_period_ms, asked->to.period_ms);
    }
    tpi_args_text(&args, TPI_P_who, asked->who);
    status = tpi_store_change_one(&conn->store, there ? TPI_S_gate_change : TPI_S_gate_add, &args);
    if (status == TP_NONE) return not_changed(conn, asked->name, there);
    if (status == TP_OK) status = let_through(conn, asked, &args);
    say(&asked->to, detail, sizeof detail);
    struct tpi_act act = {.action = TPI_AUDIT_GATE_SET,
                          .who = asked->who,
                          .subject = asked->name,
                          .detail = detail,
                          .changed = 1};
    return status == TP_OK ? tpi_audit_add(conn, &act) : status;
}

static tp_status store_in_scope(tp_conn *conn, struct asked *asked) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, store(conn, asked));
}

tp_status tp_gate_set_with(tp_conn *conn, const char *name, const tp_gate_options *given, const char *who) {
    struct asked asked = {.name = name, .given = TP_GATE_INIT};
    tp_status status = check(conn, name, &asked.pattern);
    if (status == TP_OK && given) status = tpi_read_sized(TPI_SIZED_gate_options, given, &asked.given);
    if (status == TP_OK && (asked.given.keeps & ~KEEPS_ALL))
        status = tpi_error(TP_MISUSE, "keeps has bits that this library does not know");
    if (status == TP_OK && !asked.given.keeps) status = decide(&asked, NULL);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    (void)tpi_audit_who(conn, who, asked.who);
    bool alone = tpi_conn_is_alone(conn);
    status = store_in_scope(conn, &asked);
    /* Somebody else made it at the same moment: now there is one to change. */
    if (status == TP_CONFLICT && alone) status = store_in_scope(conn, &asked);
    if (status >= TP_OK && asked.to.tokens) atomic_store(&conn->env->gate_tokens, true);
    return tpi_refused_judge(&conn->store, status, "gate", NULL, NULL);
}

tp_status tp_gate_set(tp_conn *conn, const char *name, int32_t width, tp_gate_failure on_failure,
                      const char *who) {
    tp_gate_options to = TP_GATE_INIT;
    to.width = width ? width : TP_GATE_CLOSED;
    to.on_failure = on_failure;
    if (width >= 0) return tp_gate_set_with(conn, name, &to, who);
    return tpi_conn_doom(conn, tpi_error(TP_MISUSE, "a gate's width is 0 to %d", TP_GATE_WIDTH_MAX));
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
    bool pattern = false;
    tp_status status = check(conn, name, &pattern);
    if (status == TP_OK && is_of_keys(name))
        status = tpi_error(TP_MISUSE, "the row = says how gates of order keys are made, and stays");
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    (void)tpi_audit_who(conn, who, writer);
    status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    return tpi_scope_end(conn, &scope, remove_gate(conn, name, writer));
}
