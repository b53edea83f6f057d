/* What a gate lets through. Its row is locked by an update, which at any level of isolation either works on
 * what the last one left, or fails; who has written a row also reads it as it is now. So the row itself
 * counts the tasks that were let through and have not ended, and under its lock the next are let through as
 * long as there is room. See gate.h. */
#include "ops/gate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/texts.h"
#include "ops/for_workers.h"
#include "ops/group.h"
#include "ops/refused.h"
#include "store/record.h"

enum { TRIES = 5, NEXT_MAX = 100 };

/* A row of tp_gate. */
struct gate {
    int64_t width, next_place, through;
    char on_failure[16];
};

static bool is_key(const char *name) {
    return *name == TPI_GATE_KEY;
}

/* ---- Of a new task ---------------------------------------------------------------------------------------
 */

void tpi_gate_name(const tp_new_task *task, char name[TPI_GATE_SIZE]) {
    bool ordered = task->order_key && *task->order_key;
    const char *text = ordered ? task->order_key : task->gate ? task->gate : "";
    if (tpi_group_after(task))
        snprintf(name, TPI_GATE_SIZE, ">%s", task->after);
    else
        snprintf(name, TPI_GATE_SIZE, ordered ? "=%s" : "%s", text);
}

tp_status tpi_check_gate_name(const char *name) {
    if (!name || !*name) return tpi_error(TP_MISUSE, "a gate needs a name");
    if (strlen(name) > TP_HANDLER_MAX)
        return tpi_error(TP_TOOBIG, "the gate's name has %zu bytes; at most %d are allowed", strlen(name),
                         TP_HANDLER_MAX);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:-", *at))
            return tpi_error(TP_MISUSE, "a gate's name may hold letters, digits and . _ : - only");
    return TP_OK;
}

tp_status tpi_gate_check(const tp_new_task *task) {
    bool ordered = task->order_key && *task->order_key, named = task->gate && *task->gate;
    if (ordered && named) return tpi_error(TP_MISUSE, "give order_key or gate, not both");
    if ((ordered || named) && task->on_duplicate != TP_DUPLICATE_KEEP)
        return tpi_error(TP_MISUSE, "on_duplicate does not go with order_key or gate");
    if (named && (task->delay_ms || task->due_at || (task->cut_off_calendar && *task->cut_off_calendar)))
        return tpi_error(TP_MISUSE, "a task behind a gate is due at once: with gate give no time");
    if (named) return tpi_check_gate_name(task->gate);
    return tpi_check_key("order_key", task->order_key);
}

/* ---- The gate's row ------------------------------------------------------------------------------------ */

static tp_status read_gate(tp_conn *conn, const char *name, struct gate *gate) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct gate, width),
        TPI_COLUMN(CHARS, struct gate, on_failure),
        TPI_COLUMN(NUMBER, struct gate, next_place),
        TPI_COLUMN(NUMBER, struct gate, through),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    return tpi_store_read(&conn->store, TPI_S_gate_read, &args, columns, NULL, gate);
}

/* Takes count places; gate->next_place is then the one behind the last of them. TP_NONE: there is no gate. */
static tp_status lock(tp_conn *conn, const char *name, size_t count, struct gate *gate) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_place, (int64_t)count);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_lock, &args);
    return status == TP_OK ? read_gate(conn, name, gate) : status;
}

/* The gate of an order key, as the row = says. Another session may make it at the same time; where that is an
 * error that ends the transaction, the call is to be made again. */
static tp_status make(tp_conn *conn, const char *name) {
    static const char model[] = {TPI_GATE_KEY, '\0'};
    struct gate gate = {.width = 1};
    struct tpi_args args = {0};
    tp_status status = read_gate(conn, model, &gate);
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

/* Locks it, and makes that of an order key first where there is none. */
static tp_status lock_or_make(tp_conn *conn, const char *name, size_t count, struct gate *gate) {
    for (int i = 0; i < TRIES; i++) {
        tp_status status = lock(conn, name, count, gate);
        if (status != TP_NONE) return status;
        if (!is_key(name))
            return tpi_error(TP_MISUSE, "there is no gate %s; 'taskpool gate set' makes one", name);
        status = make(conn, name);
        if (status != TP_OK) return status;
    }
    return tpi_error(TP_CONFLICT,
                     "other sessions made and removed the order key's gate each time; ask again");
}

/* ---- Its tasks ----------------------------------------------------------------------------------------- */

static tp_status change_task(tp_conn *conn, enum tpi_statement statement, const char *name, const char *id) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_change_one(&conn->store, statement, &args);
}

/* TP_NONE: it has left the pool, and its place goes with it, or it was let through before. */
static tp_status let_through(tp_conn *conn, const char *name, const char *id) {
    tp_status status = change_task(conn, TPI_S_gate_open, name, id);
    if (status == TP_OK) return change_task(conn, TPI_S_gate_pass, name, id);
    if (status == TP_NONE) status = change_task(conn, TPI_S_gate_forget, name, id);
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

/* With the gate locked, ended of the tasks that it let through have left it. Lets through what there is room
 * for: workers of this process look for tasks when the transaction commits. Nothing is left of an order key
 * behind which nothing is. So who waits is read as it is now, also in a transaction that began before. */
static tp_status fill(tp_conn *conn, const char *name, const struct gate *gate, int64_t ended) {
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
    bool gone = status == TP_OK && !through && !count && is_key(name);
    if (gone) {
        status = change_task(conn, TPI_S_gate_remove, name, "");
        return status == TP_NONE ? TP_OK : status;
    }
    return status == TP_OK && through != gate->through ? note(conn, name, through) : status;
}

/* ---- Coming, going, coming back ------------------------------------------------------------------------ */

/* Those of one gate in the order in which their ids stand in memory: of new tasks the caller's. */
static int by_gate(const void *left, const void *right) {
    const struct tpi_gated *a = left, *b = right;
    int order = strcmp(a->gate, b->gate);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static tp_status join(tp_conn *conn, const struct tpi_gated *task, int64_t place) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_name, task->gate);
    tpi_args_number(&args, TPI_P_place, place);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_join, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "gate_task") : status;
}

/* TP_NONE: it has no place. One that kept its place has passed. */
static tp_status go_on(tp_conn *conn, const struct tpi_gated *task) {
    struct tpi_args args = {0};
    bool found = false;
    tpi_args_text(&args, TPI_P_id, task->id);
    tp_status status = tpi_store_exists(&conn->store, TPI_S_gate_has, &args, &found);
    if (status != TP_OK || !found) return status == TP_OK ? TP_NONE : status;
    tpi_conn_let_through(conn);
    return change_task(conn, TPI_S_gate_open, task->gate, task->id);
}

/* Of one gate. */
static tp_status enter(tp_conn *conn, const struct tpi_gated *tasks, size_t count, bool back) {
    struct gate gate = {0};
    tp_status status = lock_or_make(conn, tasks[0].gate, count, &gate);
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        if (back) status = go_on(conn, &tasks[i]);
        if (!back || status == TP_NONE)
            status = join(conn, &tasks[i], gate.next_place - (int64_t)(count - i));
    }
    return status == TP_OK ? fill(conn, tasks[0].gate, &gate, 0) : status;
}

static tp_status enter_all(tp_conn *conn, struct tpi_gated *tasks, size_t count, bool back) {
    tp_status status = TP_OK;
    if (count) qsort(tasks, count, sizeof *tasks, by_gate);
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        for (some = 1; at + some < count && strcmp(tasks[at].gate, tasks[at + some].gate) == 0; some++)
            ;
        status = enter(conn, tasks + at, some, back);
    }
    return status;
}

tp_status tpi_gates_enter(tp_conn *conn, struct tpi_gated *tasks, size_t count) {
    return enter_all(conn, tasks, count, false);
}

tp_status tpi_gates_return(tp_conn *conn, struct tpi_gated *tasks, size_t count) {
    return enter_all(conn, tasks, count, true);
}

tp_status tpi_gate_leave(tp_conn *conn, const struct tpi_gated *task, bool failed) {
    struct gate gate = {0};
    tp_status status = lock(conn, task->gate, 0, &gate);
    if (status < TP_OK) return status;
    bool known = status == TP_OK, stays = known && failed && strcmp(gate.on_failure, "block") == 0;
    if (stays) return TP_OK;
    status = change_task(conn, TPI_S_gate_leave, task->gate, task->id);
    if (status < TP_OK || !known) return status < TP_OK ? status : TP_OK;
    return fill(conn, task->gate, &gate, status == TP_OK);
}

/* The task's row is locked, so that its gate cannot let it through. */
tp_status tpi_gate_forget(tp_conn *conn, const struct tpi_gated *task) {
    tp_status status = change_task(conn, TPI_S_gate_forget, task->gate, task->id);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_gates_leave(tp_conn *conn, struct tpi_gated *tasks, size_t count) {
    tp_status status = TP_OK;
    if (count) qsort(tasks, count, sizeof *tasks, by_gate);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        status = tpi_gate_leave(conn, &tasks[i], false);
    return status;
}

tp_status tpi_gate_of(tp_conn *conn, const char *id, char gate[TPI_GATE_SIZE]) {
    static const struct tpi_column columns[] = {{TPI_READ_CHARS, 0, TPI_GATE_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_read(&conn->store, TPI_S_gate_of, &args, columns, NULL, gate);
}

struct behind {
    const char *id, *gate;
};

tp_status tpi_gate_of_each(tp_conn *conn, const char *const *ids, size_t count, struct tpi_texts *texts,
                           const char **gates, size_t *found) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct behind, id),
        TPI_COLUMN(TEXT, struct behind, gate),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct behind row;
    *found = 0;
    for (size_t i = 0; i < count; i++)
        gates[i] = NULL;
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_query(&conn->store, TPI_S_gate_of_each, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = tpi_record_next(stmt, columns, texts, &row)) == TP_OK)
        for (size_t i = 0; i < count; i++)
            if (strcmp(ids[i], row.id) == 0) {
                gates[i] = row.gate;
                ++*found;
            }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

/* ---- Mending ------------------------------------------------------------------------------------------- */

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
        status = change_task(conn, TPI_S_gate_leave, name, ids[i]);
        if (status == TP_NONE) status = TP_OK;
    }
    free(all);
    return status;
}

tp_status tpi_gate_mend(tp_conn *conn, const char *name) {
    struct gate gate = {0};
    struct tpi_args args = {0};
    int64_t there = 0;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = lock(conn, name, 0, &gate);
    if (status != TP_OK) return status < TP_OK ? status : TP_OK;
    status = drop_gone(conn, name);
    if (status == TP_OK) status = tpi_ask_number(conn, TPI_S_gate_count, &args, &there);
    return status == TP_OK ? fill(conn, name, &gate, gate.through - there) : status;
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
        if (status == TP_CONFLICT || status == TP_TIMEOUT) {
            met = status;
            status = TP_OK;
        }
    }
    free(all);
    tpi_texts_free(&texts);
    return status == TP_OK ? met : status;
}
