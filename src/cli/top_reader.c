/* See top_reader.h. One lock guards all that both threads see; it is never held while the database is asked.
 */
#include "top_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/background.h"
#include "common/clocks.h"
#include "common/messages.h"

enum { STOP_MS = 1000 };

struct reader {
    tp_conn *conn;
    int64_t every_ms;
    int wake_fd;
    struct background background;
    /* Under its lock. */
    struct reader_wish wish;
    struct reader_view view;
    bool asked;
};

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
    to->percent = -1;
    to->at = task->settled_at ? task->settled_at : task->due_at;
}

static void take_percent(const tp_running *running, void *arg) {
    struct reader_view *view = arg;

    for (size_t i = 0; i < view->task_count; i++)
        if (strcmp(view->tasks[i].id, running->id) == 0) view->tasks[i].percent = running->percent;
}

static tp_status read_percents(struct reader *reader, struct reader_view *view) {
    tp_running_request request = TP_RUNNING_INIT;
    bool any = false;
    tp_status status;

    for (size_t i = 0; i < view->task_count; i++)
        any = any || strcmp(view->tasks[i].state, "handling") == 0;
    if (!any) return TP_OK;
    request.handler = view->wish.handler;
    request.limit = RUNNING_MAX;
    status = tp_running_each(reader->conn, &request, take_percent, view);
    return status < 0 ? status : TP_OK;
}

static tp_status read_tasks(struct reader *reader, struct reader_view *view) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *batch = NULL;
    tp_status status;

    if (!*view->wish.handler) return TP_OK;
    request.pool = view->wish.failed ? "failed" : "pending";
    request.handler = view->wish.handler;
    if (*view->wish.reason) request.reason_like = view->wish.reason;
    request.limit = READER_TASKS;
    status = tp_list(reader->conn, &request, &batch);
    view->task_count = tp_batch_count(batch);
    for (size_t i = 0; i < view->task_count; i++)
        copy_task(tp_batch_task(batch, i), &view->tasks[i]);
    tp_batch_free(batch);
    return status < 0 ? status : read_percents(reader, view);
}

static void add_group(const tp_failure *failure, void *arg) {
    struct reader_view *view = arg;
    struct reader_group *group = &view->groups[view->group_count++];

    group->count = failure->count;
    group->waiting = failure->waiting;
    group->last = failure->last;
    snprintf(group->handler, sizeof group->handler, "%s", failure->handler);
    snprintf(group->reason, sizeof group->reason, "%s", failure->reason_like);
}

static tp_status read_groups(struct reader *reader, struct reader_view *view) {
    tp_list_request request = TP_LIST_INIT;
    tp_status status;

    if (!view->wish.groups) return TP_OK;
    request.limit = READER_GROUPS;
    request.read_max = READER_NEWEST;
    request.pool = "all";
    status = tp_failures_each(reader->conn, &request, add_group, view, NULL);
    return status < 0 ? status : TP_OK;
}

static tp_status read_all(struct reader *reader, struct reader_view *view, bool lost) {
    tp_status status = lost ? tp_conn_reopen(reader->conn) : TP_OK;

    if (status == TP_OK) status = figures_read(reader->conn, &view->figures, NULL);
    if (status == TP_OK) status = figures_gates(reader->conn, &view->figures);
    if (status == TP_OK) status = read_tasks(reader, view);
    if (status == TP_OK) status = read_groups(reader, view);
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

    while (!reader->background.stop && !reader->asked && background_wait(&reader->background, until))
        ;
    reader->asked = false;
}

static void run(void *arg) {
    struct reader *reader = arg;
    struct reader_view *view = cli_must(malloc(sizeof *view));
    bool lost = false;

    while (!reader->background.stop) {
        int64_t begun = clock_ms();

        memset(view, 0, sizeof *view);
        view->wish = reader->wish;
        reader->view.asking_since = begun;
        pthread_mutex_unlock(&reader->background.lock);
        lost = read_all(reader, view, lost) != TP_OK;
        pthread_mutex_lock(&reader->background.lock);
        publish(reader, view);
        rest(reader, lost ? 0 : clock_ms() - begun);
    }
    free(view);
}

/* ---- For the screen ------------------------------------------------------------------------------------ */

struct reader *reader_start(tp_conn *conn, int64_t every_ms, int wake_fd) {
    struct reader *reader = cli_must(calloc(1, sizeof *reader));

    reader->conn = conn;
    reader->every_ms = every_ms;
    reader->wake_fd = wake_fd;
    background_start(&reader->background, run, reader);
    return reader;
}

void reader_ask(struct reader *reader, const struct reader_wish *wish) {
    pthread_mutex_lock(&reader->background.lock);
    reader->wish = *wish;
    reader->asked = true;
    background_wake(&reader->background);
    pthread_mutex_unlock(&reader->background.lock);
}

void reader_look(struct reader *reader, struct reader_view *view) {
    pthread_mutex_lock(&reader->background.lock);
    *view = reader->view;
    view->figures = figures_copy(&reader->view.figures);
    pthread_mutex_unlock(&reader->background.lock);
}

void reader_view_free(struct reader_view *view) {
    figures_free(&view->figures);
}

bool reader_stop(struct reader *reader) {
    if (!background_stop(&reader->background, STOP_MS)) return false;
    figures_free(&reader->view.figures);
    free(reader);
    return true;
}
