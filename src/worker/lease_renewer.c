/* The thread that extends the leases of queued and running tasks when a third of the lease is over, many in
 * one call. It never ends a task: on TP_LOST it records the loss and marks the job, and the thread that has
 * the job drops it. After the stop's deadline it extends no lease. */
#include "worker/lease_renewer.h"
#include "ops/for_workers.h"

#include "base/clock.h"
#include "base/trace.h"

enum { CHUNK = 32 };

struct renewer {
    const struct tpi_lease_renewer *part;
    struct tpi_session session;
    struct tpi_job *jobs[TPI_EXTEND_MAX];
    const tp_task *tasks[TPI_EXTEND_MAX];
    tp_status answers[TPI_EXTEND_MAX];
    size_t first, count; /* of jobs, asked for now */
    unsigned misses;     /* calls in a row without an answer */
};

static tp_status ask_extend(tp_conn *conn, void *arg) {
    struct renewer *renewer = arg;
    int64_t lease_ms = renewer->part->lease_ms;
    for (size_t i = 0; i < renewer->count; i++) {
        renewer->tasks[i] = renewer->jobs[renewer->first + i]->task;
        renewer->answers[i] = TP_OK;
    }
    if (renewer->count > 1)
        return tpi_extend_many(conn, renewer->tasks, renewer->count, lease_ms, renewer->answers);
    renewer->answers[0] = tp_extend(conn, renewer->tasks[0], lease_ms);
    return renewer->answers[0];
}

/* The trouble is one task's: recorded when it will not pass, and tried again after the others. */
static void try_later(struct renewer *renewer, size_t at, tp_status status) {
    struct tpi_job *job = renewer->jobs[at];
    int64_t part = renewer->part->lease_ms / tpi_lease_parts;
    bool retryable = tpi_session_may_retry(&renewer->session, status);
    if (!retryable) tpi_record_error(renewer->part->record, job->task, tp_last_error()->text);
    tpi_lease_again(job, tpi_clock_mono_ms() + (retryable ? part / 2 : part));
}

/* The trouble is nobody's in particular. */
static void put_off(struct renewer *renewer, size_t first, size_t count) {
    int64_t soon = tpi_clock_mono_ms() + renewer->part->lease_ms / tpi_lease_parts / 8;
    for (size_t i = first; i < first + count; i++)
        tpi_lease_again(renewer->jobs[i], soon);
}

static tp_status extend(struct renewer *renewer, size_t first, size_t count) {
    int64_t asked_ms = tpi_clock_boot_ms();
    renewer->first = first;
    renewer->count = count;
    tp_status status = tpi_session_try(&renewer->session, ask_extend, renewer);
    tpi_trace(TPI_TRACE_WORKER, "extend %zu: %s", count, tp_status_name(status));
    if (status < 0 && status != TP_LOST) return status;
    for (size_t i = 0; i < count; i++) {
        if (renewer->answers[i] == TP_LOST)
            tpi_job_lose(renewer->jobs[first + i], "the lease had lapsed and the claim is gone");
        else
            tpi_lease_extended(renewer->jobs[first + i], asked_ms);
    }
    return status;
}

/* What keeps one task from being extended, perhaps somebody's lock on it, must not keep the others from it: a
 * call that fails is made again in smaller ones, first of CHUNK, then of one. Each that fails may have waited
 * for a lock as long as the session lets it, and other leases run out meanwhile: so not by halves, and after
 * several failures in a row the rest has to wait. Only an outage makes the thread pause. */
static void extend_range(struct renewer *renewer, size_t first, size_t count) {
    if (renewer->misses > TPI_MISSES_MAX) {
        put_off(renewer, first, count);
        return;
    }
    tp_status status = extend(renewer, first, count);
    bool answered = status >= 0 || status == TP_LOST;
    renewer->misses = answered ? 0 : renewer->session.broken ? TPI_MISSES_MAX + 1 : renewer->misses + 1;
    if (answered) return;
    if (count == 1 && !renewer->session.broken) {
        try_later(renewer, first, status);
        return;
    }
    size_t step = count > CHUNK ? CHUNK : 1, end = first + count;
    for (; first < end && renewer->misses <= TPI_MISSES_MAX; first += step)
        extend_range(renewer, first, end - first < step ? end - first : step);
    if (first < end) put_off(renewer, first, end - first);
}

void *tpi_lease_renewer_main(void *arg) {
    const struct tpi_lease_renewer *part = arg;
    static const struct renewer none;
    struct renewer renewer = none;
    size_t count;
    renewer.part = part;
    tpi_session_init(&renewer.session, part->sessions, "lease renewer");
    while ((count = tpi_lease_next(part->jobs, renewer.jobs)) > 0) {
        renewer.misses = 0;
        extend_range(&renewer, 0, count);
        if (renewer.session.broken) tpi_session_pause(&renewer.session, TPI_UNTIL_GRACE);
        for (size_t i = 0; i < count; i++)
            tpi_job_unref(renewer.jobs[i]);
    }
    tpi_session_close(&renewer.session);
    return NULL;
}
