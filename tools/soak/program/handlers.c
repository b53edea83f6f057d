/* pay: writes the ledger in the task's own transaction, and nothing else guards it.
 * once: the same, for a business key that only the first of its tasks may use (tp_once).
 * note: its effect is outside the database, a line in a file; it may happen twice, and is counted.
 * Each fails now and then, the first two after they wrote. */
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

static void think(const tp_task *task, const struct soak *soak) {
    if (is(task, SOAK_SLOW))
        soak_sleep_ms(soak->lease_ms + 300);
    else
        soak_sleep_ms((int64_t)dice(soak, 40));
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

    think(task, soak);
    if (is(task, SOAK_SKIP)) return TP_RUN_SKIPPED;
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

    think(task, soak);
    if (is(task, SOAK_SKIP)) return TP_RUN_SKIPPED;
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

    think(task, soak);
    if (is(task, SOAK_SKIP)) return TP_RUN_SKIPPED;
    end = verdict(run, soak);
    if (end != TP_RUN_DONE || write_outside(soak, task)) return end;
    return fail(run, "the file cannot be written");
}

tp_status soak_register(tp_worker *worker, const struct soak *soak, const tp_retry *retry) {
    void *arg = (void *)(uintptr_t)soak; /* only read */
    tp_status status = tp_worker_handle_with(worker, "pay", pay_soak, arg, retry);

    if (status == TP_OK) status = tp_worker_handle_with(worker, "once", once_soak, arg, retry);
    if (status == TP_OK) status = tp_worker_handle_with(worker, "note", note_soak, arg, retry);
    return status;
}
