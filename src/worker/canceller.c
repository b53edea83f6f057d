/* The thread that looks, once a second, whether tasks that this worker has had in hand for a second or more
 * are not wanted any more, and marks their jobs; what follows is decided when the handler has ended
 * (stop_cause.c). While nothing lasts so long it asks nothing, and has no connection. Over a session of its
 * own, so that whatever it waits for holds up no lease. */
#include "worker/canceller.h"
#include "ops/for_workers.h"

#include <string.h>

#include "base/clock.h"
#include "base/trace.h"
#include "worker/time_limit.h"

enum { LOOK_MAX = 1000 };

int64_t tpi_canceller_every_ms = 1000;
size_t tpi_canceller_at_a_time = LOOK_MAX;

struct looking {
    struct tpi_session session;
    struct tpi_job *jobs[LOOK_MAX]; /* with a reference to each */
    char ids[LOOK_MAX][TP_ID_SIZE]; /* of their tasks */
    size_t count;
    int64_t last_ms; /* the last look began; monotonic */
    bool failed;     /* it did, and it was reported */
};

static void notify(const char *id, const char *who, const char *why, void *arg) {
    struct looking *looking = arg;
    for (size_t i = 0; i < looking->count; i++) {
        if (strcmp(looking->ids[i], id) != 0) continue;
        tpi_trace(TPI_TRACE_WORKER, "task=%s is not wanted any more", id);
        tpi_job_notify_stop(looking->jobs[i], who, why);
    }
}

static tp_status ask_look(tp_conn *conn, void *arg) {
    struct looking *looking = arg;
    const char *ids[LOOK_MAX];
    for (size_t i = 0; i < looking->count; i++)
        ids[i] = looking->ids[i];
    return tpi_cancel_look(conn, ids, looking->count, notify, looking);
}

/* The oldest first, some at a time while any task of the pool is not wanted any more. */
static void look(struct looking *looking, struct tpi_jobs *jobs) {
    int64_t now = tpi_clock_mono_ms(), before = now - tpi_canceller_every_ms;
    uint64_t after = 0;
    tp_status status = TP_OK;
    if (looking->last_ms > before) return;
    do {
        size_t most = tpi_canceller_at_a_time;
        looking->count = tpi_jobs_older(jobs, before, &after, looking->jobs, looking->ids, most);
        if (!looking->count) return;
        looking->last_ms = now;
        status = tpi_session_try(&looking->session, ask_look, looking);
        tpi_session_report_once(&looking->session, status, &looking->failed);
        for (size_t i = 0; i < looking->count; i++)
            tpi_job_unref(looking->jobs[i]);
    } while (status == TP_OK);
}

/* A look comes when a task has been in hand for as long as two looks are apart, or a tenth of that later. */
void *tpi_canceller_main(void *arg) {
    const struct tpi_canceller *part = arg;
    struct tpi_lifetime *life = part->life;
    struct looking looking = {.last_ms = INT64_MIN / 2};
    tpi_session_init(&looking.session, part->sessions, "canceller");
    while (!tpi_lifetime_over(life)) {
        look(&looking, part->jobs);
        tpi_time_limit_look(part->jobs);
        tpi_session_drop(&looking.session);
        int64_t every_ms = tpi_canceller_every_ms;
        int64_t pause_ms = atomic_load(&life->in_progress) ? every_ms / 10 : every_ms;
        tpi_lifetime_pause(life, pause_ms, tpi_lifetime_stopping(life));
    }
    tpi_session_close(&looking.session);
    return NULL;
}
