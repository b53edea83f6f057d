/* Reads rows into batches, and frees batches. See batch.h. */
#include "ops/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ops/for_workers.h"
#include "store/record.h"

tp_batch *tpi_batch_new(void) {
    return calloc(1, sizeof(tp_batch));
}

void tp_batch_free(tp_batch *batch) {
    if (!batch) return;
    tpi_texts_free(&batch->texts);
    for (size_t i = 0; i < batch->count; i++)
        free(batch->slots[i].own_params);
    free(batch->slots);
    free(batch);
}

size_t tp_batch_count(const tp_batch *batch) {
    return batch ? batch->count : 0;
}

const tp_task *tp_batch_task(const tp_batch *batch, size_t i) {
    return batch && i < batch->count ? &batch->slots[i].task : NULL;
}

bool tpi_batch_moved(const tp_batch *batch) {
    return batch->moved > 0;
}

void tpi_batch_drop_last(tp_batch *batch) {
    if (batch->count) batch->count--;
}

/* ---- One task by itself -------------------------------------------------------------------------------- */

/* All its texts into one block that just fits. */
static bool own_texts(tp_batch *batch, struct tpi_slot *slot) {
    tp_task *task = &slot->task;
    const char **texts[] = {&task->id,     &task->handler, &task->biz_key,      &task->dedup_key,
                            &task->params, &task->reason,  &task->state,        &task->owner,
                            &task->gate,   &task->result,  &slot->unwanted_who, &slot->unwanted_why};
    size_t count = sizeof texts / sizeof texts[0], need = 0;
    for (size_t i = 0; i < count; i++)
        need += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    if (!tpi_texts_reserve(&batch->texts, need)) return false;
    for (size_t i = 0; i < count; i++)
        if (*texts[i]) *texts[i] = tpi_texts_keep(&batch->texts, *texts[i], strlen(*texts[i]));
    return true;
}

int64_t tpi_batch_wait(int64_t since, int64_t claimed_at) {
    return since > 0 && since <= TP_TIME_MAX ? claimed_at - since : 0;
}

int64_t tpi_task_waited_ms(const tp_task *task) {
    int64_t waited = ((const struct tpi_slot *)task)->waited_ms;
    return waited > 0 ? waited : 0;
}

bool tpi_task_unwanted(const tp_task *task, const char **who, const char **why) {
    const struct tpi_slot *slot = (const struct tpi_slot *)task;
    *who = slot->unwanted_who;
    *why = slot->unwanted_why;
    return slot->unwanted_who;
}

tp_status tpi_batch_take(const tp_batch *batch, size_t i, tp_batch **out) {
    enum tpi_state state;
    if (!batch || i >= batch->count || !out)
        return tpi_error(TP_MISUSE, "tpi_batch_take: there is no such task");
    tp_batch *one = tpi_batch_new();
    if (one) one->slots = malloc(sizeof *one->slots);
    if (one && one->slots) {
        struct tpi_slot *slot = &one->slots[0];
        one->count = one->capacity = 1;
        *slot = batch->slots[i];
        slot->batch = one;
        /* This may be text of the batch; the states' own names live for ever. */
        if (slot->hold.state && tpi_state_parse(slot->hold.state, &state))
            slot->hold.state = tpi_state_name(state);
        if (slot->own_params) slot->task.params = slot->own_params = NULL;
        if (own_texts(one, slot)) {
            *out = one;
            return TP_OK;
        }
    }
    tp_batch_free(one);
    return tpi_error(TP_NOMEM, "out of memory");
}

/* ---- Reading rows -------------------------------------------------------------------------------------- */

static const struct tpi_column claim_columns[] = {
    TPI_COLUMN(UUID, struct tpi_slot, task.id),
    TPI_COLUMN(TEXT, struct tpi_slot, task.handler),
    TPI_COLUMN(TEXT, struct tpi_slot, task.biz_key),
    TPI_COLUMN(TEXT, struct tpi_slot, task.params),
    TPI_COLUMN(FLAG, struct tpi_slot, long_params),
    TPI_COLUMN(TEXT, struct tpi_slot, task.reason),
    TPI_COLUMN(TEXT, struct tpi_slot, task.state),
    TPI_COLUMN(INT, struct tpi_slot, task.shard),
    TPI_COLUMN(INT, struct tpi_slot, task.priority),
    TPI_COLUMN(NUMBER, struct tpi_slot, failures_there),
    TPI_COLUMN(INT, struct tpi_slot, task.max_failures),
    TPI_COLUMN(NUMBER, struct tpi_slot, task.created_at),
    TPI_COLUMN_END,
};
static const struct tpi_column held_columns[] = {
    TPI_COLUMN(TEXT, struct tpi_slot, task.biz_key),
    TPI_COLUMN(TEXT, struct tpi_slot, task.reason),
    TPI_COLUMN_END,
};
static const struct tpi_column packed_always[] = {
    TPI_COLUMN(NUMBER, struct tpi_slot, task.created_at),
    TPI_COLUMN(EXACT, struct tpi_slot, hold.locked_at),
    TPI_COLUMN(INT, struct tpi_slot, task.max_failures),
    TPI_COLUMN_END,
};
static const struct tpi_column packed_rest[] = {
    TPI_COLUMN(INT, struct tpi_slot, task.shard),
    TPI_COLUMN(INT, struct tpi_slot, task.priority),
    TPI_COLUMN(NUMBER, struct tpi_slot, failures_there),
    TPI_COLUMN(FLAG, struct tpi_slot, long_params),
    TPI_COLUMN(KNOWN, struct tpi_slot, task.due_at),
    TPI_COLUMN(KNOWN, struct tpi_slot, hold.modified_at),
    TPI_COLUMN_END,
};
static const struct tpi_column packed_id = TPI_COLUMN(UUID, struct tpi_slot, task.id);
static const struct tpi_column packed_state = TPI_COLUMN(TEXT, struct tpi_slot, task.state);
static const struct tpi_column packed_owner = TPI_COLUMN(UUID, struct tpi_slot, task.owner);
static const struct tpi_column due_column[] = {
    TPI_COLUMN(KNOWN, struct tpi_slot, task.due_at),
    TPI_COLUMN_END,
};
static const struct tpi_column claimed_columns[] = {
    TPI_COLUMN(KNOWN, struct tpi_slot, task.wanted_at),
    TPI_COLUMN_END,
};
static const struct tpi_column list_columns[] = {
    TPI_COLUMN(TEXT, struct tpi_slot, task.dedup_key),
    TPI_COLUMN(UUID, struct tpi_slot, task.owner),
    TPI_COLUMN(NUMBER, struct tpi_slot, task.modified_at),
    TPI_COLUMN(NUMBER, struct tpi_slot, task.settled_at),
    TPI_COLUMN(TEXT, struct tpi_slot, task.gate),
    TPI_COLUMN(NUMBER, struct tpi_slot, task.deadline_at),
    TPI_COLUMN_END,
};
static const struct tpi_column show_columns[] = {
    TPI_COLUMN(POOL, struct tpi_slot, pool),
    TPI_COLUMN(NUMBER, struct tpi_slot, task.wanted_at),
    TPI_COLUMN_END,
};

struct tpi_slot *tpi_batch_add(tp_batch *batch) {
    if (batch->count == batch->capacity) {
        size_t capacity = batch->capacity ? batch->capacity * 2 : 16;
        struct tpi_slot *slots = realloc(batch->slots, capacity * sizeof *slots);
        if (!slots) return NULL;
        batch->slots = slots;
        batch->capacity = capacity;
    }
    struct tpi_slot *slot = &batch->slots[batch->count++];
    *slot =
        (struct tpi_slot){.task = {.dedup_key = "", .owner = "", .gate = "", .result = ""}, .batch = batch};
    return slot;
}

/* Of any number that the database takes; one more can be counted. */
static int32_t countable(int64_t failures) {
    if (failures < 0) return 0;
    return failures < INT32_MAX ? (int32_t)failures : INT32_MAX - 1;
}

/* What comes as NULL is what it is of most rows. */
static tp_status read_claim(struct tpi_stmt *stmt, bool claimed, struct tp_batch *batch,
                            struct tpi_slot *slot) {
    struct tpi_texts *texts = &batch->texts;
    tp_status status = tpi_record_read(stmt, 1, claim_columns, texts, slot);
    if (status != TP_OK) return status;
    if (!*slot->task.handler && batch->handler) slot->task.handler = batch->handler;
    if (!*slot->task.state)
        slot->task.state = tpi_state_name(claimed ? TPI_STATE_HANDLING : TPI_STATE_PENDING);
    slot->task.due_at = slot->task.created_at;
    status = tpi_record_read(stmt, TPI_COLUMNS_CLAIM, due_column, texts, slot);
    if (!claimed || status != TP_OK) return status;
    slot->task.wanted_at = slot->task.created_at;
    return tpi_record_read(stmt, TPI_COLUMNS_CLAIM + 1, claimed_columns, texts, slot);
}

static tp_status torn(const struct tpi_stmt *stmt, const char *rest) {
    return tpi_error(TP_DB, "%s: a task comes without all of its numbers, at '%.40s'", stmt->name, rest);
}

static tp_status read_packed(struct tpi_stmt *stmt, char *packed, struct tpi_texts *texts,
                             struct tpi_slot *slot) {
    if (!*packed) return torn(stmt, packed);
    tp_status status = tpi_record_cut(stmt, &packed, &packed_id, texts, slot);
    if (status == TP_OK) status = tpi_record_split(stmt, &packed, packed_always, texts, slot);
    if (status != TP_OK) return status;
    slot->task.due_at = slot->hold.modified_at = slot->task.created_at;
    bool more = *packed != '/';
    if (more) status = tpi_record_split(stmt, &packed, packed_rest, texts, slot);
    if (status != TP_OK) return status;
    if (*packed++ != '/') return torn(stmt, packed - 1);
    if (more) status = tpi_record_cut(stmt, &packed, &packed_state, texts, slot);
    if (status == TP_OK && more) status = tpi_record_cut(stmt, &packed, &packed_owner, texts, slot);
    slot->task.params = packed;
    return status;
}

static tp_status read_held(struct tpi_stmt *stmt, struct tp_batch *batch, struct tpi_slot *slot) {
    static const struct tpi_column packed_column[] = TPI_COLUMN_ONLY(TEXT);
    char *packed = NULL;
    tp_status status = tpi_record_read(stmt, 1, held_columns, &batch->texts, slot);
    if (status == TP_OK)
        status = tpi_record_read(stmt, TPI_COLUMNS_HELD, packed_column, &batch->texts, &packed);
    if (status != TP_OK) return status;
    slot->task.handler = batch->handler;
    slot->task.state = tpi_state_name(TPI_STATE_PENDING);
    return read_packed(stmt, packed, &batch->texts, slot);
}

tp_status tpi_batch_next(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows, enum tpi_pool pool) {
    tp_status status = tpi_stmt_fetch(stmt);
    if (status != TP_OK) return status;
    struct tpi_slot *slot = tpi_batch_add(batch);
    if (!slot) return tpi_link_no_memory(stmt->link);
    slot->pool = pool;
    status = rows == TPI_ROWS_HELD ? read_held(stmt, batch, slot)
                                   : read_claim(stmt, rows == TPI_ROWS_CLAIMED, batch, slot);
    if (status == TP_OK && rows >= TPI_ROWS_LIST)
        status = tpi_record_read(stmt, TPI_COLUMNS_CLAIM + 1, list_columns, &batch->texts, slot);
    if (status == TP_OK && rows >= TPI_ROWS_SHOW)
        status = tpi_record_read(stmt, TPI_COLUMNS_LIST + 1, show_columns, &batch->texts, slot);
    if (status != TP_OK) {
        tpi_batch_drop_last(batch);
        return status;
    }
    if (slot->long_params) slot->task.params = NULL;
    slot->task.failures = countable(slot->failures_there);
    slot->task.pool = tpi_pool_name(slot->pool);
    return TP_OK;
}

tp_status tpi_batch_read_all(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows, enum tpi_pool pool,
                             size_t limit) {
    tp_status status = TP_OK;
    while (status == TP_OK && (limit == 0 || batch->count < limit))
        status = tpi_batch_next(batch, stmt, rows, pool);
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}
