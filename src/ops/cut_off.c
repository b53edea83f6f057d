/* See cut_off.h. */
#include "ops/cut_off.h"

#include <string.h>

#include "base/error.h"
#include "ops/calendar.h"

/* The calendar that was asked last: mostly all tasks of a call have the same. */
struct asked {
    int64_t now_ms; /* 0: nothing was asked yet */
    const char *calendar;
    int64_t cut_off_ms;
};

/* Asked again it is there, whatever the calendar says by now. TP_NONE: it is not. */
static tp_status find_earlier(tp_conn *conn, const tp_new_task *task) {
    tp_new_task earlier = *task;
    if (!tpi_new_task_identify(&earlier)) return TP_NONE;
    return tpi_new_task_find_earlier(&conn->store, &earlier);
}

/* The time of one that is there counts for nothing. */
static tp_status without_calendar(tp_conn *conn, tp_new_task *task) {
    struct tpi_kept_error kept = tpi_error_keep();
    tp_status status = find_earlier(conn, task);
    if (status == TP_EXISTS) {
        task->due_at = 1;
        return TP_OK;
    }
    if (status != TP_NONE) return status;
    tpi_error_restore(&kept);
    return TP_MISUSE;
}

static tp_status fill(tp_conn *conn, struct asked *asked, tp_new_task *task) {
    tp_status status = asked->now_ms ? TP_OK : tpi_conn_ready(conn);
    if (status == TP_OK && !asked->now_ms) status = tpi_ask_now(conn, &asked->now_ms);
    if (status == TP_OK && (!asked->calendar || strcmp(asked->calendar, task->cut_off_calendar) != 0)) {
        status = tpi_cut_off_after(conn, task->cut_off_calendar, asked->now_ms, &asked->cut_off_ms);
        asked->calendar = status == TP_OK ? task->cut_off_calendar : NULL;
    }
    if (status == TP_MISUSE) return without_calendar(conn, task);
    if (status != TP_OK) return status;
    int64_t due = asked->cut_off_ms - task->cut_off_lead_ms;
    task->due_at = due > 0 ? due : 1;
    return TP_OK;
}

tp_status tpi_cut_offs_fill(tp_conn *conn, const struct tpi_new_tasks *tasks) {
    struct asked asked = {0};
    for (size_t i = 0; i < tasks->count; i++) {
        const tp_new_task *task = tpi_new_task_at(tasks, i);
        if (tpi_new_task_at_cut_off(task) && (task->delay_ms || task->due_at))
            return tpi_error(TP_MISUSE, "give cut_off_calendar or a time, not both");
    }
    for (size_t i = 0; i < tasks->count; i++) {
        tp_new_task *task = tpi_new_task_at(tasks, i);
        tp_status status = tpi_new_task_at_cut_off(task) ? fill(conn, &asked, task) : TP_OK;
        if (status == TP_OK) continue;
        tpi_cut_offs_clear(tasks);
        return status;
    }
    return TP_OK;
}

void tpi_cut_offs_clear(const struct tpi_new_tasks *tasks) {
    for (size_t i = 0; i < tasks->count; i++) {
        tp_new_task *task = tpi_new_task_at(tasks, i);
        if (tpi_new_task_at_cut_off(task)) task->due_at = 0;
    }
}
