/* Tasks behind gates: which gate, and what a task does to it that comes, goes or comes back. See gate.h; read
 * next: gate_row.c. */
#include "ops/gate_row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/texts.h"
#include "ops/group.h"
#include "ops/refused.h"
#include "store/record.h"

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
    if (ordered && task->due_at >= TPI_GATE_WAITS)
        return tpi_error(TP_MISUSE,
                         "due_at of a task behind a gate is before the last moment of the year 9999");
    if (named) return tpi_check_gate_name(task->gate);
    return tpi_check_key("order_key", task->order_key);
}

tp_status tpi_gate_find(tp_conn *conn, const char *name) {
    struct tpi_gate_row gate;
    tp_status status = tpi_gate_read(conn, name, &gate);
    return status == TP_NONE ? tpi_gate_pattern(conn, name, &gate) : status;
}

/* ---- Coming, going, coming back ------------------------------------------------------------------------ */

static int by_gate(const void *left, const void *right) {
    const struct tpi_gated *a = left, *b = right;
    int order = strcmp(a->gate, b->gate);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Those of one gate stay in their order. */
static void sort_by_gate(struct tpi_gated *tasks, size_t count) {
    for (size_t i = 0; i < count; i++)
        tasks[i].at = i;
    if (count) qsort(tasks, count, sizeof *tasks, by_gate);
}

static tp_status join(tp_conn *conn, const struct tpi_gated *task, int64_t place) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, task->id);
    tpi_args_text(&args, TPI_P_name, task->gate);
    tpi_args_number(&args, TPI_P_place, place);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_gate_join, &args);
    if (status == TP_NONE) return tpi_refused_silently(&conn->store, "stored no row", "gate_task");
    if (!tpi_refused_as_there(status)) return status;
    return tpi_error(TP_CONFLICT,
                     "task %s was deleted and still has its place at gate %s, until the maintenance of a "
                     "worker takes that away; ask again in a minute, or put it in with another id",
                     task->id, task->gate);
}

/* TP_NONE: it has no place. One that kept its place has passed. */
static tp_status go_on(tp_conn *conn, const struct tpi_gated *task) {
    struct tpi_args args = {0};
    bool found = false;
    tpi_args_text(&args, TPI_P_id, task->id);
    tp_status status = tpi_store_exists(&conn->store, TPI_S_gate_has, &args, &found);
    if (status != TP_OK || !found) return status == TP_OK ? TP_NONE : status;
    tpi_conn_let_through(conn);
    return tpi_gate_change(conn, TPI_S_gate_open, task->gate, task->id);
}

/* Of one gate. */
static tp_status enter(tp_conn *conn, const struct tpi_gated *tasks, size_t count, bool back) {
    struct tpi_gate_row gate = {0};
    tp_status status = tpi_gate_lock_or_make(conn, tasks[0].gate, count, &gate);
    for (size_t i = 0; i < count && status == TP_OK; i++) {
        if (back) status = go_on(conn, &tasks[i]);
        if (!back || status == TP_NONE)
            status = join(conn, &tasks[i], gate.next_place - (int64_t)(count - i));
    }
    return status == TP_OK ? tpi_gate_fill(conn, tasks[0].gate, &gate, 0) : status;
}

static tp_status enter_all(tp_conn *conn, struct tpi_gated *tasks, size_t count, bool back) {
    tp_status status = TP_OK;
    sort_by_gate(tasks, count);
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
    struct tpi_gate_row gate = {0};
    tp_status status = tpi_gate_lock(conn, task->gate, 0, &gate);
    if (status < TP_OK) return status;
    bool known = status == TP_OK, stays = known && failed && strcmp(gate.on_failure, "block") == 0;
    if (stays) return TP_OK;
    status = tpi_gate_change(conn, TPI_S_gate_leave, task->gate, task->id);
    if (status < TP_OK || !known) return status < TP_OK ? status : TP_OK;
    return tpi_gate_fill(conn, task->gate, &gate, status == TP_OK);
}

/* The task's row is locked, so that its gate cannot let it through. */
tp_status tpi_gate_forget(tp_conn *conn, const struct tpi_gated *task) {
    tp_status status = tpi_gate_change(conn, TPI_S_gate_forget, task->gate, task->id);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_gates_leave(tp_conn *conn, struct tpi_gated *tasks, size_t count) {
    tp_status status = TP_OK;
    sort_by_gate(tasks, count);
    for (size_t i = 0; i < count && status == TP_OK; i++)
        status = tpi_gate_leave(conn, &tasks[i], false);
    return status;
}

tp_status tpi_gates_deleted(tp_conn *conn, const char *const *ids, size_t count) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct tpi_gated, id),
        TPI_COLUMN(TEXT, struct tpi_gated, gate),
        TPI_COLUMN_END,
    };
    struct tpi_gated gated[TPI_LIST_MAX];
    struct tpi_texts texts = {0};
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    size_t found = 0;
    tpi_args_list(&args, ids, count);
    tp_status status = tpi_store_query(&conn->store, TPI_S_gate_left, &args, &stmt);
    if (status == TP_OK)
        status = tpi_record_all(stmt, columns, &texts, gated, sizeof *gated, TPI_LIST_MAX, &found);
    if (status == TP_OK) status = tpi_gates_leave(conn, gated, found);
    tpi_texts_free(&texts);
    return status;
}

tp_status tpi_gate_of(tp_conn *conn, const char *id, char gate[TPI_GATE_SIZE]) {
    static const struct tpi_column columns[] = {{TPI_READ_CHARS, 0, TPI_GATE_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    return tpi_store_read(&conn->store, TPI_S_gate_of, &args, columns, NULL, gate);
}

tp_status tpi_gate_of_each(tp_conn *conn, const char *const *ids, size_t count, struct tpi_texts *texts,
                           const char **gates, size_t *found) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct tpi_gated, id),
        TPI_COLUMN(TEXT, struct tpi_gated, gate),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_gated row;
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
