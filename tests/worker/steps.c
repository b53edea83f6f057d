/* A handler with two steps. See steps.h. */
#include "worker/steps.h"

struct steps steps;

tp_status steps_pay(tp_run *run, tp_conn *conn, void *arg) {
    char result[40];
    const char *step = arg;
    snprintf(result, sizeof result, "%s %d", step, atomic_fetch_add(&steps.calls, 1));
    if (!sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s/%s')", tp_run_task(run)->id,
                 pool.handler, step))
        return TP_DB;
    return tp_run_step_result(run, result);
}

tp_status steps_answer_nothing(tp_run *run, tp_conn *conn, void *arg) {
    (void)run, (void)conn, (void)arg;
    atomic_fetch_add(&steps.calls, 1);
    return TP_OK;
}

struct faults_aim steps_commit(void) {
    return (struct faults_aim){.statement = "commit", .after = "step_add"};
}

bool steps_do(tp_run *run, int i, const char *name, tp_step_fn fn) {
    const char *result = "untouched";
    steps.answers[i] = tp_run_step(run, name, fn, (void *)(uintptr_t)name, &result);
    snprintf(steps.results[i], sizeof steps.results[i], "%s", result);
    if (steps.answers[i] != TP_OK) tp_run_reason(run, tp_last_error()->text);
    return steps.answers[i] == TP_OK;
}

tp_verdict steps_charge_and_mail(tp_run *run, void *arg) {
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    bool done = steps_do(run, 0, "charge", steps_pay) && steps_do(run, 1, "mail", steps_pay);
    return done ? TP_RUN_DONE : TP_RUN_FAILED;
}

void steps_run(int tasks, tp_handler_fn fn) {
    atomic_store(&steps.calls, 0);
    rig_finish(rig_start_by(tasks, &STEPS_OPTIONS(.settle_ms = 1), fn));
}

void steps_run_once(tp_handler_fn fn) {
    atomic_store(&steps.calls, 0);
    rig_finish(rig_start_by(1, &STEPS_OPTIONS(.retry = &rig_no_retries), fn));
}

int steps_effects(const char *step) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE note = '%s/%s'", pool.handler, step);
}

int steps_all_stored(void) {
    return (int)sql_number(pool.eye, "SELECT COUNT(*) FROM tp_step");
}

int steps_stored(void) {
    return (int)sql_number(pool.eye,
                           "SELECT COUNT(*) FROM tp_step WHERE task_id IN "
                           "(SELECT id FROM tp_tasks WHERE handler = '%s')",
                           pool.handler);
}
