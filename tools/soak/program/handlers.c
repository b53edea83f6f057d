/* pay: writes the ledger in the task's own transaction, and nothing else guards it.
 * once: the same, for a business key that only the first of its tasks may use (tp_once).
 * note: its effect is outside the database, a line in a file; it may happen twice, and is counted.
 * prompt: as pay, and of no use when nobody came to it in time.
 * end: runs after a group; writes down when that had not ended.
 * Each fails now and then, all but note after they wrote. */
#include "soak.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_uint_fast64_t calls;

static uint64_t dice(const struct soak *soak, uint64_t bound) {
    uint64_t state = soak->seed + (uint64_t)atomic_fetch_add(&calls, 1) * 7919;

    return soak_random(&state, bound);
}

static tp_verdict fail(tp_run *run, const char *reason) {
    tp_run_reason(run, reason);
    return TP_RUN_FAILED;
}

static bool is(const tp_task *task, const char *params) {
    return task->params && strcmp(task->params, params) == 0;
}

/* Until it is told that nobody wants the task any more, or for as long as a lease. True: it obeys. */
static bool ask(const tp_run *run, const struct soak *soak) {
    for (int64_t ms = 0; ms < soak->lease_ms + 300; ms += 50) {
        tp_stop cause = tp_run_stop_cause(run, NULL);
        if (cause == TP_STOP_CANCELLED || cause == TP_STOP_DEADLINE) return dice(soak, 2);
        soak_sleep_ms(50);
    }
    return false;
}

/* True: the task is to be skipped, before anything is written. */
static bool think(tp_run *run, const struct soak *soak) {
    const tp_task *task = tp_run_task(run);

    if (is(task, SOAK_ASKS) || is(task, SOAK_HASTY_ASKS)) return ask(run, soak);
    if (is(task, SOAK_SLOW))
        soak_sleep_ms(soak->lease_ms + 300);
    else
        soak_sleep_ms((int64_t)dice(soak, 40));
    if (is(task, SOAK_SKIP)) tp_run_reason(run, SOAK_SKIP);
    return is(task, SOAK_SKIP);
}

/* What the task is to become, once its effect is written. */
static tp_verdict verdict(tp_run *run, const struct soak *soak) {
    const tp_task *task = tp_run_task(run);

    if (is(task, SOAK_DOOMED) || (is(task, SOAK_FLAKY) && task->failures < 2)) return fail(run, task->params);
    if (is(task, SOAK_GIVEUP)) {
        tp_run_no_retry(run);
        return fail(run, task->params);
    }
    switch (dice(soak, 40)) {
    case 0:
        return fail(run, "by chance");
    case 1:
        tp_run_delay(run, 50);
        return TP_RUN_LATER;
    default:
        return TP_RUN_DONE;
    }
}

static bool write_ledger(tp_conn *conn, const char *kind, const tp_task *task, char error[DB_TEXT]) {
    const char *texts[] = {kind, task->id, task->biz_key};

    return db_insert(conn, "INSERT INTO soak_ledger (kind, task_id, biz) VALUES (?, ?, ?)", texts, 3, error);
}

/* The mistake that the judge must notice: a transaction of its own, over before the task's begins. Only tasks
 * that are to end well write, so a second line is not a retry that the handler asked for. */
static tp_verdict pay_apart(tp_run *run, const struct soak *soak) {
    tp_verdict end = verdict(run, soak);
    char error[DB_TEXT] = "the ledger cannot be written apart";
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    bool ok;

    if (end != TP_RUN_DONE) return end;
    ok = tp_env_open(getenv("TASKPOOL_DSN"), &env) == TP_OK && tp_conn_open(env, &conn) == TP_OK &&
         tp_begin(conn) == TP_OK && write_ledger(conn, "pay", tp_run_task(run), error) &&
         tp_commit(conn) == TP_OK;
    tp_conn_close(conn);
    tp_env_close(env);
    soak_sleep_ms((int64_t)dice(soak, 100));
    return ok ? end : fail(run, error);
}

static tp_verdict pay_soak(tp_run *run, void *arg) {
    const struct soak *soak = arg;
    const tp_task *task = tp_run_task(run);
    char error[DB_TEXT] = "";
    tp_conn *conn = NULL;

    if (think(run, soak)) return TP_RUN_SKIPPED;
    if (soak->apart) return pay_apart(run, soak);
    if (tp_run_conn(run, &conn) != TP_OK) return fail(run, tp_last_error()->text);
    if (!write_ledger(conn, "pay", task, error)) return fail(run, error);
    if (dice(soak, 4) == 0) soak_sleep_ms((int64_t)dice(soak, 60)); /* to be killed in the transaction */
    return verdict(run, soak);
}

static tp_verdict once_soak(tp_run *run, void *arg) {
    const struct soak *soak = arg;
    const tp_task *task = tp_run_task(run);
    char error[DB_TEXT] = "";
    tp_conn *conn = NULL;
    tp_status status;

    if (think(run, soak)) return TP_RUN_SKIPPED;
    if (tp_run_conn(run, &conn) != TP_OK) return fail(run, tp_last_error()->text);
    status = tp_once(conn, task->biz_key, task);
    if (status == TP_EXISTS) {
        tp_run_reason(run, "done before");
        return TP_RUN_SKIPPED;
    }
    if (status != TP_OK) return fail(run, tp_last_error()->text);
    if (!write_ledger(conn, "once", task, error)) return fail(run, error);
    return verdict(run, soak);
}

/* Of the group and those within it: what is open although the group's end has made this task due. */
static bool look_for_open(tp_conn *conn, const tp_task *task, int64_t *open, char error[DB_TEXT]) {
    char sql[400];
    int64_t groups = 0;
    bool ok;

    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM tp_group_task member JOIN tp_pending task ON task.id = member.task_id "
             "WHERE member.group_name = '%s' AND member.waits = 0",
             task->biz_key);
    ok = db_number(conn, sql, open, error);
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM tp_group WHERE parent = '%s' AND state IN ('open', 'closed')",
             task->biz_key);
    if (ok) ok = db_number(conn, sql, &groups, error);
    *open += groups;
    return ok;
}

static tp_verdict end_soak(tp_run *run, void *arg) {
    const struct soak *soak = arg;
    const tp_task *task = tp_run_task(run);
    const char *texts[] = {task->id, task->biz_key};
    char error[DB_TEXT] = "";
    tp_conn *conn = NULL;
    int64_t open = 0;

    if (tp_run_conn(run, &conn) != TP_OK) return fail(run, tp_last_error()->text);
    if (!look_for_open(conn, task, &open, error)) return fail(run, error);
    if (open && !db_insert(conn, "INSERT INTO soak_early (task_id, biz) VALUES (?, ?)", texts, 2, error))
        return fail(run, error);
    if (!write_ledger(conn, "end", task, error)) return fail(run, error);
    return open ? TP_RUN_DONE : verdict(run, soak); /* it may not be so any more when it is tried again */
}

static bool write_outside(const struct soak *soak, const tp_task *task) {
    char line[TP_ID_SIZE + 1];
    int length = snprintf(line, sizeof line, "%s\n", task->id);
    int file = open(soak->outside, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    bool ok = file >= 0 && write(file, line, (size_t)length) == length;

    if (file >= 0) (void)close(file);
    return ok;
}

/* The effect is the last thing, so what is there twice is not a retry that the handler asked for. */
static tp_verdict note_soak(tp_run *run, void *arg) {
    const struct soak *soak = arg;
    const tp_task *task = tp_run_task(run);
    tp_verdict end;

    if (think(run, soak)) return TP_RUN_SKIPPED;
    end = verdict(run, soak);
    if (end != TP_RUN_DONE || write_outside(soak, task)) return end;
    return fail(run, "the file cannot be written");
}

tp_status soak_register(tp_worker *worker, const struct soak *soak, const tp_retry *retry) {
    void *arg = (void *)(uintptr_t)soak; /* only read */
    tp_handler_options prompt = TP_HANDLER_INIT;
    tp_status status = tp_worker_handle_with(worker, "pay", pay_soak, arg, retry);

    if (status == TP_OK) status = tp_worker_handle_with(worker, "once", once_soak, arg, retry);
    if (status == TP_OK) status = tp_worker_handle_with(worker, "note", note_soak, arg, retry);
    if (status == TP_OK) status = tp_worker_handle_with(worker, "end", end_soak, arg, retry);
    prompt.retry = retry;
    prompt.deadline_ms = SOAK_PROMPT_MS;
    if (status == TP_OK) status = tp_worker_handle_by(worker, "prompt", pay_soak, arg, &prompt);
    return status;
}
