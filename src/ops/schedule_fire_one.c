/* A person fires one schedule now, beside its planned times. In one transaction: the schedule's last task is
 * the new one, unless somebody fired it since it was read, and the task. Read next: schedule_fire.c. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "ops/schedule.h"

enum { ACTS_MAX = 1000 }; /* of a schedule, the newest: among them is one that is asked for again */

struct fired {
    const char *id;
    bool found;
};

static void note_fired(const tp_audit *row, void *arg) {
    struct fired *fired = arg;
    fired->found |= row->detail && strcasecmp(row->detail, fired->id) == 0;
}

/* A task with the id is there. TP_OK: it is this schedule's, made by an earlier call. */
static tp_status judge_there(tp_conn *conn, const struct tpi_schedule_row *row, const char *id) {
    tp_audit_request acts = TP_AUDIT_INIT;
    struct fired fired = {.id = id, .found = strcasecmp(row->schedule.last_task, id) == 0};
    acts.action = TPI_AUDIT_FIRED;
    acts.subject = row->schedule.name;
    acts.limit = ACTS_MAX;
    tp_status status = fired.found ? TP_OK : tp_audit_each(conn, &acts, note_fired, &fired);
    if (status < TP_OK || fired.found) return status < TP_OK ? status : TP_OK;
    (void)tpi_error(TP_EXISTS,
                    "a task has this id, and is not known as this schedule's; this call made none: look at "
                    "that task before you ask with another id");
    return TP_EXISTS;
}

/* TP_NONE: nothing stands in the way. TP_OK: it was fired by that id before, whatever came of that since. */
static tp_status look(tp_conn *conn, const struct tpi_schedule_row *row, const char *id) {
    struct tpi_times times = {0};
    bool open = false;
    tp_status status = tpi_times_open(row->schedule.rule, NULL, &times);
    bool alone = row->schedule.alone || times.rule.kind == TPI_RULE_AFTER;
    tpi_times_close(&times);
    if (status == TP_OK && alone) status = tpi_schedule_open(conn, &row->schedule, &open);
    if (status != TP_OK || !open) return status == TP_OK ? TP_NONE : status;
    if (*id) status = judge_there(conn, row, id);
    if (*id && status != TP_EXISTS) return status;
    return tpi_error(
        TP_CONFLICT,
        "nothing was fired: the schedule's last task is still open, and it wants no second beside it");
}

static tp_status record(tp_conn *conn, const char *name, const char *id) {
    struct tpi_act act = {.action = TPI_AUDIT_FIRED, .subject = name, .detail = id, .changed = 1};
    return tpi_audit_has_actor(conn) ? tpi_audit_add(conn, &act) : TP_OK;
}

/* In the transaction. The task first: where there is one with its id nothing has been written. */
static tp_status store(tp_conn *conn, const struct tpi_schedule_row *row, tp_new_task *task, int64_t now) {
    const tp_schedule *schedule = &row->schedule;
    struct tpi_args args = {0};
    tp_status status = tp_enqueue(conn, task);
    if (status != TP_OK) return status;
    tpi_args_text(&args, TPI_P_name, schedule->name);
    tpi_args_number(&args, TPI_P_created_at, row->created_at);
    tpi_args_text(&args, TPI_P_last_task, task->id);
    tpi_args_number(&args, TPI_P_modified_at, now);
    tpi_schedule_last_args(schedule, &args);
    status = tpi_store_change_one(&conn->store, TPI_S_schedule_fire_one, &args);
    if (status == TP_NONE)
        return tpi_error(
            TP_CONFLICT,
            "the schedule was fired or changed meanwhile, and this call made no task: look at its last "
            "task, and ask again only if nobody has fired it");
    return status == TP_OK ? record(conn, schedule->name, task->id) : status;
}

static tp_status fire(tp_conn *conn, const struct tpi_schedule_row *row, const char *id) {
    struct tpi_scope scope;
    tp_new_task task = tpi_schedule_task(&row->schedule);
    memcpy(task.id, id, TPI_UUID_SIZE);
    int64_t now = 0;
    tp_status status = tpi_ask_now(conn, &now);
    if (status == TP_OK) status = tpi_scope_begin(conn, &scope);
    if (status != TP_OK) return status;
    status = tpi_scope_end(conn, &scope, store(conn, row, &task, now));
    return status == TP_EXISTS ? judge_there(conn, row, id) : status;
}

static tp_status fire_as_it_is(tp_conn *conn, const char *name, const char *id, bool dry_run) {
    struct tpi_schedule_row row = {0};
    tp_status status = tpi_schedule_find(conn, name, &row);
    if (status != TP_OK) return status;
    status = look(conn, &row, id);
    if (status == TP_NONE) status = dry_run ? TP_OK : fire(conn, &row, id);
    tpi_schedule_free(&row);
    return status;
}

tp_status tp_schedule_fire_one(tp_conn *conn, const char *name, const char *id, int dry_run) {
    char normal[TPI_UUID_SIZE] = "";
    tp_status status = tpi_conn_ready_alone(conn, "tp_schedule_fire_one");
    if (status != TP_OK) return status;
    if (!name) return tpi_error(TP_MISUSE, "tp_schedule_fire_one: name is NULL");
    if (id || !dry_run) status = tpi_check_uuid("the id", id, normal);
    if (status != TP_OK) return status;
    status = fire_as_it_is(conn, name, normal, dry_run);
    /* The same was asked twice at once, perhaps: then the schedule says so by now. */
    if (status == TP_EXISTS || tpi_refused_as_there(status))
        status = fire_as_it_is(conn, name, normal, dry_run);
    return tpi_refused_judge(&conn->store, status, "pending", NULL, NULL);
}
