/* Deletes settled tasks, events and keys: the oldest first, in chunks, each deleted and recorded in one
 * transaction. Such rows change no more, so only another purge can lock them; it is waited for. Read next:
 * retention.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/gate.h"
#include "ops/operate.h"
#include "ops/refused.h"
#include "ops/request.h"
#include "ops/steps.h"
#include "store/record.h"

enum { NOTED = TP_REQUEST_ROWS_MAX + 1 };

static const struct tpi_purged {
    const char *pool, *noun;
    bool tasks; /* has ids and states */
    bool gated; /* may have places at gates */
    /* oldest: what retention deletes */
    enum tpi_statement pick, oldest, count, count_given, purge, note;
} pools[] = {
    {"finished", "finished tasks", true, false, TPI_S_purge_pick_finished, TPI_S_purge_pick_finished,
     TPI_S_purge_count_finished, TPI_S_purge_select_finished, TPI_S_purge_finished,
     TPI_S_request_rows_finished},
    {"failed", "failed tasks", true, true, TPI_S_purge_pick_failed, TPI_S_retention_pick_failed,
     TPI_S_purge_count_failed, TPI_S_purge_select_failed, TPI_S_purge_failed, TPI_S_request_rows_failed},
    {"once", "keys of the ledger", false, false, TPI_S_purge_pick_once, TPI_S_purge_pick_once,
     TPI_S_purge_count_once, TPI_S_purge_count_once, TPI_S_purge_once, TPI_S_request_rows_once},
    {"history", "events of the history", false, false, TPI_S_purge_pick_history, TPI_S_purge_pick_history,
     TPI_S_purge_count_history, TPI_S_purge_count_history, TPI_S_purge_history, TPI_S_request_rows_history},
};

static const struct tpi_purged *find_pool(const char *name) {
    size_t i = 0;
    if (!name) return pools;
    while (strcmp(pools[i].pool, name) != 0)
        i++;
    return &pools[i];
}

/* ---- One chunk ----------------------------------------------------------------------------------------- */

struct keys {
    struct tpi_texts texts;
    size_t count;
    const char *key[TPI_CHUNK];
};

static tp_status pick(struct tpi_operation *op, enum tpi_statement which, size_t limit, struct keys *keys) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(TEXT);
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_operate_args(op, &args);
    tpi_args_number(&args, TPI_P_limit, (int64_t)limit);
    tp_status status = tpi_store_query(&op->conn->store, which, &args, &stmt);
    if (status != TP_OK) return status;
    return tpi_record_all(stmt, only, &keys->texts, keys->key, sizeof *keys->key, limit, &keys->count);
}

static tp_status erase(struct tpi_operation *op, const struct tpi_purged *from, const char *const *keys,
                       size_t count, int64_t *rows) {
    struct tpi_args args = {0};
    tpi_operate_args(op, &args);
    tpi_args_list(&args, keys, count);
    tp_status status = tpi_store_change(&op->conn->store, from->purge, &args, rows);
    if (status != TP_OK || !*rows || !from->tasks) return status;
    status = tpi_steps_purge(op->conn, keys, count);
    return status == TP_OK && from->gated ? tpi_gates_deleted(op->conn, keys, count) : status;
}

/* Nothing of a whole chunk was deleted: another purge was quicker, and there are others now. Or they cannot
 * be deleted; then the oldest is the same as before. */
static tp_status check_progress(struct tpi_operation *op, const struct tpi_purged *from,
                                enum tpi_statement which, const char *oldest) {
    struct keys keys = {.count = 0};
    tp_status status = pick(op, which, 1, &keys);
    if (status == TP_OK && keys.count && strcmp(keys.key[0], oldest) == 0)
        status = tpi_refused_silently(&op->conn->store, "kept rows that were to be purged", from->pool);
    tpi_texts_free(&keys.texts);
    return status;
}

static tp_status record(struct tpi_operation *op, const struct tpi_purged *from, const char *const *keys,
                        size_t count, int64_t rows) {
    char text[TP_REASON_MAX + 64];
    bool known = from->tasks && rows == (int64_t)count;
    snprintf(text, sizeof text, "%" PRId64 " %s%s%s", rows, from->noun, *op->why ? ": " : "", op->why);
    text[tpi_utf8_cut(text, strlen(text), TP_REASON_MAX)] = '\0';
    struct tpi_history_event event = {
        .handler = op->selection->handler, .event = TPI_HISTORY_PURGED, .reason = text};
    struct tpi_act act = {.action = TPI_HISTORY_PURGED,
                          .who = op->who,
                          .why = op->why,
                          .subject = from->pool,
                          .detail = op->detail,
                          .changed = rows,
                          .ids = keys,
                          .id_count = known ? count : 0};
    memcpy(act.id, op->act, sizeof act.id);
    return tpi_audit_event(op->conn, &act, &event);
}

static tp_status purge_keys(struct tpi_operation *op, const struct tpi_purged *from, const char *const *keys,
                            size_t count) {
    struct tpi_scope scope;
    int64_t rows = 0;
    tp_status status = tpi_scope_begin(op->conn, &scope);
    if (status == TP_OK) status = erase(op, from, keys, count, &rows);
    if (status == TP_OK && rows) status = record(op, from, keys, count, rows);
    status = tpi_scope_end(op->conn, &scope, status);
    if (status == TP_OK) op->result.done += (size_t)rows;
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

static tp_status purge_next(struct tpi_operation *op, const struct tpi_purged *from, bool *more) {
    struct keys keys = {.count = 0};
    size_t room = tpi_operate_room(op), before = op->result.done;
    *more = false;
    tp_status status = room ? pick(op, from->pick, room, &keys) : TP_OK;
    if (status == TP_OK && keys.count) {
        status = purge_keys(op, from, keys.key, keys.count);
        size_t done = op->result.done - before;
        op->result.passed = keys.count - done; /* the next pick finds them again */
        *more = keys.count == room;
        if (status == TP_OK && *more && !done) status = check_progress(op, from, from->pick, keys.key[0]);
    }
    tpi_texts_free(&keys.texts);
    return status;
}

/* Those that are not there, or not selected, are neither done nor passed over. */
static tp_status purge_given(struct tpi_operation *op, const struct tpi_purged *from) {
    size_t given = op->ids.count, count, room;
    tp_status status = TP_OK;
    for (size_t at = 0; at < given && (room = tpi_operate_room(op)) > 0 && status == TP_OK; at += count) {
        const char *ids[TPI_CHUNK];
        struct tpi_args args = {0};
        int64_t found = 0;
        size_t before = op->result.done;
        bool dry = op->selection->dry_run;
        count = given - at < room ? given - at : room;
        for (size_t i = 0; i < count; i++)
            ids[i] = op->ids.all[at + i];
        if (!dry) status = purge_keys(op, from, ids, count);
        if (status != TP_OK || op->result.done - before == count) continue;
        tpi_operate_args(op, &args);
        tpi_args_list(&args, ids, count);
        status = tpi_ask_number(op->conn, from->count_given, &args, &found);
        *(dry ? &op->result.done : &op->result.passed) += (size_t)found;
    }
    return status;
}

tp_status tpi_purge_keys(struct tpi_operation *op, const char *const *keys, size_t count) {
    const struct tpi_purged *from = find_pool(op->selection->pool);
    tp_status status = TP_OK;
    for (size_t at = 0, some; at < count && status == TP_OK; at += some) {
        some = count - at < TPI_CHUNK ? count - at : TPI_CHUNK;
        status = purge_keys(op, from, keys + at, some);
    }
    return status;
}

/* As rows of a request: those that were given, as far as they are selected. */
static tp_status note_given(struct tpi_operation *op, const struct tpi_purged *from) {
    const char *ids[TPI_CHUNK], *after = "";
    struct tpi_args args = {0};
    size_t room, some = 1;
    tp_status status = TP_OK;
    tpi_operate_args(op, &args);
    while (some && (room = tpi_operate_room(op)) > 0 && status == TP_OK) {
        some = tpi_ids_behind(&op->ids, after, room, ids);
        status = tpi_request_note(op->conn, op->request_id, from->note, &args, ids, some, &op->result.done);
        if (some) after = ids[some - 1];
    }
    return status;
}

/* The oldest of all. */
static tp_status note_oldest(struct tpi_operation *op, const struct tpi_purged *from) {
    const size_t limit = op->selection->limit;
    struct tpi_keys keys = {.count = 0};
    struct tpi_args args = {0};
    tpi_operate_args(op, &args);
    tpi_args_number(&args, TPI_P_limit, limit && limit < NOTED ? (int64_t)limit : NOTED);
    tp_status status = tpi_store_keys(&op->conn->store, from->pick, &args, &keys);
    if (status == TP_OK)
        status = tpi_request_note(op->conn, op->request_id, from->note, &args, keys.all, keys.count,
                                  &op->result.done);
    tpi_keys_free(&keys);
    return status;
}

tp_status tpi_purge(struct tpi_operation *op) {
    const tp_selection *selection = op->selection;
    const struct tpi_purged *from = find_pool(selection->pool);
    struct tpi_args args = {0};
    int64_t count = 0;
    bool more = true;
    tp_status status = TP_OK;
    if (!from->tasks && (selection->id_count || selection->state || selection->reason || selection->biz_key ||
                         selection->dedup_key || selection->worker || selection->group || selection->gate))
        return tpi_error(TP_MISUSE, "%s are purged by time, age, handler and limit only", from->noun);
    if (op->request_id) return op->ids.narrowed ? note_given(op, from) : note_oldest(op, from);
    if (op->ids.narrowed) return purge_given(op, from);
    while (status == TP_OK && more && !selection->dry_run)
        status = purge_next(op, from, &more);
    if (!selection->dry_run) return status;
    tpi_operate_args(op, &args);
    status = tpi_ask_number(op->conn, from->count, &args, &count);
    op->result.done = selection->limit && (size_t)count > selection->limit ? selection->limit : (size_t)count;
    return status;
}

tp_status tpi_purge_oldest(struct tpi_operation *op, const char *pool, size_t limit) {
    const struct tpi_purged *from = find_pool(pool);
    struct keys keys = {.count = 0};
    int64_t rows = 0;
    size_t most = limit < TPI_CHUNK ? limit : TPI_CHUNK;
    tp_status status = pick(op, from->oldest, most, &keys);
    if (status == TP_OK && keys.count) status = erase(op, from, keys.key, keys.count, &rows);
    if (status == TP_OK && keys.count == most && most && !rows)
        status = check_progress(op, from, from->oldest, keys.key[0]);
    if (status == TP_OK) op->result.done += (size_t)rows;
    tpi_texts_free(&keys.texts);
    return status;
}
