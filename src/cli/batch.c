/* Collects tasks and enqueues them together, again until an answer comes. See batch.h. */
#include "cli.h"

#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"

#define FIRST_PAUSE_MS   100
#define LONGEST_PAUSE_MS 5000

static size_t text_size(const char *text) {
    return text ? strlen(text) + 1 : 0;
}

static const char *move_text(char **at, const char *text) {
    char *moved = *at;

    if (!text) return NULL;
    memcpy(moved, text, text_size(text));
    *at += text_size(text);
    return moved;
}

static void make_room(struct batch *batch) {
    if (batch->count < batch->room) return;
    batch->room = batch->room ? batch->room * 2 : 64;
    batch->tasks = cli_must(realloc(batch->tasks, batch->room * sizeof *batch->tasks));
    batch->texts = cli_must(realloc(batch->texts, batch->room * sizeof *batch->texts));
}

void batch_add(struct batch *batch, const tp_new_task *task) {
    size_t size = text_size(task->handler) + text_size(task->params) + text_size(task->biz_key) +
                  text_size(task->dedup_key) + text_size(task->order_key) + text_size(task->gate) +
                  text_size(task->group) + text_size(task->after);
    char *at;
    tp_new_task *copy;

    make_room(batch);
    at = cli_must(malloc(size ? size : 1));
    batch->texts[batch->count] = at;
    copy = &batch->tasks[batch->count++];
    *copy = *task;
    copy->handler = move_text(&at, task->handler);
    copy->params = move_text(&at, task->params);
    copy->biz_key = move_text(&at, task->biz_key);
    copy->dedup_key = move_text(&at, task->dedup_key);
    copy->order_key = move_text(&at, task->order_key);
    copy->gate = move_text(&at, task->gate);
    copy->group = move_text(&at, task->group);
    copy->after = move_text(&at, task->after);
    batch->bytes += size;
}

void batch_clear(struct batch *batch) {
    for (size_t i = 0; i < batch->count; i++)
        free(batch->texts[i]);
    batch->count = 0;
    batch->bytes = 0;
}

void batch_free(struct batch *batch) {
    batch_clear(batch);
    free(batch->tasks);
    free(batch->texts);
    memset(batch, 0, sizeof *batch);
}

/* A lost connection is reopened first, and one to a server that cannot be written: another may have replaced
 * it. When that fails, its failure is the answer. */
static tp_status ask_again(tp_conn *conn, tp_status last, ask_fn ask, void *arg) {
    bool left = last == TP_DISCONNECTED || last == TP_UNWRITABLE;
    tp_status status = left ? tp_conn_reopen(conn) : TP_OK;

    return status == TP_OK ? ask(conn, arg) : status;
}

tp_status ask_until(tp_conn *conn, int64_t retry_ms, ask_fn ask, void *arg, bool *lost,
                    const volatile sig_atomic_t *stop) {
    tp_status status = ask(conn, arg);
    int64_t end = clock_ms() + retry_ms;
    int64_t pause = FIRST_PAUSE_MS;

    *lost = status == TP_DISCONNECTED;
    if (tp_status_may_retry(status) && retry_ms > 0)
        cli_warn("%s; trying again for up to %lld s", tp_last_error()->text, (long long)(retry_ms / 1000));
    while (tp_status_may_retry(status) && clock_ms() < end && !(stop && *stop)) {
        clock_sleep(pause);
        pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
        status = ask_again(conn, status, ask, arg);
        *lost = *lost || status == TP_DISCONNECTED;
    }
    return status;
}
