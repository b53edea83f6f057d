/* What a handler tells of its task while it runs: its result, which the settle stores, and how far it is,
 * which a thread of the worker writes. */
#include "base/error.h"
#include "ops/for_workers.h"
#include "worker/run.h"

tp_status tp_run_result(tp_run *run, const char *result) {
    if (!run) return tpi_error(TP_MISUSE, "tp_run_result: run must not be NULL");
    tp_status status = tpi_check_result("the task's result", result);
    if (status != TP_OK) return status;
    struct tpi_result *kept = result && *result ? tpi_result_new(result) : NULL;
    if (result && *result && !kept) return tpi_error(TP_NOMEM, "out of memory");
    tpi_result_unref(run->result);
    run->result = kept;
    return TP_OK;
}

/* Where a transaction lets nobody else write, the run's own keeps its progress from being written; without a
 * thread that waits for it nothing is tried then. */
void tp_run_progress(tp_run *run, int percent, const char *message) {
    if (!run) return;
    struct tpi_runs *runs = run->runs;
    if (run->in_transaction && (runs->life->stepping || tpi_conn_writes_alone(run->session->conn))) return;
    tpi_progress_tell(runs->progress, &run->progress, tpi_job_newest(run->job)->task, percent, message);
    if (runs->life->stepping) tpi_progress_step(runs->progress, &runs->reader);
}
