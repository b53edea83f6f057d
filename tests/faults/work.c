/* What operations prepare, over sessions that never fail, and what several of them must have stored. */
#include <string.h>

#include "faults/points.h"

void work_put(struct work *work, size_t count) {
    char ids[WORK_TASKS][ID];
    task_put_many(count, ids);
    for (size_t i = 0; i < count; i++)
        memcpy(work->ids[work->id_count++], ids[i], TP_ID_SIZE);
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

tp_new_task *work_fresh(struct work *work) {
    work->fresh[work->fresh_count] = task_new("x");
    return &work->fresh[work->fresh_count++];
}

void work_note_fresh(struct work *work) {
    work->id_count = work->fresh_count;
    for (size_t i = 0; i < work->fresh_count; i++)
        memcpy(work->ids[i], work->fresh[i].id, TP_ID_SIZE);
}

void judge_ordered(struct work *work) {
    want_task(work, 0, "pending", "pending", 0);
    want_effects(work, 0, 1);
}

void judge_paid(struct work *work) {
    want_task(work, 0, "finished", "done", 0);
    want_effects(work, 0, 1);
    want_told_in_all(work, 0);
}

void judge_failed(struct work *work) {
    want_task(work, 0, "pending", "failed", 1);
    want_told(work, 0, "failed", 1);
    want_told_in_all(work, 1);
    want_effects(work, 0, 1);
}

void judge_paid_by_key(struct work *work) {
    judge_paid(work);
    want_key(work, 1);
}
