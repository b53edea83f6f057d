/* Why a handler should end soon, as it may ask, and what becomes of the verdict of one whose task is not
 * wanted any more. Read next: canceller.c, ops/cancel.c. */
#include "worker/stop_cause.h"

#include <stdio.h>

#include "base/utf8.h"
#include "ops/for_workers.h"

const char *tp_stop_name(tp_stop stop) {
    static const struct {
        tp_stop stop;
        const char *name;
    } names[] = {
#define NAME(id, number, name) {id, name},
        TP_STOP_LIST(NAME)
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].stop == stop) return names[i].name;
    return "unknown";
}

tp_stop tp_run_stop_cause(const tp_run *run, const char **text) {
    const struct tpi_job *job = tpi_job_newest(run->job);
    const struct tpi_stop_notice *notice = atomic_load(&job->stop_notice);
    const char *words = "";
    tp_stop cause = TP_STOP_NONE;
    if (atomic_load(&job->lost)) {
        cause = TP_STOP_LOST;
        words = "the claim was lost: the result is thrown away";
    } else if (notice) {
        cause = notice->cause;
        words = notice->reason;
    } else if (tpi_lifetime_stopping(run->runs->life)) {
        cause = TP_STOP_WORKER;
        words = "the worker is to stop";
    }
    if (text) *text = words;
    return cause;
}

int tp_run_should_stop(const tp_run *run) {
    return tp_run_stop_cause(run, NULL) != TP_STOP_NONE;
}

/* What the handler said comes behind it. */
static void complete_reason(struct tp_run *run, const struct tpi_stop_notice *notice) {
    char text[2 * TP_REASON_MAX + 8];
    snprintf(text, sizeof text, "%s%s%s", notice->reason, run->reason[0] ? "; " : "", run->reason);
    tpi_utf8_copy(text, run->reason, sizeof run->reason);
}

bool tpi_run_is_unwanted(struct tp_run *run) {
    const struct tpi_stop_notice *notice = atomic_load(&run->job->stop_notice);
    if (notice) complete_reason(run, notice);
    run->reason_noted = notice;
    return notice;
}

bool tpi_run_heeds(struct tp_run *run, tp_verdict verdict) {
    const struct tpi_stop_notice *notice = atomic_load(&run->job->stop_notice);
    if (!notice || !tpi_cancel_skips(verdict)) return false;
    if (!run->reason_noted) complete_reason(run, notice);
    run->reason_noted = true;
    return verdict != TP_RUN_SKIPPED;
}
