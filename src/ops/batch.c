/* See batch.h. */
#include "ops/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Small texts share a block, long ones have their own. */
struct tpi_text_block {
    struct tpi_text_block *next;
    size_t used, size;
    char bytes[];
};
enum { BLOCK = 16 * 1024 };

tp_batch *tpi_batch_new(void) {
    return calloc(1, sizeof(tp_batch));
}

void tp_batch_free(tp_batch *batch) {
    if (!batch) return;
    for (struct tpi_text_block *block = batch->texts, *next; block; block = next) {
        next = block->next;
        free(block);
    }
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

void tpi_batch_drop_last(tp_batch *batch) {
    if (batch->count) batch->count--;
}

static struct tpi_text_block *add_block(tp_batch *batch, size_t need) {
    size_t size = need > BLOCK / 4 ? need : BLOCK;
    struct tpi_text_block *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    *block = (struct tpi_text_block){.size = size};
    /* A block of its own goes behind the shared one, which still has room. */
    if (batch->texts && size != BLOCK) {
        block->next = batch->texts->next;
        batch->texts->next = block;
    } else {
        block->next = batch->texts;
        batch->texts = block;
    }
    return block;
}

const char *tpi_batch_keep(tp_batch *batch, const char *text, size_t length) {
    struct tpi_text_block *block = batch->texts;
    if (length == 0) return "";
    if (!block || block->size - block->used < length + 1) block = add_block(batch, length + 1);
    if (!block) return NULL;
    char *copy = block->bytes + block->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    block->used += length + 1;
    return copy;
}

/* ---- One task by itself -------------------------------------------------------------------------------- */

enum { TASK_TEXTS = 8 };

/* The texts of a task, in no order that matters. */
static void point_at_texts(tp_task *task, const char **texts[TASK_TEXTS]) {
    const char **all[TASK_TEXTS] = {&task->id,     &task->handler, &task->biz_key, &task->dedup_key,
                                    &task->params, &task->reason,  &task->state,   &task->owner};
    memcpy(texts, all, sizeof all);
}

/* One block that just fits. */
static bool copy_texts(tp_batch *batch, tp_task *task) {
    const char **texts[TASK_TEXTS];
    size_t need = 0;
    point_at_texts(task, texts);
    for (size_t i = 0; i < TASK_TEXTS; i++)
        need += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    batch->texts = malloc(sizeof *batch->texts + need);
    if (!batch->texts) return false;
    *batch->texts = (struct tpi_text_block){.size = need};
    for (size_t i = 0; i < TASK_TEXTS; i++)
        if (*texts[i]) *texts[i] = tpi_batch_keep(batch, *texts[i], strlen(*texts[i]));
    return true;
}

/* What the row looked like may be text of the batch; the states' own names live for ever. */
static void own_hold(struct tpi_hold *hold) {
    enum tpi_state state;
    if (hold->state && tpi_state_parse(hold->state, &state)) hold->state = tpi_state_name(state);
}

tp_status tp_batch_take(const tp_batch *batch, size_t i, tp_batch **out) {
    if (!batch || i >= batch->count || !out)
        return tpi_error(TP_MISUSE, "tp_batch_take: there is no such task");
    tp_batch *one = tpi_batch_new();
    if (one) one->slots = malloc(sizeof *one->slots);
    if (one && one->slots) {
        one->count = one->capacity = 1;
        one->slots[0] = batch->slots[i];
        one->slots[0].batch = one;
        own_hold(&one->slots[0].hold);
        if (one->slots[0].own_params) one->slots[0].task.params = one->slots[0].own_params = NULL;
        if (copy_texts(one, &one->slots[0].task)) {
            *out = one;
            return TP_OK;
        }
    }
    tp_batch_free(one);
    return tpi_error(TP_NOMEM, "out of memory");
}

/* ---- Reading rows -------------------------------------------------------------------------------------- */

/* One row being read, column by column. The first failure is kept and the rest passed over. */
struct reader {
    tp_batch *batch;
    struct tpi_stmt *stmt;
    struct tpi_value value;
    struct tpi_buf scratch;
    size_t column;
    int64_t number; /* the last one, as it stands there */
    tp_status status;
};

/* False: NULL, or a failure. */
static bool read_next(struct reader *reader) {
    reader->column++;
    if (reader->status != TP_OK) return false;
    reader->status = tpi_stmt_value(reader->stmt, reader->column, &reader->scratch, &reader->value);
    return reader->status == TP_OK && !reader->value.is_null;
}

static const char *read_text(struct reader *reader) {
    if (!read_next(reader)) return "";
    const char *copy = tpi_batch_keep(reader->batch, reader->value.text, reader->value.length);
    if (!copy) reader->status = tpi_link_no_memory(reader->stmt->link);
    return copy;
}

/* In lower case: drivers differ in that of a UUID's digits. */
static const char *read_uuid(struct reader *reader) {
    char *text = (char *)(uintptr_t)read_text(reader); /* the batch's own, or "" */
    if (text) tpi_lower(text, strlen(text));
    return text;
}

static int64_t read_number(struct reader *reader) {
    return read_next(reader) ? tpi_number(reader->value.text) : 0;
}

/* Where the database takes any number, or words for one. */
static int32_t read_int(struct reader *reader, int32_t least, int32_t most) {
    reader->number = read_number(reader);
    if (reader->number < least) return least;
    return reader->number > most ? most : (int32_t)reader->number;
}

static void read_claim_columns(struct reader *reader, struct tpi_slot *slot) {
    tp_task *task = &slot->task;
    task->id = read_uuid(reader);
    task->handler = read_text(reader);
    task->biz_key = read_text(reader);
    task->params = read_text(reader);
    if (read_number(reader)) task->params = NULL;
    task->reason = read_text(reader);
    task->state = read_text(reader);
    task->shard = read_int(reader, INT32_MIN, INT32_MAX);
    task->priority = read_int(reader, INT32_MIN, INT32_MAX);
    /* One more can be counted. */
    task->failures = read_int(reader, 0, INT32_MAX - 1);
    slot->failures_there = reader->number;
    task->max_failures = read_int(reader, INT32_MIN, INT32_MAX);
    task->due_at = read_number(reader);
    task->created_at = read_number(reader);
}

static void read_list_columns(struct reader *reader, tp_task *task) {
    task->dedup_key = read_text(reader);
    task->owner = read_uuid(reader);
    task->modified_at = read_number(reader);
    task->settled_at = read_number(reader);
}

static bool make_room(tp_batch *batch) {
    if (batch->count < batch->capacity) return true;
    size_t capacity = batch->capacity ? batch->capacity * 2 : 16;
    struct tpi_slot *slots = realloc(batch->slots, capacity * sizeof *slots);
    if (!slots) return false;
    batch->slots = slots;
    batch->capacity = capacity;
    return true;
}

tp_status tpi_batch_read(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows, enum tpi_pool pool) {
    if (!make_room(batch)) return tpi_link_no_memory(stmt->link);
    struct tpi_slot *slot = &batch->slots[batch->count];
    struct reader reader = {.batch = batch, .stmt = stmt};
    *slot = (struct tpi_slot){
        .task = {.dedup_key = "", .owner = "", .pool = tpi_pool_name(pool), .state = ""}, .batch = batch};
    read_claim_columns(&reader, slot);
    if (rows != TPI_ROWS_CLAIM) read_list_columns(&reader, &slot->task);
    if (rows == TPI_ROWS_SHOW && reader.status == TP_OK) {
        reader.status = tpi_batch_pool(stmt, reader.column + 1, &pool);
        slot->task.pool = tpi_pool_name(pool);
    }
    tpi_buf_free(&reader.scratch);
    if (reader.status == TP_OK) batch->count++;
    return reader.status;
}

tp_status tpi_batch_read_all(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows, enum tpi_pool pool,
                             size_t limit) {
    tp_status status = TP_OK;
    while (status == TP_OK && (limit == 0 || batch->count < limit)) {
        status = tpi_stmt_fetch(stmt);
        if (status == TP_OK) status = tpi_batch_read(batch, stmt, rows, pool);
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_batch_number(struct tpi_stmt *stmt, size_t i, int64_t *number) {
    struct reader reader = {.stmt = stmt, .column = i - 1};
    *number = read_number(&reader);
    tpi_buf_free(&reader.scratch);
    return reader.status;
}

tp_status tpi_batch_number_exact(struct tpi_stmt *stmt, size_t i, int64_t *number) {
    struct reader reader = {.stmt = stmt, .column = i - 1};
    *number = 0;
    if (read_next(&reader) && !tpi_number_exact(reader.value.text, number)) {
        reader.status = tpi_error(TP_DB, "%s: the driver gives the number '%.40s', which is not a whole one",
                                  stmt->name, reader.value.text);
        tpi_link_doom(stmt->link);
    }
    tpi_buf_free(&reader.scratch);
    return reader.status;
}

tp_status tpi_batch_pool(struct tpi_stmt *stmt, size_t i, enum tpi_pool *pool) {
    struct tpi_buf name = {0};
    bool is_null = false;
    tp_status status = tpi_stmt_column(stmt, i, &name, &is_null);
    tpi_buf_trim(&name);
    if (status == TP_OK && !tpi_pool_parse(tpi_buf_str(&name), pool))
        status = tpi_error(TP_DB, "a task is in pool '%s', which does not exist", tpi_buf_str(&name));
    tpi_buf_free(&name);
    return status;
}

tp_status tpi_batch_uuid(tp_batch *batch, struct tpi_stmt *stmt, size_t i, const char **text) {
    struct reader reader = {.batch = batch, .stmt = stmt, .column = i - 1};
    *text = read_uuid(&reader);
    tpi_buf_free(&reader.scratch);
    return reader.status;
}

tp_status tpi_batch_text(tp_batch *batch, struct tpi_stmt *stmt, size_t i, const char **text) {
    struct reader reader = {.batch = batch, .stmt = stmt, .column = i - 1};
    *text = read_text(&reader);
    tpi_buf_free(&reader.scratch);
    return reader.status;
}
