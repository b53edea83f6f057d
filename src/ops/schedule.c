/* Schedules as people manage them: add, remove, pause, list; and how one is read from its table. Read next:
 * schedule_fire.c. */
#include "ops/schedule.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "store/record.h"

/* As they stand in the table. */
static const char *const missed_names[] = {
    [TP_MISSED_ONCE] = "once", [TP_MISSED_SKIP] = "skip", [TP_MISSED_ALL] = "all"};
static const char *const closed_names[] = {
    [TP_CLOSED_SKIP] = "skip", [TP_CLOSED_BEFORE] = "before", [TP_CLOSED_AFTER] = "after"};

/* ---- Reading ------------------------------------------------------------------------------------------- */

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.name),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.rule),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.time_zone),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.handler),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.params),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.biz_key),
    TPI_COLUMN(UUID, struct tpi_schedule_row, schedule.last_task),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, missed),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.shard),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.priority),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.max_failures),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.missed_max),
    TPI_COLUMN(FLAG, struct tpi_schedule_row, schedule.alone),
    TPI_COLUMN(FLAG, struct tpi_schedule_row, schedule.paused),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, schedule.next_at),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, schedule.last_at),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, created_at),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.calendar),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, closed),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, rule_at),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, calendar_version),
    TPI_COLUMN_END,
};

void tpi_schedule_free(struct tpi_schedule_row *row) {
    tpi_texts_free(&row->texts);
}

/* The number of a name; negative: it is none of them. */
static int name_number(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

bool tpi_closed_parse(const char *name, tp_closed *closed) {
    int number = name_number(closed_names, 3, name);
    if (number >= 0) *closed = (tp_closed)number;
    return number >= 0;
}

/* Reads the current row of schedule_list or schedule_find. TP_NONE: behind the last. */
static tp_status read_row(struct tpi_stmt *stmt, struct tpi_schedule_row *row) {
    *row = (struct tpi_schedule_row){.schedule = {.size = sizeof row->schedule}};
    tp_status status = tpi_record_next(stmt, columns, &row->texts, row);
    if (status != TP_OK) {
        tpi_schedule_free(row);
        return status;
    }
    int missed = name_number(missed_names, 3, row->missed);
    row->bad_missed = missed < 0;
    row->schedule.missed = row->bad_missed ? TP_MISSED_ONCE : (tp_missed)missed;
    row->bad_closed = *row->schedule.calendar && !tpi_closed_parse(row->closed, &row->schedule.closed);
    return TP_OK;
}

tp_status tpi_schedule_find(tp_conn *conn, const char *name, struct tpi_schedule_row *row) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_query(&conn->store, TPI_S_schedule_find, &args, &stmt);
    if (status != TP_OK) return status;
    status = read_row(stmt, row);
    tpi_stmt_close(stmt);
    return status;
}

/* What was dealt with stays so while nothing is planned. */
static void dealt_args(const struct tpi_schedule_row *row, struct tpi_args *args) {
    if (row->rule_at) tpi_args_number(args, TPI_P_rule_at, row->rule_at);
    tpi_args_text(args, TPI_P_version, row->calendar_version);
}

tp_status tpi_schedule_bad_closed(void) {
    return tpi_error(TP_MISUSE, "closed is none of skip, before, after; remove it and add it anew");
}

tp_status tpi_schedule_open(tp_conn *conn, const tp_schedule *schedule, bool *open) {
    struct tpi_args args = {0};
    *open = false;
    if (!*schedule->last_task) return TP_OK;
    tpi_args_text(&args, TPI_P_id, schedule->last_task);
    return tpi_store_exists(&conn->store, TPI_S_find_open, &args, open);
}

tp_new_task tpi_schedule_task(const tp_schedule *schedule) {
    return (tp_new_task){.size = sizeof(tp_new_task),
                         .handler = schedule->handler,
                         .params = schedule->params,
                         .biz_key = schedule->biz_key,
                         .shard = schedule->shard,
                         .priority = schedule->priority,
                         .max_failures = schedule->max_failures};
}

void tpi_schedule_last_args(const tp_schedule *schedule, struct tpi_args *args) {
    static const char none[] = "00000000-0000-0000-0000-000000000000";
    tpi_args_text(args, TPI_P_last_id, *schedule->last_task ? schedule->last_task : none);
}

/* ---- Checking ------------------------------------------------------------------------------------------ */

static tp_status check_name(const char *name) {
    if (!name || !*name) return tpi_error(TP_MISUSE, "a schedule needs a name");
    if (strlen(name) > TP_HANDLER_MAX)
        return tpi_error(TP_TOOBIG, "the schedule's name has %zu bytes; at most %d are allowed", strlen(name),
                         TP_HANDLER_MAX);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:-", *at))
            return tpi_error(TP_MISUSE, "a schedule's name may hold letters, digits and . _ : - only");
    return TP_OK;
}

static tp_status check_numbers(const tp_schedule *schedule) {
    if (schedule->priority < INT16_MIN || schedule->priority > INT16_MAX)
        return tpi_error(TP_MISUSE, "priority %d is out of range; it is -32768 to 32767",
                         (int)schedule->priority);
    if (schedule->max_failures < 0) return tpi_error(TP_MISUSE, "max_failures is negative");
    if (schedule->missed_max < 0 || schedule->missed_max > TPI_MISSED_MAX)
        return tpi_error(TP_MISUSE, "missed_max %d is out of range; it is 1 to %d, or 0 for %d",
                         (int)schedule->missed_max, TPI_MISSED_MAX, TPI_MISSED_DEFAULT);
    if (schedule->missed < TP_MISSED_ONCE || schedule->missed > TP_MISSED_ALL)
        return tpi_error(TP_MISUSE, "missed is none of TP_MISSED_ONCE, TP_MISSED_SKIP, TP_MISSED_ALL");
    if (schedule->closed < TP_CLOSED_SKIP || schedule->closed > TP_CLOSED_AFTER || schedule->reserved)
        return tpi_error(TP_MISUSE, "closed is none of TP_CLOSED_SKIP, TP_CLOSED_BEFORE, TP_CLOSED_AFTER");
    return TP_OK;
}

static tp_status check_schedule(const tp_schedule *schedule) {
    tp_status status = check_name(schedule->name);
    if (status == TP_OK) status = tpi_check_handler(schedule->handler);
    if (status == TP_OK) status = tpi_check_key("biz_key", schedule->biz_key);
    if (status == TP_OK) status = tpi_check_params(schedule->params);
    return status == TP_OK ? check_numbers(schedule) : status;
}

/* ---- Adding and removing ------------------------------------------------------------------------------- */

static void fill_args(const tp_schedule *schedule, int64_t now_ms, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_args_text(args, TPI_P_name, schedule->name);
    tpi_args_text(args, TPI_P_rule, schedule->rule + strspn(schedule->rule, " \t"));
    tpi_args_text(args, TPI_P_time_zone, schedule->time_zone);
    tpi_args_text(args, TPI_P_handler, schedule->handler);
    tpi_args_text(args, TPI_P_params, schedule->params);
    tpi_args_text(args, TPI_P_biz_key, schedule->biz_key);
    tpi_args_number(args, TPI_P_shard, schedule->shard);
    tpi_args_number(args, TPI_P_priority, schedule->priority);
    if (schedule->max_failures) tpi_args_number(args, TPI_P_max_failures, schedule->max_failures);
    tpi_args_text(args, TPI_P_missed, missed_names[schedule->missed]);
    tpi_args_number(args, TPI_P_missed_max, schedule->missed_max ? schedule->missed_max : TPI_MISSED_DEFAULT);
    tpi_args_number(args, TPI_P_alone, schedule->alone != 0);
    tpi_args_text(args, TPI_P_calendar, schedule->calendar);
    if (schedule->calendar && *schedule->calendar)
        tpi_args_text(args, TPI_P_closed, closed_names[schedule->closed]);
    tpi_args_number(args, TPI_P_created_at, now_ms);
}

/* TP_EXISTS or TP_NONE. */
static tp_status find_name(struct tpi_store *store, const char *name) {
    struct tpi_args args = {0};
    bool found = false;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_exists(store, TPI_S_schedule_find, &args, &found);
    if (status != TP_OK) return status;
    return found ? TP_EXISTS : TP_NONE;
}

static tp_status find_schedule(struct tpi_store *store, void *arg) {
    const tp_schedule *schedule = arg;
    return find_name(store, schedule->name);
}

/* In the transaction that did it. */
static tp_status record(tp_conn *conn, const char *action, const char *name, const char *detail, int64_t at) {
    struct tpi_act act = {.action = action, .subject = name, .detail = detail, .changed = 1, .at = at};
    return tpi_audit_add(conn, &act);
}

static tp_status record_added(tp_conn *conn, const tp_schedule *schedule, int64_t at) {
    char detail[TP_REASON_MAX + 1];
    snprintf(detail, sizeof detail, "handler %s, rule %s%s%s", schedule->handler, schedule->rule,
             schedule->time_zone ? ", " : "", schedule->time_zone ? schedule->time_zone : "");
    return record(conn, TPI_AUDIT_SCHEDULE_ADDED, schedule->name, detail, at);
}

static tp_status insert(tp_conn *conn, const tp_schedule *schedule, struct tpi_planning *planning) {
    struct tpi_args args;
    struct tpi_next next = {0};
    int64_t now = 0;
    tp_status status = find_name(&conn->store, schedule->name);
    if (status == TP_NONE) status = tpi_ask_now(conn, &now);
    if (status != TP_OK) return status;
    status = tpi_planning_begin(planning, now, &next);
    if (status == TP_NONE)
        return tpi_error(TP_MISUSE, "the rule \"%s\" has no planned time in the future", schedule->rule);
    if (status == TP_OK && next.unknown) status = tpi_planning_unknown(planning, next.at_ms);
    if (status != TP_OK) return status;
    fill_args(schedule, now, &args);
    tpi_planning_args(planning, &next, &args);
    status = tpi_store_change_one(&conn->store, TPI_S_schedule_add, &args);
    if (status == TP_OK) return record_added(conn, schedule, now);
    if (status == TP_NONE) status = find_name(&conn->store, schedule->name);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no schedule", "schedule") : status;
}

/* In a transaction of its own unless one is open. Of two sessions that add the same name at once, the second
 * finds the first one's row only by being refused. */
static tp_status add(tp_conn *conn, const tp_schedule *schedule, struct tpi_planning *planning) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(conn, &scope, insert(conn, schedule, planning));
    if (status != TP_DB && status != TP_CONFLICT) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    if (scope.own && find_name(&conn->store, schedule->name) == TP_EXISTS) return TP_EXISTS;
    tpi_error_restore(&kept);
    return tpi_refused_judge(&conn->store, status, "schedule", find_schedule, (void *)schedule);
}

tp_status tp_schedule_add(tp_conn *conn, const tp_schedule *given) {
    tp_schedule schedule;
    struct tpi_planning planning = {0};
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK && !given) status = tpi_error(TP_MISUSE, "tp_schedule_add: schedule is NULL");
    if (status == TP_OK) status = tpi_read_sized(TPI_SIZED_schedule, given, &schedule);
    if (status == TP_OK) status = check_schedule(&schedule);
    if (status == TP_OK) status = tpi_planning_open(conn, &schedule, &planning);
    if (status != TP_OK) return tpi_conn_doom(conn, status);
    status = add(conn, &schedule, &planning);
    tpi_planning_close(&planning);
    return status;
}

static tp_status remove_row(tp_conn *conn, const char *name) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_schedule_remove, &args);
    return status == TP_OK ? record(conn, TPI_AUDIT_SCHEDULE_REMOVED, name, NULL, 0) : status;
}

static tp_status check_named(tp_conn *conn, const char *name) {
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK) status = check_name(name);
    return tpi_conn_doom(conn, status);
}

tp_status tp_schedule_remove(tp_conn *conn, const char *name) {
    struct tpi_scope scope;
    tp_status status = check_named(conn, name);
    if (status == TP_OK) status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(conn, &scope, remove_row(conn, name));
    if (status != TP_NONE || find_name(&conn->store, name) != TP_EXISTS) return status;
    return tpi_refused_silently(&conn->store, "kept a schedule that was to go", "schedule");
}

/* ---- Pausing ------------------------------------------------------------------------------------------- */

/* The next planned time of a schedule that begins anew, into args, which point into planning; absent: none,
 * or not before its last task has ended. */
static tp_status next_from(tp_conn *conn, const struct tpi_schedule_row *row, int64_t now_ms,
                           struct tpi_planning *planning, struct tpi_args *args) {
    struct tpi_next next = {.dealt_ms = row->rule_at};
    bool open = false;
    if (row->bad_closed) return tpi_schedule_bad_closed();
    tp_status status = tpi_planning_open(conn, &row->schedule, planning);
    if (status != TP_OK) return status;
    if (planning->times.rule.kind == TPI_RULE_AFTER) status = tpi_schedule_open(conn, &row->schedule, &open);
    if (status == TP_OK && !open) status = tpi_planning_begin(planning, now_ms, &next);
    if (status >= TP_OK) tpi_planning_args(planning, &next, args);
    return status == TP_NONE ? TP_OK : status;
}

/* Of a change that found no row. */
static tp_status check_changed(tp_conn *conn, const struct tpi_schedule_row *row) {
    struct tpi_schedule_row now = {0};
    tp_status status = tpi_schedule_find(conn, row->schedule.name, &now);
    if (status != TP_OK) return status;
    bool same = now.created_at == row->created_at && now.schedule.paused == row->schedule.paused;
    tpi_schedule_free(&now);
    return same ? tpi_refused_silently(&conn->store, "kept a schedule as it was", "schedule")
                : tpi_error(TP_CONFLICT, "another session changed the schedule meanwhile; ask again");
}

/* In a transaction of its own unless one is open. */
static tp_status write_paused(tp_conn *conn, const struct tpi_schedule_row *row, struct tpi_args *args,
                              int64_t now) {
    bool paused = tpi_args_value(args, TPI_P_paused) != 0;
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_store_change_one(&conn->store, TPI_S_schedule_pause, args);
    if (status == TP_NONE)
        status = check_changed(conn, row);
    else if (status == TP_OK)
        status = record(conn, paused ? TPI_AUDIT_SCHEDULE_PAUSED : TPI_AUDIT_SCHEDULE_RESUMED,
                        row->schedule.name, NULL, now);
    return tpi_scope_end(conn, &scope, status);
}

static tp_status set_paused(tp_conn *conn, const char *name, bool paused) {
    struct tpi_schedule_row row = {0};
    struct tpi_planning planning = {0};
    struct tpi_args args = {0};
    int64_t now = 0;
    tp_status status = tpi_schedule_find(conn, name, &row);
    if (status != TP_OK) return status;
    if (row.schedule.paused != paused) {
        status = tpi_ask_now(conn, &now);
        dealt_args(&row, &args);
        if (status == TP_OK && !paused) status = next_from(conn, &row, now, &planning, &args);
        tpi_args_text(&args, TPI_P_name, row.schedule.name);
        tpi_args_number(&args, TPI_P_created_at, row.created_at);
        tpi_args_number(&args, TPI_P_paused, paused);
        tpi_args_number(&args, TPI_P_modified_at, now);
        if (status == TP_OK) status = write_paused(conn, &row, &args, now);
    }
    tpi_planning_close(&planning);
    tpi_schedule_free(&row);
    return status;
}

/* Whoever was quicker has paused, resumed or replaced it; asking again shows which. */
tp_status tp_schedule_pause(tp_conn *conn, const char *name, int paused) {
    enum { TRIES = 5 };
    int tries = 0;
    tp_status status = check_named(conn, name);
    if (status != TP_OK) return status;
    do
        status = set_paused(conn, name, paused != 0);
    while (status == TP_CONFLICT && ++tries < TRIES);
    return status;
}

/* ---- Listing ------------------------------------------------------------------------------------------- */

tp_status tp_schedule_each(tp_conn *conn, tp_schedule_fn see, void *arg) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    struct tpi_schedule_row row = {0};
    bool any = false;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_schedule_each: see is NULL");
    status = tpi_store_query(&conn->store, TPI_S_schedule_list, &args, &stmt);
    if (status != TP_OK) return status;
    while ((status = read_row(stmt, &row)) == TP_OK) {
        any = true;
        see(&row.schedule, arg);
        tpi_schedule_free(&row);
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE && any ? TP_OK : status;
}
