/* Fires schedules. A planned time is dealt with in one transaction: a guarded update of the schedule's row,
 * whose row count says that it is ours, and the insert of its tasks. Now is the database's, read with the
 * list of what is due. A task's id is made from the schedule and the planned time, so that not even a row
 * that was put back by hand makes a second task. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/random.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "ops/schedule.h"

/* A planned time that nobody fired for so long was missed; TP_MISSED_SKIP passes it over. */
enum { MISSED_AFTER_MS = 60000 };
/* Until schedules that cannot be read are tried again; how many locked rows are waited for in a turn. */
enum { BROKEN_AGAIN_MS = 1000, LOCKED_MAX = 3 };

struct firing {
    tp_conn *conn;
    int64_t now_ms;
    size_t fired;
    bool started;       /* one that waited for its last task may have a planned time now */
    bool moved;         /* a schedule has another planned time, or none: what was due is not due any more */
    int64_t waiting_ms; /* no schedule that waits for its last task is due sooner; -1: there are none */
    size_t locked;      /* rows that another session kept locked for too long */
    bool left;          /* a schedule is as it was, for its row was locked */
    size_t broken;      /* those, and schedules that cannot be read; the first one's error is given: */
    struct tpi_kept_error why;
};

/* A schedule that cannot be read, whose row another session keeps locked, or whose task the database refuses
 * (for a constraint of its own, or a partition that is missing), does not stop the others. */
static tp_status note_broken(struct firing *firing, const char *name, tp_status status) {
    bool locked = status == TP_TIMEOUT || status == TP_CONFLICT;
    if (!locked && status != TP_MISUSE && status != TP_TOOBIG && status != TP_DB) return status;
    firing->left = firing->left || locked;
    /* One writer locks all rows. */
    firing->locked += (firing->conn->store.caps & TPI_CAP_ONE_WRITER) && locked ? LOCKED_MAX : locked;
    struct tpi_kept_error why = tpi_error_keep();
    (void)tpi_error(status, "schedule %s: %s", name, why.text);
    if (firing->broken++ == 0) firing->why = tpi_error_keep();
    return TP_OK;
}

/* In the transaction that is to change the row: nobody waits for another session that has it locked. */
static tp_status try_lock(struct firing *firing, const char *name, bool *is_free) {
    struct tpi_args args = {0};
    *is_free = true;
    if (!(firing->conn->store.caps & TPI_CAP_SKIP)) return TP_OK;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_exists(&firing->conn->store, TPI_S_schedule_try, &args, is_free);
    firing->left = firing->left || !*is_free;
    return status;
}

/* ---- One schedule -------------------------------------------------------------------------------------- */

/* What is to become of a schedule that is due. */
struct decision {
    int64_t passed[TPI_MISSED_MAX]; /* the planned times that get a task */
    size_t count;
    struct tpi_next next;
    struct tpi_planned planned[TPI_MISSED_MAX]; /* by a calendar: the same, with the times of the rule */
};

/* The id of the task for a planned time; by a calendar for the time of the rule, wherever it was moved. With
 * the time at which the schedule was made, so that one that is removed and added again is another, and so
 * that time let pass in tests (which moves both) makes new ids. */
static void make_id(const tp_conn *conn, const struct tpi_schedule_row *row, int64_t planned_ms,
                    char id[TPI_UUID_SIZE]) {
    char name[TP_PREFIX_MAX + TP_HANDLER_MAX + 50];
    snprintf(name, sizeof name, "%s %s %" PRId64 " %" PRId64, conn->store.prefix, row->schedule.name,
             row->created_at, planned_ms);
    tpi_uuid_named(name, id);
}

static size_t most_tasks(const tp_schedule *schedule) {
    if (schedule->missed != TP_MISSED_ALL || schedule->alone) return 1;
    if (schedule->missed_max < 1) return TPI_MISSED_DEFAULT;
    return schedule->missed_max < TPI_MISSED_MAX ? (size_t)schedule->missed_max : TPI_MISSED_MAX;
}

/* By the rule alone. TP_NONE: there is no next time. */
static tp_status plan(const struct firing *firing, const tp_schedule *schedule, struct tpi_times *times,
                      struct decision *decision) {
    decision->count =
        tpi_times_passed(times, schedule->next_at, firing->now_ms, most_tasks(schedule), decision->passed);
    if (times->rule.kind == TPI_RULE_AFTER) return TP_NONE;
    return tpi_times_next(times, decision->passed[decision->count - 1], &decision->next.at_ms);
}

/* By the calendar as it is now, from the time of the rule that was dealt with last: what is planned may have
 * been worked out from an earlier one, and may not be due any more. After ... plans one time only, and none
 * while it waits for its task. */
static tp_status plan_by_calendar(const struct firing *firing, const struct tpi_schedule_row *row,
                                  const struct tpi_planning *planning, struct decision *decision) {
    bool after = planning->times.rule.kind == TPI_RULE_AFTER;
    struct tpi_planned next = {0};
    int64_t fired = INT64_MIN;
    decision->next.dealt_ms = row->rule_at;
    if (after && !row->schedule.next_at) return TP_NONE;
    if (!after)
        decision->count = tpi_planned_passed(&planning->planner, row->rule_at, firing->now_ms,
                                             most_tasks(&row->schedule), decision->planned);
    for (size_t i = 0; i < decision->count; i++)
        decision->passed[i] = fired = decision->planned[i].fire_ms;
    if (decision->count) decision->next.dealt_ms = decision->planned[decision->count - 1].rule_ms;
    tp_status status = tpi_planned_next(&planning->planner, decision->next.dealt_ms, fired, &next);
    if (status != TP_OK) return status;
    if (next.unknown && next.fire_ms <= firing->now_ms && !decision->count)
        return tpi_planning_unknown(planning, next.fire_ms);
    if (after && next.fire_ms <= firing->now_ms) {
        decision->planned[decision->count++] = next;
        decision->passed[0] = next.fire_ms;
        decision->next.dealt_ms = next.rule_ms;
        return TP_NONE;
    }
    decision->next.at_ms = next.fire_ms;
    return TP_OK;
}

static tp_status decide(const struct firing *firing, const struct tpi_schedule_row *row, bool open,
                        struct tpi_planning *planning, struct decision *decision) {
    const tp_schedule *schedule = &row->schedule;
    bool after = planning->times.rule.kind == TPI_RULE_AFTER;
    tp_status status = planning->name ? plan_by_calendar(firing, row, planning, decision)
                                      : plan(firing, schedule, &planning->times, decision);
    if (status < TP_OK || !decision->count) return status == TP_NONE ? TP_OK : status;
    int64_t last = decision->passed[decision->count - 1];
    bool missed = firing->now_ms - last > MISSED_AFTER_MS && schedule->missed == TP_MISSED_SKIP && !after;
    if (missed || (open && (schedule->alone || after))) decision->count = 0;
    return TP_OK;
}

/* Of a change that found no row: somebody else made it, and the row is not as it was. */
static tp_status check_changed(const struct firing *firing, const char *name, int64_t next_at,
                               int64_t rule_at, const char *last_task) {
    struct tpi_schedule_row now = {0};
    tp_status status = tpi_schedule_find(firing->conn, name, &now);
    if (status != TP_OK) return status == TP_NONE ? TP_OK : status;
    const tp_schedule *schedule = &now.schedule;
    bool same = !schedule->paused && schedule->next_at == next_at && now.rule_at == rule_at &&
                strcasecmp(schedule->last_task, last_task) == 0;
    tpi_schedule_free(&now);
    return same ? tpi_refused_silently(&firing->conn->store, "kept a schedule as it was", "schedule") : TP_OK;
}

/* For which time the task of a planned time has its id. */
static int64_t time_of_id(const struct tpi_planning *planning, const struct decision *decision, size_t i) {
    return planning->name ? decision->planned[i].rule_ms : decision->passed[i];
}

/* Workers fire too, and name nobody. */
static tp_status record_fired(tp_conn *conn, const char *name, size_t tasks) {
    struct tpi_act act = {.action = TPI_AUDIT_FIRED, .subject = name, .changed = (int64_t)tasks};
    return tpi_audit_has_actor(conn) ? tpi_audit_add(conn, &act) : TP_OK;
}

/* In the transaction: the schedule goes on to its next planned time, and the tasks of the passed ones are put
 * in. *inserted: how many of them are new. */
static tp_status store(const struct firing *firing, const struct tpi_schedule_row *row,
                       const struct tpi_planning *planning, const struct decision *decision,
                       size_t *inserted) {
    const tp_schedule *schedule = &row->schedule;
    struct tpi_args args = {0};
    int64_t last_at = schedule->last_at;
    char last_task[TPI_UUID_SIZE] = "";
    if (decision->count) {
        last_at = decision->passed[decision->count - 1];
        make_id(firing->conn, row, time_of_id(planning, decision, decision->count - 1), last_task);
    }
    tpi_args_text(&args, TPI_P_name, schedule->name);
    tpi_args_number(&args, TPI_P_created_at, row->created_at);
    tpi_args_number(&args, TPI_P_due_at, schedule->next_at);
    tpi_args_number(&args, TPI_P_dealt_at, row->rule_at);
    tpi_planning_args(planning, &decision->next, &args);
    if (last_at) tpi_args_number(&args, TPI_P_last_at, last_at);
    tpi_schedule_last_args(schedule, &args);
    tpi_args_text(&args, TPI_P_last_task, decision->count ? last_task : schedule->last_task);
    tpi_args_number(&args, TPI_P_modified_at, firing->now_ms);
    tp_status status = tpi_store_change_one(&firing->conn->store, TPI_S_schedule_advance, &args);
    if (status == TP_NONE)
        return check_changed(firing, schedule->name, schedule->next_at, row->rule_at, schedule->last_task);
    for (size_t i = 0; i < decision->count && status == TP_OK; i++) {
        tp_new_task task = tpi_schedule_task(schedule);
        task.due_at = decision->passed[i];
        make_id(firing->conn, row, time_of_id(planning, decision, i), task.id);
        status = tp_enqueue(firing->conn, &task);
        if (status == TP_OK) ++*inserted;
        if (status == TP_EXISTS) status = TP_OK;
    }
    return status == TP_OK && *inserted ? record_fired(firing->conn, schedule->name, *inserted) : status;
}

static tp_status fire_row(struct firing *firing, const struct tpi_schedule_row *row,
                          struct tpi_planning *planning, struct decision *decision) {
    struct tpi_scope scope;
    size_t inserted = 0;
    bool open = false, is_free = false;
    if (row->bad_missed)
        return tpi_error(TP_MISUSE, "missed is none of once, skip, all; remove it and add it anew");
    if (row->bad_closed) return tpi_schedule_bad_closed();
    if (row->schedule.next_at < 1 && !*row->schedule.calendar)
        return tpi_error(TP_MISUSE, "next_at is no time; pause it and resume it, which sets it anew");
    tp_status status = tpi_planning_open(firing->conn, &row->schedule, planning);
    if (status == TP_OK) status = tpi_schedule_open(firing->conn, &row->schedule, &open);
    if (status == TP_OK) status = decide(firing, row, open, planning, decision);
    if (status == TP_OK) status = tpi_scope_begin(firing->conn, &scope);
    if (status != TP_OK) return status;
    status = try_lock(firing, row->schedule.name, &is_free);
    if (status == TP_OK && is_free) status = store(firing, row, planning, decision, &inserted);
    status = tpi_scope_end(firing->conn, &scope, status);
    /* Its tasks have no dedup_key, and were searched for by their ids. */
    status = tpi_refused_judge(&firing->conn->store, status, "pending", NULL, NULL);
    if (status != TP_OK) return status;
    firing->fired += inserted;
    firing->moved = firing->moved || is_free;
    return TP_OK;
}

static tp_status fire_named(struct firing *firing, const char *name) {
    struct tpi_schedule_row row = {0};
    struct tpi_planning planning = {0};
    tp_status status = tpi_schedule_find(firing->conn, name, &row);
    if (status != TP_OK) return status == TP_NONE ? TP_OK : status;
    struct decision *decision = calloc(1, sizeof *decision);
    bool due = !row.schedule.paused && row.schedule.next_at && row.schedule.next_at <= firing->now_ms;
    bool planned_anew = !row.schedule.paused && *row.schedule.calendar; /* its calendar may have changed */
    if (!decision)
        status = tpi_error(TP_NOMEM, "out of memory");
    else if (due || planned_anew)
        status = note_broken(firing, name, fire_row(firing, &row, &planning, decision));
    free(decision);
    tpi_planning_close(&planning);
    tpi_schedule_free(&row);
    return status;
}

/* ---- All that are due ---------------------------------------------------------------------------------- */

struct due {
    const char *name;
    int64_t now_ms;
};

/* From any on, so that rows which stay locked keep out no other for ever. */
static tp_status fire_due(struct firing *firing) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct due, name),
        TPI_COLUMN(EXACT, struct due, now_ms),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    void *all = NULL;
    size_t count = 0;
    tp_status status = tpi_store_list(&firing->conn->store, TPI_S_schedule_due, &args, columns, &texts,
                                      sizeof(struct due), &all, &count);
    const struct due *due = all;
    if (count) firing->now_ms = due[count - 1].now_ms;
    size_t first = count ? tpi_random() % count : 0;
    for (size_t i = 0; i < count && status == TP_OK && firing->locked < LOCKED_MAX; i++)
        status = fire_named(firing, due[(first + i) % count].name);
    free(all);
    tpi_texts_free(&texts);
    return status;
}

/* ---- Those that wait for their last task --------------------------------------------------------------- */

struct waiting {
    tp_schedule schedule;
    const char *closed;
    int open;
    int64_t finished_at, failed_at; /* 0: its task is not there */
};

static tp_status start_ended(struct firing *firing, const struct waiting *waiting,
                             struct tpi_planning *planning) {
    const tp_schedule *schedule = &waiting->schedule;
    struct tpi_scope scope;
    struct tpi_args args = {0};
    struct tpi_next next = {0};
    int64_t now = 0;
    bool is_free = false;
    tp_status status = tpi_ask_now(firing->conn, &now);
    int64_t ended_at = waiting->finished_at ? waiting->finished_at : waiting->failed_at;
    if (status == TP_OK) status = tpi_planning_begin(planning, ended_at ? ended_at : now, &next);
    if (status == TP_OK) status = tpi_scope_begin(firing->conn, &scope);
    if (status != TP_OK) return status == TP_NONE ? TP_OK : status;
    tpi_args_text(&args, TPI_P_name, schedule->name);
    tpi_args_text(&args, TPI_P_last_task, schedule->last_task);
    tpi_planning_args(planning, &next, &args);
    tpi_args_number(&args, TPI_P_modified_at, now);
    status = try_lock(firing, schedule->name, &is_free);
    if (status == TP_OK && is_free)
        status = tpi_store_change_one(&firing->conn->store, TPI_S_schedule_start, &args);
    if (status == TP_NONE)
        status = check_changed(firing, schedule->name, 0, next.dealt_ms, schedule->last_task);
    return tpi_scope_end(firing->conn, &scope, status);
}

static tp_status start_one(struct firing *firing, struct waiting *waiting) {
    struct tpi_planning planning = {0};
    tp_schedule *schedule = &waiting->schedule;
    schedule->closed = TP_CLOSED_SKIP;
    if (*schedule->calendar && !tpi_closed_parse(waiting->closed, &schedule->closed))
        return tpi_schedule_bad_closed();
    tp_status status = tpi_planning_open(firing->conn, schedule, &planning);
    if (status != TP_OK) return status;
    int64_t delay = planning.times.rule.period_ms;
    firing->started = firing->started || !waiting->open;
    if (!waiting->open)
        status = start_ended(firing, waiting, &planning);
    else if (firing->waiting_ms < 0 || delay < firing->waiting_ms)
        firing->waiting_ms = delay;
    tpi_planning_close(&planning);
    return status;
}

/* All of them are in memory, so that no result is open while they are changed. */
static tp_status start_waiting(struct firing *firing) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct waiting, schedule.name),
        TPI_COLUMN(TEXT, struct waiting, schedule.rule),
        TPI_COLUMN(TEXT, struct waiting, schedule.time_zone),
        TPI_COLUMN(TEXT, struct waiting, schedule.calendar),
        TPI_COLUMN(TEXT, struct waiting, closed),
        TPI_COLUMN(TEXT, struct waiting, schedule.last_task),
        TPI_COLUMN(FLAG, struct waiting, open),
        TPI_COLUMN(NUMBER, struct waiting, finished_at),
        TPI_COLUMN(NUMBER, struct waiting, failed_at),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    void *all = NULL;
    size_t count = 0;
    tp_status status = tpi_store_list(&firing->conn->store, TPI_S_schedule_waiting, &args, columns, &texts,
                                      sizeof(struct waiting), &all, &count);
    struct waiting *waiting = all;
    size_t first = count ? tpi_random() % count : 0;
    for (size_t i = 0; i < count && status == TP_OK && firing->locked < LOCKED_MAX; i++) {
        struct waiting *one = &waiting[(first + i) % count];
        status = note_broken(firing, one->schedule.name, start_one(firing, one));
    }
    free(all);
    tpi_texts_free(&texts);
    return status;
}

/* ---- Firing -------------------------------------------------------------------------------------------- */

struct wait {
    char text[64]; /* "": NULL */
    int64_t ms;    /* until the next planned time; -1: there is none */
    int waiting;   /* a schedule waits for its last task */
};

static tp_status read_wait(const struct firing *firing, struct wait *wait) {
    static const struct tpi_column columns[] = {TPI_COLUMN(CHARS, struct wait, text),
                                                TPI_COLUMN(FLAG, struct wait, waiting), TPI_COLUMN_END};
    struct tpi_args args = {0};
    *wait = (struct wait){.ms = -1};
    tp_status status = tpi_store_read(&firing->conn->store, TPI_S_schedule_wait, &args, columns, NULL, wait);
    if (status == TP_OK && *wait->text) wait->ms = tpi_number(wait->text) > 0 ? tpi_number(wait->text) : 0;
    return status == TP_NONE ? TP_OK : status;
}

/* Until there may be something to do; -1: never. */
static int64_t wait_until_next(const struct firing *firing, const struct wait *wait) {
    int64_t ms = wait->ms == 0 && (firing->broken || !firing->moved) ? BROKEN_AGAIN_MS : wait->ms;
    if (firing->waiting_ms >= 0 && (ms < 0 || firing->waiting_ms < ms)) ms = firing->waiting_ms;
    if (firing->left && (ms < 0 || ms > BROKEN_AGAIN_MS)) ms = BROKEN_AGAIN_MS;
    return ms;
}

tp_status tp_schedule_fire(tp_conn *conn, size_t *fired, int64_t *wait_ms) {
    struct firing firing = {.conn = conn, .waiting_ms = -1};
    struct wait wait;
    tp_status status = tpi_conn_ready_alone(conn, "tp_schedule_fire");
    if (status == TP_OK) status = read_wait(&firing, &wait);
    if (status == TP_OK && wait.waiting) status = start_waiting(&firing);
    if (status == TP_OK && firing.started) status = read_wait(&firing, &wait);
    if (status == TP_OK && wait.ms == 0) {
        status = fire_due(&firing);
        if (status == TP_OK) status = read_wait(&firing, &wait);
    }
    if (status != TP_OK) return status;
    if (fired) *fired = firing.fired;
    if (wait_ms) *wait_ms = wait_until_next(&firing, &wait);
    if (!firing.broken) return TP_OK;
    tpi_error_restore(&firing.why);
    return firing.why.error.status;
}
