/* tp_check: examines the rows of all pools for what cannot be. One query for each check, which gives a
 * number of rows and an example. A finding that is only a hint does not make the pool bad. Read next:
 * sql/common/check_*.sql. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/uuid.h"
#include "ops/operate.h"
#include "store/record.h"

#define HOUR INT64_C(3600000)
#define DAY  (24 * HOUR)
#define SKEW INT64_C(10000) /* of clocks that agree */

enum weight { WRONG, WORTH_KNOWING };

/* In what and remedy, %s is the example. */
static const struct check {
    enum tpi_statement statement;
    enum weight weight;
    int64_t age_ms; /* for checks of rows that are there for so long, or come later; 0: none */
    const char *name, *good, *what, *remedy;
} checks[] = {
    {TPI_S_check_two_pools, WRONG, 0, "one pool", "every task is in one pool only",
     "tasks are in two pools, such as %s",
     "look at the task's rows in the pool tables; delete the one in the pool where it does not belong (what "
     "is in the finished pool was done, so mostly the other)"},
    {TPI_S_check_state, WRONG, 0, "states", "every state is one that its pool has",
     "tasks are in a state that their pool does not have, such as %s",
     "correct the column state: pending, handling or failed in the pending pool, done or skipped in the "
     "finished pool, failed in the failed pool; and put the missing CHECK constraint back"},
    {TPI_S_check_owner, WRONG, 0, "owners", "every task in hand has an owner",
     "tasks are being handled by nobody, such as %s",
     "taskpool release --id %s --why 'no owner', for each; they can be claimed again at once"},
    {TPI_S_check_failures, WRONG, 0, "failures", "every count of failures is possible",
     "tasks have an impossible count of failures, such as %s",
     "correct the column failures: 0 or more, 1 or more where the state is failed; taskpool retry --id %s "
     "does it for a failed task"},
    {TPI_S_check_numbers, WRONG, 0, "numbers", "every priority and shard is a whole number",
     "tasks have a priority or a shard that is no whole number, or a priority out of range, such as %s",
     "claims may not see them: correct the columns priority (a whole number from -32768 to 32767) and shard "
     "(a whole number), and what puts them in by plain SQL"},
    {TPI_S_check_times, WRONG, 0, "times", "every time is one that a clock gives",
     "tasks have a time before 1970 or after the year 9999, such as %s",
     "times are milliseconds since 1970; correct due_at, created_at, modified_at or settled_at"},
    {TPI_S_check_order, WRONG, 0, "order of times", "no task was settled before it was created",
     "tasks were settled more than a day before they were created, such as %s",
     "look whether the database's clock was set back; correct created_at or settled_at"},
    {TPI_S_check_ids, WRONG, 0, "ids", "every id is a UUID in lower case",
     "tasks have an id that is no UUID in lower case, such as %s",
     "write the id in lower case with hyphens, as in 01936f5e-8a4c-7b1d-9c3e-5f6a7b8c9d0e; no command finds "
     "it by its id before that"},
    {TPI_S_check_handlers, WRONG, 0, "handlers", "every open task has a handler",
     "tasks have an empty handler, such as %s",
     "no worker takes them: write the handler's name into the column handler, or taskpool skip --id %s"},
    {TPI_S_check_gates, WRONG, 0, "gates", "every task behind a gate has its place there",
     "tasks are behind a gate that does not know them, such as %s: nothing lets those through that wait",
     "somebody deleted rows of the table of places by hand: taskpool skip --id %s, and put it in anew, if it "
     "waits; one that does not wait ends as it should"},
    {TPI_S_check_gate_counts, WRONG, 0, "places", "every gate counts those that it has let through",
     "gates count other tasks than have places, such as %s: what waits there may wait for ever",
     "somebody deleted rows of the table of places by hand: the maintenance of a worker counts anew, within "
     "two minutes"},
    {TPI_S_check_groups, WRONG, 0, "groups", "every task that waits for a group has its place there",
     "tasks wait for a group that does not know them or has ended, such as %s: nothing makes them due",
     "somebody deleted or changed rows of the groups' tables by hand: taskpool skip --id %s, and put them in "
     "anew"},
    {TPI_S_check_held_groups, WORTH_KNOWING, DAY, "closed groups", "all end within a day",
     "groups were closed more than a day ago and have not ended, such as %s: a task of theirs is open or in "
     "the failed pool, or a group within is; see taskpool group show",
     ""},
    {TPI_S_check_open_groups, WORTH_KNOWING, DAY, "open groups", "none was forgotten",
     "groups are open, though nothing has come in for a day and all that is in them has ended, such as %s: "
     "what waits for them waits until somebody closes them (taskpool group close)",
     ""},
    {TPI_S_check_blocked_gates, WORTH_KNOWING, HOUR, "blocked gates",
     "none stands still behind a failed task",
     "gates have let nothing through for an hour, because all that they let through has failed for good, "
     "such as %s: taskpool list --pool failed --gate NAME shows what is to be retried or skipped",
     ""},
    {TPI_S_check_schedules, WORTH_KNOWING, 0, "schedules", "every schedule has a next time",
     "schedules are not paused and will never fire, such as %s: their rules have no time left", ""},
    {TPI_S_check_overdue, WORTH_KNOWING, HOUR, "late schedules", "none is late",
     "schedules should have fired more than an hour ago, such as %s: nobody fires them; run a worker with "
     "schedules (taskpool work --schedules) or taskpool schedule fire",
     ""},
    {TPI_S_check_schedule_clock, WORTH_KNOWING, -SKEW, "clock of schedules",
     "none was planned later than now",
     "schedules were planned more than ten seconds later than now, such as %s: the database's clock was "
     "ahead, and "
     "they may not fire before that time; once it is right, pause them and resume them, which plans them "
     "from now",
     ""},
    {TPI_S_check_schedule_tasks, WORTH_KNOWING, 0, "last tasks of schedules", "all are there",
     "schedules last fired a task that is in no pool any more, such as %s: purged, or deleted by hand", ""},
    {TPI_S_check_history, WORTH_KNOWING, 0, "events", "every event belongs to a task that is there",
     "events are about tasks that are in no pool any more, such as %s: purged, or deleted by hand; "
     "taskpool purge --pool history removes old ones",
     ""},
    {TPI_S_check_steps, WORTH_KNOWING, 0, "steps", "every step belongs to a task that is there",
     "steps are of tasks that are in no pool any more, such as %s: purged by a taskpool that knows no steps, "
     "or deleted by hand; docs/steps.md has the statement that removes them",
     ""},
    {TPI_S_check_alerts, WORTH_KNOWING, HOUR, "alerts", "none is late",
     "alerts of tasks that gave up were not given for an hour, such as %s: no worker with an alert program "
     "runs for their handlers",
     ""},
    {TPI_S_check_lapsed, WORTH_KNOWING, DAY, "lapsed leases", "none lapsed long ago",
     "tasks have a lease that lapsed more than a day ago, such as %s: no worker runs for their handlers", ""},
    {TPI_S_check_waiting, WORTH_KNOWING, DAY, "waiting tasks", "none waits for long",
     "tasks are due for more than a day, such as %s: no worker runs for their handlers, or they are paused",
     ""},
    {TPI_S_check_clock, WORTH_KNOWING, -SKEW, "clock", "no task was created later than now",
     "tasks were created more than ten seconds later than now, such as %s: the database's clock was set "
     "back, or that of another server counts since it took over; what was due by the old clock waits until "
     "this one has come so far",
     ""},
};
enum { CHECKS = sizeof checks / sizeof checks[0] };

struct answer {
    int64_t count;
    const char *example;
};

/* Puts the example where text has %s. */
static void put_example(const char *text, const char *example, struct tpi_buf *out) {
    for (; *text; text++) {
        if (text[0] == '%' && text[1] == 's')
            tpi_buf_text(out, example), text++;
        else
            tpi_buf_char(out, *text);
    }
}

static tp_status report(const struct check *check, int64_t count, const char *example, tp_finding_fn see,
                        void *arg) {
    struct tpi_buf text = {0}, remedy = {0};
    tp_finding finding = {
        .name = check->name, .ok = !count || check->weight == WORTH_KNOWING, .count = count};
    if (count) {
        tpi_buf_int(&text, count);
        tpi_buf_char(&text, ' ');
        put_example(check->what, example, &text);
        put_example(check->remedy, example, &remedy);
    } else {
        tpi_buf_text(&text, check->good);
    }
    finding.text = tpi_buf_str(&text);
    finding.remedy = tpi_buf_str(&remedy);
    bool whole = finding.text && finding.remedy;
    if (whole) see(&finding, arg);
    tpi_buf_free(&text);
    tpi_buf_free(&remedy);
    return whole ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
}

static tp_status run_check(tp_conn *conn, const struct check *check, int64_t now, tp_finding_fn see,
                           void *arg, int *bad) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct answer, count),
        TPI_COLUMN(TEXT, struct answer, example),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_texts texts = {0};
    struct answer answer = {0};
    char after[TPI_UUID_SIZE];
    tpi_uuid_at(now - check->age_ms, after);
    tpi_args_number(&args, TPI_P_before, now - check->age_ms);
    tpi_args_text(&args, TPI_P_after_id, after);
    tp_status status = tpi_store_read(&conn->store, check->statement, &args, columns, &texts, &answer);
    if (status == TP_NONE) status = tpi_error(TP_DB, "a check gave no answer");
    if (status == TP_OK) status = report(check, answer.count, answer.example, see, arg);
    if (answer.count && check->weight == WRONG) ++*bad;
    tpi_texts_free(&texts);
    return status;
}

tp_status tp_check(tp_conn *conn, tp_finding_fn see, void *arg, int *bad) {
    int64_t now = 0;
    int wrong = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!see) return tpi_error(TP_MISUSE, "tp_check: see is NULL");
    status = tpi_ask_now(conn, &now);
    for (size_t i = 0; i < CHECKS && status == TP_OK; i++)
        status = run_check(conn, &checks[i], now, see, arg, &wrong);
    if (status < TP_OK) tpi_link_doom(&conn->store.link);
    if (status == TP_OK && bad) *bad = wrong;
    return status;
}
