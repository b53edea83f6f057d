/* The steps of a handler: each is a transaction of its own on the thread's connection, with a row of the
 * ledger of steps. First it is looked whether the step is done. If not, its function writes in a transaction
 * that extends the lease last, which shows that the claim still owns the task and locks it until the commit.
 * A commit without an answer is looked up behind that lock: who gets it knows that the earlier transaction
 * has ended. Must not know how steps are stored; see ops/steps.c. */
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "ops/for_workers.h"
#include "worker/run.h"

enum { CALLS_MAX = 3 }; /* of a step's function when its transaction is lost */

struct step {
    struct tp_run *run;
    const char *name;
    tp_step_fn fn;
    void *arg;
    const tp_task *task; /* by the claim for which was asked last */
    const char *result;  /* of what is done */
    bool unsure;         /* a commit got no answer */
    bool again;          /* the last failure may pass */
    bool own;            /* and was the function's own */
};

/* ---- What is asked of the database ----------------------------------------------------------------------
 */

static tp_status extend(tp_conn *conn, struct step *step) {
    step->task = tpi_job_newest(step->run->job)->task;
    return tp_extend(conn, step->task, step->run->job->jobs->options->lease_ms);
}

/* The claim that was asked for was lost: not to one that this process made meanwhile. */
static bool is_lost(const struct step *step) {
    return step->task == tpi_job_newest(step->run->job)->task;
}

static tp_status find(tp_conn *conn, struct step *step) {
    return tpi_step_find(conn, step->task, step->name, &step->run->results, &step->result);
}

/* The commit keeps a cluster's other nodes from having ended the earlier transaction otherwise. */
static tp_status find_behind_lock(tp_conn *conn, struct step *step) {
    tp_status status = tp_begin(conn);
    if (status != TP_OK) return status;
    status = extend(conn, step);
    if (status == TP_OK) status = find(conn, step);
    if (status < TP_OK) {
        (void)!tp_rollback(conn);
        return status;
    }
    tp_status committed = tp_commit(conn);
    return committed == TP_OK ? status : committed;
}

static tp_status ask_find(tp_conn *conn, void *arg) {
    struct step *step = arg;
    if (step->unsure) return find_behind_lock(conn, step);
    step->task = tpi_job_newest(step->run->job)->task;
    return find(conn, step);
}

static tp_status ask_begin(tp_conn *conn, void *arg) {
    (void)arg;
    return tp_begin(conn);
}

static tp_status ask_store(tp_conn *conn, void *arg) {
    struct step *step = arg;
    tp_status status = extend(conn, step);
    if (status == TP_OK) status = tpi_step_add(conn, step->task, step->name, step->run->step_result);
    if (status != TP_OK) return status;
    step->unsure = true;
    return tp_commit(conn);
}

/* ---- One call of its function ---------------------------------------------------------------------------
 */

static tp_status call_fn(struct step *step) {
    struct tp_run *run = step->run;
    run->step_fault = TP_OK;
    run->step_result = NULL;
    run->in_transaction = run->in_step = true;
    tpi_conn_guard(run->session->conn, true);
    tp_status status = step->fn(run, run->session->conn, step->arg);
    tpi_conn_guard(run->session->conn, false);
    run->in_step = false;
    if (status > TP_OK)
        return tpi_error(TP_MISUSE, "step %s: its function answered %d, which is neither TP_OK nor a failure",
                         step->name, (int)status);
    if (status == TP_OK) status = run->step_fault;
    if (status == TP_OK && run->doomed) status = run->trouble;
    run->doomed = false;
    if (status < TP_OK && tp_last_error()->status != status)
        return tpi_error(status, "step %s: its function answered %s", step->name, tp_status_name(status));
    return status;
}

static tp_status fail_fn(struct step *step, tp_status status) {
    struct tpi_kept_error kept = tpi_error_keep();
    tpi_session_note_run(step->run->session, true);
    step->again = tpi_run_failed_with_transaction(step->run);
    step->own = !step->again;
    tpi_error_restore(&kept);
    return status;
}

static tp_status fail_store(struct step *step, tp_status status) {
    struct tpi_kept_error kept = tpi_error_keep();
    step->again = status == TP_LOST ? !is_lost(step) : tp_status_may_retry(status);
    tpi_session_roll_back(step->run->session);
    step->run->in_transaction = false;
    tpi_error_restore(&kept);
    return status;
}

static tp_status call_once(struct step *step) {
    struct tp_run *run = step->run;
    tp_status status = tpi_session_call(run->session, ask_begin, NULL);
    step->own = false;
    step->again = tp_status_may_retry(status);
    if (status != TP_OK) return status;
    status = call_fn(step);
    if (status != TP_OK) return fail_fn(step, status);
    status = tpi_session_call(run->session, ask_store, step);
    tpi_trace(TPI_TRACE_WORKER, "step %s of task=%s: %s", step->name, step->task->id, tp_status_name(status));
    if (status != TP_OK) return fail_store(step, status);
    run->in_transaction = false;
    tpi_session_note_run(run->session, false);
    step->result = run->step_result ? run->step_result : "";
    return TP_OK;
}

/* ---- Until it is known ----------------------------------------------------------------------------------
 */

/* TP_NONE: it is not done, and the claim is held. */
static tp_status look(struct step *step) {
    enum tpi_deadline deadline = step->unsure ? TPI_UNTIL_GRACE : TPI_UNTIL_STOP;
    tp_status status = TP_LOST;
    do
        status = tpi_session_ask(step->run->session, deadline, ask_find, step);
    while (status == TP_LOST && !is_lost(step));
    if (status >= TP_OK || status == TP_LOST || !step->unsure || tp_status_may_retry(status)) return status;
    struct tpi_kept_error kept = tpi_error_keep();
    return tpi_error(TP_DISCONNECTED,
                     "step %s: its commit got no answer, and whether it was done cannot be asked now: %s",
                     step->name, kept.text);
}

static tp_status do_step(struct step *step) {
    struct tpi_kept_error kept = {0};
    tp_status failure = TP_NONE;
    for (int calls = 0;; calls++) {
        tp_status status = look(step);
        step->own = step->own && status == TP_NONE;
        if (status != TP_NONE) return status;
        step->unsure = false;
        bool goes_on = step->again && calls < CALLS_MAX && !tp_run_should_stop(step->run);
        if (calls && !goes_on) {
            tpi_error_restore(&kept);
            return failure;
        }
        failure = call_once(step);
        if (failure == TP_OK) return TP_OK;
        kept = tpi_error_keep();
        if (!step->unsure && !step->again) return failure;
        tpi_session_pause(step->run->session, TPI_UNTIL_STOP);
        tpi_error_restore(&kept);
    }
}

/* Of a failure that is not the function's own the task is not to blame. */
static tp_status note_failure(struct step *step, tp_status status) {
    struct tp_run *run = step->run;
    if (status == TP_OK || step->own) return status;
    if (status == TP_LOST)
        tpi_job_lose(run->job, "its claim was lost: a step found it so");
    else
        run->trouble = step->again ? TP_CONFLICT : status;
    tpi_run_remember(run);
    return status;
}

/* ---- The calls ------------------------------------------------------------------------------------------
 */

static tp_status check(struct tp_run *run, const char *name) {
    tp_status status = tpi_step_check_name(name);
    if (status != TP_OK) return status;
    if (run->held)
        return tpi_error(
            TP_UNSUPPORTED,
            "step %s: by plan hold the whole handler is one transaction; steps need a worker whose "
            "plan leases tasks, such as %s",
            name, tp_conn_about(run->session->conn)->leased_plan);
    if (run->in_transaction)
        return tpi_error(TP_MISUSE,
                         "step %s: tp_run_conn has begun the task's transaction; steps come before it", name);
    if (run->steps >= TP_STEPS_MAX)
        return tpi_error(TP_TOOBIG, "step %s: the handler has asked for %d steps, and no more are allowed",
                         name, TP_STEPS_MAX);
    if (tp_run_lost(run)) return tpi_error(TP_LOST, "step %s: the claim was lost", name);
    return TP_OK;
}

tp_status tp_run_step(tp_run *run, const char *name, tp_step_fn fn, void *arg, const char **result) {
    if (!run || !fn) return tpi_error(TP_MISUSE, "tp_run_step: run and fn must not be NULL");
    if (run->in_step) {
        run->step_fault = TP_MISUSE;
        return tpi_error(TP_MISUSE, "tp_run_step: not in a step");
    }
    struct step step = {.run = run, .name = name, .fn = fn, .arg = arg};
    tp_status status = check(run, name);
    if (status != TP_OK) return status;
    run->steps++;
    status = note_failure(&step, do_step(&step));
    if (status == TP_OK && result) *result = step.result;
    return status;
}

static tp_status keep_result(struct tp_run *run, const char *result) {
    tp_status status = tpi_check_result("the step's result", result);
    if (status != TP_OK) return status;
    run->step_result = result ? tpi_texts_keep(&run->results, result, strlen(result)) : NULL;
    return !result || run->step_result ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
}

tp_status tp_run_step_result(tp_run *run, const char *result) {
    if (!run || !run->in_step) return tpi_error(TP_MISUSE, "tp_run_step_result: in a step only");
    tp_status status = keep_result(run, result);
    if (status != TP_OK) run->step_fault = status;
    return status;
}
