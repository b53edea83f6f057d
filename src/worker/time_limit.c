/* How long tasks may wait and handlers may run. A task that waited for longer than its handler's deadline is
 * of no use any more, as if it had a deadline of its own. A call that lasts longer than its handler may is
 * told; seconds later its lease is extended no more, so that others get the task when that has lapsed. The
 * call itself cannot be ended. By this machine's clock, without the database. Read next: stop_cause.c. */
#include "worker/time_limit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "worker/record.h"

int64_t tpi_time_limit_grace_ms = 5000; /* as programs have between SIGTERM and SIGKILL */

enum { LOOK_MAX = 1000 };

static void check_wait(struct tpi_job *job, int64_t now) {
    int64_t deadline_ms = job->handler ? job->handler->deadline_ms : 0;
    char why[80];
    if (!deadline_ms || job->waited_ms + now - job->claimed_ms < deadline_ms) return;
    if (atomic_load(&job->stop_notice)) return;
    snprintf(why, sizeof why, "%" PRId64 " ms after it was due,", deadline_ms);
    tpi_job_notify_stop(job, "", why);
}

void tpi_time_limit_waited(struct tpi_job *job) {
    check_wait(job, tpi_clock_mono_ms());
}

static void report(const struct tpi_job *job, const char *what) {
    char text[TP_HANDLER_MAX + 160];
    snprintf(text, sizeof text, "handler %s runs for longer than its limit of %" PRId64 " ms; %s",
             job->handler->name, job->handler->run_limit_ms, what);
    /* A task of plan hold may be gone. */
    tpi_record_error(job->jobs->record, job->batch ? job->task : NULL, text);
}

static void check_run(struct tpi_job *job, int64_t now) {
    int64_t limit_ms = job->handler ? job->handler->run_limit_ms : 0;
    int64_t began_ms = atomic_load(&job->began_ms), grace_ms = tpi_time_limit_grace_ms;
    if (!limit_ms || !began_ms || now - began_ms < limit_ms) return;
    if (!atomic_exchange(&job->overtime, true)) report(job, "it was told");
    if (job->batch && now - began_ms >= limit_ms + grace_ms && tpi_job_stop_renewal(job))
        report(job, "its lease is not extended any more");
}

void tpi_time_limit_look(struct tpi_jobs *jobs) {
    struct tpi_job *all[LOOK_MAX];
    int64_t now = tpi_clock_mono_ms();
    if (!jobs->handlers->timed) return;
    size_t count = tpi_jobs_oldest(jobs, all, LOOK_MAX);
    for (size_t i = 0; i < count; i++) {
        check_wait(all[i], now);
        check_run(all[i], now);
        tpi_job_unref(all[i]);
    }
}
