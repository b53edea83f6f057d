/* What operations prepare, over sessions that never fail, what several of them call, and what they must find
 * stored. */
#include <stdlib.h>
#include <string.h>

#include "faults/operation.h"
#include "ops/conn.h"
#include "ops/for_workers.h"
#include "ops/pause.h"

const char long_reason[] = "a reason that is longer than sixty-four bytes, so that any buffer has to grow";
const char reason_like_a_lapse[] =
    "lease lapsed; held by a person who writes at least sixty-four bytes about it";
const tp_retry no_retry = {.size = sizeof no_retry};

void work_put(struct work *work, size_t count) {
    char ids[WORK_TASKS][ID];
    task_put_many(count, ids);
    for (size_t i = 0; i < count; i++)
        memcpy(work->ids[work->id_count++], ids[i], TP_ID_SIZE);
}

void work_put_long(struct work *work, size_t length) {
    task_put(long_text(length), work->ids[work->id_count++]);
}

void work_take(struct work *work, size_t count) {
    tp_batch *batch = work->batches[work->batch_count++] = claim(pool.b, count);
    for (size_t i = 0; i < count; i++) {
        const tp_task *task = work->tasks[work->id_count] = tp_batch_task(batch, i);
        memcpy(work->ids[work->id_count++], task->id, TP_ID_SIZE);
    }
}

void work_claimed(struct work *work, size_t count) {
    task_put_many(count, NULL);
    work_take(work, count);
}

void work_lapsed(struct work *work, size_t count) {
    work_claimed(work, count);
    for (size_t i = 0; i < work->id_count; i++) {
        row_make_due(work->ids[i]);
        work->tasks[i] = NULL;
    }
    tp_batch_free(work->batches[--work->batch_count]);
}

tp_new_task *work_fresh(struct work *work) {
    work->fresh[work->fresh_count] = task_new("x");
    return &work->fresh[work->fresh_count++];
}

void work_note_fresh(struct work *work) {
    work->id_count = work->fresh_count;
    for (size_t i = 0; i < work->fresh_count; i++)
        memcpy(work->ids[i], work->fresh[i].id, TP_ID_SIZE);
}

void one_put(struct work *work) {
    work_put(work, 1);
}

void three_put(struct work *work) {
    work_put(work, 3);
}

void one_claimed(struct work *work) {
    work_claimed(work, 1);
}

void three_claimed(struct work *work) {
    work_claimed(work, 2);
    work_claimed(work, 1);
}

void one_failed(struct work *work) {
    work_claimed(work, 1);
    must(tp_fail(pool.b, work->tasks[0], "no money", NULL));
}

void one_given_up(struct work *work) {
    work_claimed(work, 1);
    expect(TP_EXHAUSTED, tp_give_up(pool.b, work->tasks[0], "no money"));
}

void three_given_up(struct work *work) {
    work_claimed(work, 3);
    for (size_t i = 0; i < 3; i++)
        expect(TP_EXHAUSTED, tp_give_up(pool.b, work->tasks[i], "no money"));
}

void three_finished(struct work *work) {
    work_claimed(work, 3);
    must(tp_complete_many(pool.b, work->tasks, 3, NULL));
}

const char *long_text(size_t length) {
    static char text[100001];
    sure(length < sizeof text, "too long a text");
    memset(text, 'x', length);
    text[length] = '\0';
    return text;
}

void forget_all(tp_conn *conn) {
    tpi_pause_forget(conn);
    tpi_store_forget(&conn->store);
    free(conn->holds.entries);
    conn->holds = (struct tpi_holds){0};
    tpi_stmt_forget_tx(&conn->store.link);
    conn->store.link.shared = false;
}

void one_finished(struct work *work) {
    work_claimed(work, 1);
    must(tp_complete(pool.b, work->tasks[0]));
}

void three_in_order(struct work *work) {
    work_put(work, 2);
    work_put_long(work, 9000);
    work->request.in_order = 1;
}

void two_lapsed(struct work *work) {
    work_lapsed(work, 2);
}

void are_pending(struct work *work) {
    want_all(work, "pending", "pending", 0);
    want_events_in_all(work, 0);
}

void lapses_gave_up(struct work *work) {
    want_all(work, "failed", "failed", 1);
    want_lapses(work, 2);
}

tp_status there_or_not(const struct work *work) {
    return snapshot_task(&work->now, work->ids[0]) ? TP_EXISTS : TP_OK;
}

/* ---- Calls of several groups --------------------------------------------------------------------------- */

tp_status enqueue_fresh(struct work *work) {
    tp_status status = tp_enqueue(work->conn, &work->fresh[0]);
    work_note_fresh(work);
    return status;
}

tp_status enqueue_all_fresh(struct work *work) {
    size_t inserted = (size_t)(int64_t)MARK;
    int there = 0;
    for (size_t i = 0; i < work->id_count; i++)
        there += snapshot_task(&work->now, work->ids[i]) != NULL;
    tp_status status = tp_enqueue_many(work->conn, work->fresh, work->fresh_count, &inserted);
    work_note_fresh(work);
    want_untouched_number(status, inserted);
    if (status == TP_OK) want_number(inserted, work->fresh_count - (size_t)there);
    return status;
}

tp_status claim_nothing(struct work *work) {
    tp_batch *batch = UNTOUCHED(tp_batch);
    tp_status status = tp_claim(work->conn, &work->request, &batch);
    want_untouched(status, status == TP_NONE ? UNTOUCHED(tp_batch) : batch);
    return status;
}

tp_status sweep_cancelled(struct work *work) {
    size_t done = 0;
    return tpi_cancel_sweep(work->conn, 100, &done);
}
