/* What operators do is done and recorded once, and so is what workers do besides their tasks: alerts, their
 * own rows, old rows that leave. */
#include <string.h>

#include "base/utf8.h"
#include "base/uuid.h"
#include "faults/operation.h"
#include "ops/for_workers.h"

/* ---- tp_operate ---------------------------------------------------------------------------------------- */

static tp_selection selection(void) {
    tp_selection all = TP_SELECTION_INIT;
    all.handler = pool.handler;
    all.who = "ann";
    all.why = "because";
    return all;
}

/* Three at most, by one transaction: before a failure none was done, or all that there is. */
static tp_status operate_on(struct work *work, tp_action action, const tp_selection *what) {
    tp_operated result = TP_OPERATED_INIT;
    tp_status status = tp_operate(work->conn, action, what, &result);
    if (status < TP_OK && result.done > 3) want_number(result.done, 3);
    work->number = status == TP_OK ? (int64_t)result.done : 0;
    return status;
}

static tp_status operate(struct work *work, tp_action action) {
    tp_selection what = selection();
    return operate_on(work, action, &what);
}

static tp_status operate_by_ids(struct work *work, tp_action action, const char *reason) {
    const char *ids[] = {work->ids[0], work->ids[1], work->ids[2]};
    tp_selection what = selection();
    what.ids = ids;
    what.id_count = 3;
    what.reason = reason;
    return operate_on(work, action, &what);
}

/* Each of three tasks is changed and recorded once, however often it was asked. */
static void judge_operated(struct work *work, const char *event, int events) {
    want_events_of_all(work, event, events);
    if (work->calls == 1) want_number(work->number, 3);
}

CALL(retry, operate(work, TP_ACTION_RETRY))
CALL(retry_ids, operate_by_ids(work, TP_ACTION_RETRY, "money"))

static void are_retried(struct work *work) {
    judge_operated(work, "retried", 3);
    want_acts(work, "retried", 3);
    want_all(work, "pending", "pending", 0);
}

CALL(skip_them, operate(work, TP_ACTION_SKIP))

static void are_skipped(struct work *work) {
    judge_operated(work, "skipped", 3);
    want_all(work, "finished", "skipped", 0);
}

CALL(release, operate(work, TP_ACTION_RELEASE))

static void are_released(struct work *work) {
    judge_operated(work, "released", 3);
    want_all(work, "pending", "pending", 0);
}

static tp_status count_only(struct work *work) {
    tp_selection what = selection();
    what.dry_run = 1;
    return operate_on(work, TP_ACTION_RETRY, &what);
}

static void are_counted(struct work *work) {
    want_number(work->number, 3);
    nothing_changed(work);
}

CALL(purge, operate(work, TP_ACTION_PURGE))
CALL(purge_ids, operate_by_ids(work, TP_ACTION_PURGE, NULL))
STEP(expect_none_left, work->id_count = 0)

/* One record for all three. */
STEP(are_purged, judge_operated(work, "purged", 1))

static tp_status purge_history(struct work *work) {
    tp_selection what = selection();
    what.pool = "history";
    return operate_on(work, TP_ACTION_PURGE, &what);
}

static void is_history_purged(struct work *work) {
    want_events_of_all(work, "failed", 0);
    want_events_of_all(work, "purged", 1);
}

/* ---- Pausing ------------------------------------------------------------------------------------------- */

static int pauses(const struct work *work) {
    return snapshot_count(&work->now, "pause", NULL, pool.handler);
}

CALL(pause_handler, tp_pause(work->conn, pool.handler, "ann", "because"))

static tp_status paused_or_not(const struct work *work) {
    return pauses(work) ? TP_EXISTS : TP_OK;
}

static void is_paused(struct work *work) {
    want_number(pauses(work), 1);
    want_events_of_all(work, "paused", 1);
}

STEP(paused, must(tp_pause(pool.b, pool.handler, "ann", "because")))
CALL(resume, tp_resume(work->conn, pool.handler, "ann"))

static tp_status to_resume_or_not(const struct work *work) {
    return pauses(work) ? TP_OK : TP_NONE;
}

static void is_resumed(struct work *work) {
    want_number(pauses(work), 0);
    want_events_of_all(work, "resumed", 1);
}

static void see_pause(const tp_paused *seen, void *arg) {
    struct work *work = arg;
    work->number += strcmp(seen->handler, pool.handler) == 0 && strcmp(seen->why, "because") == 0;
}

static tp_status each_pause(struct work *work) {
    work->number = 0;
    return tp_paused_each(work->conn, see_pause, work);
}

static void one_was_seen(struct work *work) {
    want_number(work->number, 1);
    nothing_changed(work);
}

/* ---- Retention ----------------------------------------------------------------------------------------- */

enum { DAY = 86400000 };

CALL(set_retention, tp_retention_set(work->conn, "finished", DAY, "ann"))

static void is_kept(struct work *work) {
    int64_t kept = 0;
    int events = snapshot_count(&work->now, "history", NULL, "");
    must(tp_retention_get(pool.b, "finished", &kept));
    want_number(kept, DAY);
    want_number(events, 1);
}

STEP(kept_a_day, must(tp_retention_set(pool.b, "finished", DAY, "ann")))

static tp_status get_retention(struct work *work) {
    int64_t ms = MARK;
    tp_status status = tp_retention_get(work->conn, "finished", &ms);
    want_untouched_number(status, ms);
    if (status == TP_OK) want_number(ms, DAY);
    return status;
}

static void three_old(struct work *work) {
    kept_a_day(work);
    three_finished(work);
    sql_run(pool.eye, "UPDATE tp_finished SET settled_at = 1");
}

static tp_status delete_old(struct work *work) {
    size_t deleted = (size_t)(int64_t)MARK;
    tp_status status = tp_retention_apply(work->conn, 500, &deleted);
    want_untouched_number(status, deleted);
    return status;
}

STEP(none_is_left, want_number(snapshot_count(&work->now, "finished", NULL, ""), 0))

/* ---- Checks -------------------------------------------------------------------------------------------- */

static void see_finding(const tp_finding *finding, void *arg) {
    struct work *work = arg;
    work->number += finding->text && *finding->text;
}

static tp_status check(struct work *work) {
    int bad = MARK;
    work->number = 0;
    tp_status status = tp_check(work->conn, see_finding, work, &bad);
    want_untouched_number(status, bad);
    if (status == TP_OK) want_number(bad, 0);
    return status;
}

static void all_was_checked(struct work *work) {
    if (work->number < 10) wrong("only %d checks", (int)work->number);
    nothing_changed(work);
}

/* What it finds while a call fails is of no interest; that it leaves nothing behind is. */
static tp_status doctor(struct work *work) {
    int bad = MARK;
    work->number = 0;
    tp_status status = tp_doctor(pool.env, see_finding, work, &bad);
    want_untouched_number(status, bad);
    return status;
}

static void no_table_is_left(struct work *work) {
    if (work->number == 0) wrong("no finding");
    if (sql_try(pool.eye, "SELECT * FROM tp_doctor")) wrong("the doctor's table is still there");
}

/* ---- The audit ----------------------------------------------------------------------------------------- */

static void paused_and_resumed(struct work *work) {
    paused(work);
    must(tp_resume(pool.b, pool.handler, "ann"));
}

/* Of many runs: those of this one are the last. */
static void see_act(const tp_audit *row, void *arg) {
    struct work *work = arg;
    work->number += strcmp(row->subject, pool.handler) == 0;
}

static tp_status each_act(struct work *work) {
    tp_audit_request request = TP_AUDIT_INIT;
    request.limit = 2;
    work->number = 0;
    tp_status status = tp_audit_each(work->conn, &request, see_act, work);
    if (status == TP_OK) want_number(work->number, 2);
    return status;
}

/* Beside what it tells of, and only when that is new. */
static tp_status add_act(struct work *work) {
    tp_status status = tp_pause(work->conn, pool.handler, "ann", "because");
    return status == TP_OK ? tp_audit_add(work->conn, "own", pool.handler, NULL, 5) : status;
}

static void is_paused_and_told(struct work *work) {
    is_paused(work);
    want_acts(work, "own", 5);
}

static tp_status anchor(struct work *work) {
    char anchor[TP_ANCHOR_SIZE] = "?";
    tp_status status = tp_audit_anchor(work->conn, anchor);
    want_number(status < TP_OK, *anchor == '?');
    return status;
}

static tp_status check_audit(struct work *work) {
    int bad = MARK;
    work->number = 0;
    tp_status status = tp_audit_check(work->conn, NULL, see_finding, work, &bad);
    want_untouched_number(status, bad);
    if (status == TP_OK && work->number < 2) wrong("only %d findings", (int)work->number);
    return status;
}

/* ---- Alerts -------------------------------------------------------------------------------------------- */

static int count_alert(const tp_task *task, const char *text, void *arg) {
    struct work *work = arg;
    work->number += strcmp(task->id, work->ids[0]) == 0 && *text;
    return 0;
}

static tp_status alert(struct work *work) {
    size_t count = (size_t)(int64_t)MARK;
    tp_status status = tp_alert_each(work->conn, pool.handlers, 1, 0, count_alert, work, &count);
    want_untouched_number(status, count);
    return status;
}

/* An alert that was taken and not delivered is due again after a minute. */
static void alert_again(struct work *work) {
    if (work->number == 0) {
        must(tp_test_advance(pool.eye, 61000));
        must(alert(work));
    }
    if (work->number < 1) wrong("no alert");
    must(alert(work));
}

static void was_alerted(struct work *work) {
    if (work->number > 2) wrong("%d alerts", (int)work->number);
    want_task(work, 0, "failed", "failed", 1);
}

/* ---- The rows of workers ------------------------------------------------------------------------------- */

static tp_worker_row presence_of(const struct work *work) {
    tp_worker_row presence = {.name = work->key, .host = "h", .plan = "skip"};
    tpi_uuid_named(work->key, presence.id);
    return presence;
}

static tp_status heartbeat(struct work *work) {
    tp_worker_row presence = presence_of(work);
    return tpi_worker_heartbeat(work->conn, &presence, NULL);
}

static void is_running(struct work *work) {
    want_number(snapshot_count(&work->now, "worker", NULL, "running"), 1);
    want_number(snapshot_count(&work->now, "worker", NULL, ""), 1);
}

static void running(struct work *work) {
    tp_worker_row presence = presence_of(work);
    must(tpi_worker_heartbeat(pool.b, &presence, NULL));
}

static tp_status die(struct work *work) {
    tp_worker_row presence = presence_of(work);
    return tpi_worker_died(work->conn, presence.id);
}

static tp_status to_die_or_not(const struct work *work) {
    return snapshot_count(&work->now, "worker", NULL, "running") ? TP_OK : TP_NONE;
}

STEP(has_died, want_number(snapshot_count(&work->now, "worker", NULL, "died"), 1))

static void see_presence(const tp_worker_row *presence, void *arg) {
    struct work *work = arg;
    work->number += strcmp(presence->name, work->key) == 0;
}

static tp_status each_presence(struct work *work) {
    work->number = 0;
    return tp_worker_each(work->conn, see_presence, work);
}

static tp_status drain(struct work *work) {
    size_t asked = (size_t)(int64_t)MARK;
    tp_status status = tp_drain(work->conn, work->key, "ann", &asked);
    want_untouched_number(status, asked);
    if (status == TP_OK) want_number(asked, 1);
    return status;
}

static void is_asked_to_end(struct work *work) {
    want_events_of_all(work, "drained", 1);
    want_number(sql_number(pool.eye, "SELECT COUNT(*) FROM tp_worker WHERE drain_at > 0"), 1);
}

/* ---- What workers count -------------------------------------------------------------------------------- */

static const char *const ends[] = {"mail", "pay"};

static tp_status write_activity(struct work *work, tp_conn *conn) {
    tp_activity rows[2] = {{.since = 60000}, {.since = 60000}};
    tp_worker_row presence = presence_of(work);
    for (int i = 0; i < 2; i++) {
        rows[i].handler = ends[i];
        rows[i].done = 3 + i;
        tpi_utf8_copy(presence.id, rows[i].worker, sizeof rows[i].worker);
    }
    return tpi_activity_write(conn, rows, 2);
}

CALL(count_activity, write_activity(work, work->conn))

static void is_counted_once(struct work *work) {
    want_number(snapshot_count(&work->now, "activity", NULL, ""), 2);
    want_number(sql_number(pool.eye, "SELECT SUM(done) FROM tp_activity"), 7);
}

STEP(counted, must(write_activity(work, pool.b)))

/* Asked again it finds nothing left to do. */
static tp_status roll_up(struct work *work) {
    int64_t since[TPI_ROLLUP_LEVELS] = {0};
    tp_status status = tpi_activity_roll_up(work->conn, since);
    return status == TP_NONE ? TP_OK : status;
}

static void is_rolled_up(struct work *work) {
    is_counted_once(work);
    want_number(sql_number(pool.eye, "SELECT MIN(minute) FROM tp_activity"), 60);
}

static void add_done(const tp_activity *activity, void *arg) {
    ((struct work *)arg)->number += activity->done;
}

static tp_status each_activity(struct work *work) {
    tp_activity_request request = TP_ACTIVITY_INIT;
    request.since = 60000;
    work->number = 0;
    tp_status status = tp_activity_each(work->conn, &request, add_done, work);
    if (status == TP_OK) want_number(work->number, 7);
    return status;
}

CALL(advance, tp_test_advance(work->conn, 1))

static const struct operation operations[] = {
    {"operate, retry", TRAIT_SHARED | TRAIT_PIECEMEAL, three_given_up, retry, TP_OK, are_retried},
    {"operate, retry by ids", TRAIT_SHARED | TRAIT_PIECEMEAL, three_given_up, retry_ids, TP_OK, are_retried},
    {"operate, skip", TRAIT_SHARED | TRAIT_PIECEMEAL, three_put, skip_them, TP_OK, are_skipped},
    {"operate, release", TRAIT_SHARED | TRAIT_PIECEMEAL, three_claimed, release, TP_OK, are_released},
    {"operate, dry run", 0, three_given_up, count_only, TP_OK, are_counted},
    {"operate, purge", TRAIT_SHARED | TRAIT_PIECEMEAL, three_finished, purge, TP_OK, are_purged,
     .finish = expect_none_left},
    {"operate, purge by ids", TRAIT_SHARED | TRAIT_PIECEMEAL, three_finished, purge_ids, TP_OK, are_purged,
     .finish = expect_none_left},
    {"operate, purge of the history", TRAIT_SHARED | TRAIT_PIECEMEAL, one_failed, purge_history, TP_OK,
     is_history_purged},
    {"pause", TRAIT_SHARED, NULL, pause_handler, TP_OK, is_paused, paused_or_not},
    {"pause, in a transaction", TRAIT_SHARED | TRAIT_TRANSACTION, NULL, pause_handler, TP_OK, is_paused,
     paused_or_not},
    {"resume", TRAIT_SHARED, paused, resume, TP_OK, is_resumed, to_resume_or_not},
    {"paused_each", 0, paused, each_pause, TP_OK, one_was_seen},
    {"retention_set", TRAIT_SHARED, NULL, set_retention, TP_OK, is_kept},
    {"retention_get", 0, kept_a_day, get_retention, TP_OK, nothing_changed},
    {"retention_apply", TRAIT_SHARED | TRAIT_PIECEMEAL, three_old, delete_old, TP_OK, none_is_left,
     .finish = expect_none_left},
    {"check", 0, NULL, check, TP_OK, all_was_checked},
    {"audit_add, in a transaction", TRAIT_SHARED | TRAIT_TRANSACTION, NULL, add_act, TP_OK,
     is_paused_and_told, paused_or_not},
    {"audit_each", 0, paused_and_resumed, each_act, TP_OK, nothing_changed},
    {"audit_anchor", 0, paused_and_resumed, anchor, TP_OK, nothing_changed},
    {"audit_check", TRAIT_SHARED, paused_and_resumed, check_audit, TP_OK, nothing_changed},
    {"doctor", TRAIT_SESSIONS | TRAIT_EXPENSIVE, NULL, doctor, TP_OK, no_table_is_left},
    {"alert_each", TRAIT_SHARED, one_given_up, alert, TP_OK, was_alerted, .finish = alert_again},
    {"worker_heartbeat", TRAIT_SHARED | TRAIT_PIECEMEAL, NULL, heartbeat, TP_OK, is_running},
    {"worker_died", 0, running, die, TP_OK, has_died, to_die_or_not},
    {"worker_each", 0, running, each_presence, TP_OK, one_was_seen},
    {"drain", TRAIT_SHARED, running, drain, TP_OK, is_asked_to_end},
    {"activity_write", TRAIT_SHARED, NULL, count_activity, TP_OK, is_counted_once},
    {"activity_roll_up", TRAIT_SHARED, counted, roll_up, TP_OK, is_rolled_up},
    {"activity_each", 0, counted, each_activity, TP_OK, nothing_changed},
    {"test_advance", TRAIT_SHARED, three_put, advance, TP_OK, are_pending},
};

OPERATION_GROUP(operators, test_faults__what_operators_do_is_done_whichever_call_fails, operations);
