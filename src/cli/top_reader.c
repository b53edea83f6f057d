/* See top_reader.h. One lock guards all that both threads see; it is never held while the database is asked.
 */
#include "top_reader.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clocks.h"
#include "common/messages.h"

enum { STOP_MS = 1000 };

struct reader {
    tp_conn *conn;
    int64_t every_ms;
    int wake_fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    struct reader_wish wish;
    struct reader_view view;
    bool asked, stop, ended;
};

static bool wait_until(struct reader *reader, int64_t until) {
    return clock_cond_wait(&reader->changed, &reader->lock, until);
}

static void wake(struct reader *reader) {
    ssize_t ignored = write(reader->wake_fd, "r", 1);

    (void)ignored;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static void copy_task(const tp_task *task, struct reader_task *to) {
    snprintf(to->id, sizeof to->id, "%s", task->id);
    snprintf(to->state, sizeof to->state, "%s", task->state);
    snprintf(to->reason, sizeof to->reason, "%s", task->reason);
    to->failures = task->failures;
    to->at = task->settled_at ? task->settled_at : task->due_at;
}

static tp_status read_tasks(struct reader *reader, struct reader_view *view) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    tp_status status;

    if (!*view->wish.handler) return TP_OK;
    request.pool = view->wish.failed ? "failed" : "pending";
    request.handler = view->wish.handler;
    request.limit = READER_TASKS;
    status = tp_list(reader->conn, &request, &batch);
    view->task_count = tp_batch_count(batch);
    for (size_t i = 0; i < view->task_count; i++)
        copy_task(tp_batch_task(batch, i), &view->tasks[i]);
    tp_batch_free(batch);
    return status < 0 ? status : TP_OK;
}

static tp_status read_all(struct reader *reader, struct reader_view *view, bool lost) {
    tp_status status = lost ? tp_conn_reopen(reader->conn) : TP_OK;

    if (status == TP_OK) status = figures_read(reader->conn, &view->figures, NULL);
    if (status == TP_OK) status = read_tasks(reader, view);
    if (status != TP_OK) snprintf(view->error, sizeof view->error, "%s", tp_last_error()->text);
    view->read_at = clock_ms();
    view->any = status == TP_OK;
    return status;
}

/* What was read before a failure stays to be seen. Called with the lock held. */
static void publish(struct reader *reader, struct reader_view *view) {
    if (view->any) {
        figures_free(&reader->view.figures);
        reader->view = *view;
    } else {
        memcpy(reader->view.error, view->error, sizeof view->error);
        figures_free(&view->figures);
    }
    reader->view.asking_since = 0;
    wake(reader);
}

/* A pool that takes long to read is read less often: a tenth of the time at most. Called with the lock held.
 */
static void rest(struct reader *reader, int64_t took_ms) {
    int64_t pause = took_ms * 9 > reader->every_ms ? took_ms * 9 : reader->every_ms;
    int64_t until = clock_ms() + pause;

    while (!reader->stop && !reader->asked && wait_until(reader, until))
        ;
    reader->asked = false;
}

static void *run(void *arg) {
    struct reader *reader = arg;
    struct reader_view *view = cli_must(malloc(sizeof *view));
    bool lost = false;
    sigset_t all;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_mutex_lock(&reader->lock);
    while (!reader->stop) {
        int64_t begun = clock_ms();

        memset(view, 0, sizeof *view);
        view->wish = reader->wish;
        reader->view.asking_since = begun;
        pthread_mutex_unlock(&reader->lock);
        lost = read_all(reader, view, lost) != TP_OK;
        pthread_mutex_lock(&reader->lock);
        publish(reader, view);
        rest(reader, lost ? 0 : clock_ms() - begun);
    }
    reader->ended = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    free(view);
    return NULL;
}

/* ---- For the screen ------------------------------------------------------------------------------------ */

struct reader *reader_start(tp_conn *conn, int64_t every_ms, int wake_fd) {
    struct reader *reader = cli_must(calloc(1, sizeof *reader));

    reader->conn = conn;
    reader->every_ms = every_ms;
    reader->wake_fd = wake_fd;
    pthread_mutex_init(&reader->lock, NULL);
    cli_must(clock_cond_init(&reader->changed) ? reader : NULL);
    cli_must(pthread_create(&reader->thread, NULL, run, reader) == 0 ? reader : NULL);
    return reader;
}

void reader_ask(struct reader *reader, const struct reader_wish *wish) {
    pthread_mutex_lock(&reader->lock);
    reader->wish = *wish;
    reader->asked = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
}

void reader_look(struct reader *reader, struct reader_view *view) {
    pthread_mutex_lock(&reader->lock);
    *view = reader->view;
    view->figures = figures_copy(&reader->view.figures);
    pthread_mutex_unlock(&reader->lock);
}

void reader_view_free(struct reader_view *view) {
    figures_free(&view->figures);
}

bool reader_stop(struct reader *reader) {
    int64_t until = clock_ms() + STOP_MS;
    bool ended;

    pthread_mutex_lock(&reader->lock);
    reader->stop = true;
    pthread_cond_broadcast(&reader->changed);
    while (!reader->ended && wait_until(reader, until))
        ;
    ended = reader->ended;
    pthread_mutex_unlock(&reader->lock);
    if (!ended) return false;
    (void)pthread_join(reader->thread, NULL);
    figures_free(&reader->view.figures);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
    return true;
}
