/* A thread that writes how far runs are, and removes that when they end, over a connection of its own, which
 * it opens when a handler tells something for the first time. So a slow database holds up no handler, and
 * what the task's transaction locks is not in the way. A write that fails is tried again with what was said
 * last; that fails no task. What cannot be removed is left to the maintenance of workers. */
#include "worker/progress_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "ops/for_workers.h"

int64_t tpi_progress_every_ms = 1000;

enum { REMOVES_MAX = 3, REMOVE_AGAIN_MS = 500 };

struct tpi_progress {
    struct tpi_progress *next;
    struct tpi_progress_row row;
    bool changed;   /* is to be written */
    bool written;   /* may be in the database */
    bool done;      /* the run is over */
    unsigned tries; /* to remove it */
    int64_t due;    /* monotonic: not touched before */
};

/* ---- What handlers say --------------------------------------------------------------------------------- */

static struct tpi_progress *new_progress(struct tpi_progress_writer *writer, const tp_task *task) {
    struct tpi_progress *progress = calloc(1, sizeof *progress);
    if (!progress) return NULL;
    tpi_utf8_copy(task->id, progress->row.task_id, sizeof progress->row.task_id);
    tpi_utf8_copy(task->owner, progress->row.owner, sizeof progress->row.owner);
    progress->row.percent = -2; /* nothing that can be said */
    progress->next = writer->list;
    writer->list = progress;
    return progress;
}

/* Under the lock. */
static void mark_done(struct tpi_progress *progress) {
    progress->done = true;
    progress->changed = false;
    progress->due = 0;
}

static void say(struct tpi_progress *progress, int percent, const char *message) {
    struct tpi_progress_row row = progress->row;
    row.percent = percent < 0 ? -1 : percent > 100 ? 100 : percent;
    tpi_utf8_copy(message ? message : "", row.message, sizeof row.message);
    if (row.percent == progress->row.percent && strcmp(row.message, progress->row.message) == 0) return;
    progress->row = row;
    progress->changed = true;
}

void tpi_progress_tell(struct tpi_progress_writer *writer, struct tpi_progress **progress,
                       const tp_task *task, int percent, const char *message) {
    pthread_mutex_lock(&writer->lock);
    /* The call goes on under the next claim of this process. */
    if (*progress && strcmp((*progress)->row.owner, task->owner) != 0) {
        mark_done(*progress);
        *progress = NULL;
    }
    if (!*progress) *progress = new_progress(writer, task);
    if (*progress) say(*progress, percent, message);
    tpi_signal_one(&writer->news);
    pthread_mutex_unlock(&writer->lock);
}

void tpi_progress_done(struct tpi_progress_writer *writer, struct tpi_progress **progress) {
    if (!*progress) return;
    pthread_mutex_lock(&writer->lock);
    mark_done(*progress);
    *progress = NULL;
    tpi_signal_one(&writer->news);
    pthread_mutex_unlock(&writer->lock);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static tp_status ask_write(tp_conn *conn, void *arg) {
    return tpi_progress_write(conn, arg);
}

static tp_status ask_end(tp_conn *conn, void *arg) {
    return tpi_progress_end(conn, arg);
}

/* Under the lock: takes out what was written and removed, or never was written. */
static void unlink_progress(struct tpi_progress_writer *writer, struct tpi_progress *progress) {
    struct tpi_progress **at = &writer->list;
    while (*at != progress)
        at = &(*at)->next;
    *at = progress->next;
    free(progress);
}

/* Under the lock. NULL: nothing is due now; *next: when something is. */
static struct tpi_progress *find_due(struct tpi_progress_writer *writer, int64_t now, int64_t *next) {
    *next = INT64_MAX;
    for (struct tpi_progress *progress = writer->list; progress; progress = progress->next) {
        if (!progress->changed && !progress->done) continue;
        if (progress->due <= now) return progress;
        if (progress->due < *next) *next = progress->due;
    }
    return NULL;
}

/* Called with the lock held; releases it while the database is asked. Nobody but this thread frees one. */
static void write_one(struct tpi_progress_writer *writer, struct tpi_session *session,
                      struct tpi_progress *progress) {
    struct tpi_progress_row row = progress->row;
    bool removes = progress->done;
    int64_t pause = removes ? REMOVE_AGAIN_MS : tpi_progress_every_ms;
    if (removes && !progress->written) {
        unlink_progress(writer, progress);
        return;
    }
    progress->changed = false;
    progress->written = true;
    pthread_mutex_unlock(&writer->lock);
    tp_status status = tpi_session_try(session, removes ? ask_end : ask_write, &row);
    tpi_session_report_once(session, status, &writer->failed);
    pthread_mutex_lock(&writer->lock);
    if (removes && (status >= TP_OK || ++progress->tries == REMOVES_MAX)) {
        unlink_progress(writer, progress);
        return;
    }
    if (status < TP_OK && !progress->done) progress->changed = true;
    bool ended = progress->done && !removes; /* meanwhile */
    progress->due = ended ? 0 : tpi_clock_mono_ms() + pause;
}

void *tpi_progress_writer_main(void *arg) {
    struct tpi_progress_writer *writer = arg;
    struct tpi_session session;
    int64_t next;
    tpi_session_init(&session, writer->sessions, "progress");
    pthread_mutex_lock(&writer->lock);
    while (writer->list || !tpi_lifetime_over(writer->life)) {
        struct tpi_progress *progress = find_due(writer, tpi_clock_mono_ms(), &next);
        if (progress)
            write_one(writer, &session, progress);
        else
            tpi_signal_wait(&writer->news, next);
    }
    pthread_mutex_unlock(&writer->lock);
    tpi_session_close(&session);
    return NULL;
}

void tpi_progress_step(struct tpi_progress_writer *writer, struct tpi_session *session) {
    struct tpi_progress *progress;
    int64_t next;
    pthread_mutex_lock(&writer->lock);
    while ((progress = find_due(writer, tpi_clock_mono_ms(), &next)))
        write_one(writer, session, progress);
    pthread_mutex_unlock(&writer->lock);
}

void tpi_progress_writer_free(struct tpi_progress_writer *writer) {
    while (writer->list)
        unlink_progress(writer, writer->list);
}
