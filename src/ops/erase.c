/* Deletes what is left of one business row: settled tasks, their events, their keys of the ledger. Chunk by
 * chunk, each in one transaction with its record; the rows go first, so that a task which leaves its pool
 * meanwhile keeps its history. While a task of the business row is open nothing is deleted. Read next:
 * purge.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/four_eyes.h"
#include "ops/gate.h"
#include "ops/operate.h"
#include "ops/request.h"
#include "ops/steps.h"
#include "ops/task_progress.h"
#include "store/record.h"

/* Clocks of databases that have no fraction of a second, or of several servers. */
enum { SLACK_MS = 5000, TRIES = 5 };

struct erasure {
    tp_conn *conn;
    const char *biz_key, *who, *why;
    tp_erased result;
    char act[TPI_UUID_SIZE];
    bool met_open; /* a task came meanwhile: what was deleted with the chunk is taken back */
};

static const struct erased_pool {
    const char *name;
    enum tpi_statement pick, erase, note;
} pools[] = {{"failed", TPI_S_erase_ids_failed, TPI_S_erase_failed, TPI_S_request_rows_failed},
             {"finished", TPI_S_erase_ids_finished, TPI_S_erase_finished, TPI_S_request_rows_finished}};
enum { POOLS = sizeof pools / sizeof pools[0] };
/* The failed pool first: what is not there any more is not retried while keys of the ledger go. */
enum { FAILED, FINISHED };

struct settled {
    const char *id;
    int64_t created_at, settled_at;
};

struct tasks {
    struct tpi_texts texts;
    size_t count;
    struct settled all[TPI_CHUNK];
    const char *ids[TPI_CHUNK];
};

/* ---- One chunk ----------------------------------------------------------------------------------------- */

static void list_ids(struct tasks *tasks) {
    for (size_t i = 0; i < tasks->count; i++)
        tasks->ids[i] = tasks->all[i].id;
}

static tp_status pick(struct erasure *erasure, const struct erased_pool *pool, struct tasks *tasks) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct settled, id),
        TPI_COLUMN(NUMBER, struct settled, created_at),
        TPI_COLUMN(NUMBER, struct settled, settled_at),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_text(&args, TPI_P_biz_key, erasure->biz_key);
    tpi_args_number(&args, TPI_P_limit, TPI_CHUNK);
    tp_status status = tpi_store_query(&erasure->conn->store, pool->pick, &args, &stmt);
    if (status == TP_OK)
        status = tpi_record_all(stmt, columns, &tasks->texts, tasks->all, sizeof *tasks->all, TPI_CHUNK,
                                &tasks->count);
    list_ids(tasks);
    return status;
}

static int by_begin(const void *a, const void *b) {
    const struct settled *one = a, *two = b;
    return (one->created_at > two->created_at) - (one->created_at < two->created_at);
}

/* Of tasks in the order of their begin: how many from first on were there at overlapping times, and until
 * when. So no part of the ledger is read twice, and none in which no task was there. */
static size_t overlapping(const struct tasks *tasks, size_t first, int64_t *until) {
    size_t end = first;
    *until = tasks->all[first].settled_at + SLACK_MS;
    while (++end < tasks->count && tasks->all[end].created_at - SLACK_MS <= *until)
        if (tasks->all[end].settled_at + SLACK_MS > *until) *until = tasks->all[end].settled_at + SLACK_MS;
    return end - first;
}

/* The key that is the business row's own, and what tasks put in while they were there. */
static tp_status erase_keys(struct erasure *erasure, const struct erased_pool *pool, struct tasks *tasks,
                            int64_t *keys) {
    struct tpi_store *store = &erasure->conn->store;
    struct tpi_args args = {0};
    int64_t rows = 0, until = 0;
    tp_status status = TP_OK;
    tpi_args_text(&args, TPI_P_once_key, erasure->biz_key);
    if (pool == &pools[FINISHED]) status = tpi_store_change(store, TPI_S_erase_once_key, &args, keys);
    qsort(tasks->all, tasks->count, sizeof *tasks->all, by_begin);
    list_ids(tasks);
    for (size_t first = 0, count; first < tasks->count && status == TP_OK; first += count) {
        count = overlapping(tasks, first, &until);
        tpi_args_list(&args, &tasks->ids[first], count);
        tpi_args_number(&args, TPI_P_since, tasks->all[first].created_at - SLACK_MS);
        tpi_args_number(&args, TPI_P_until, until);
        status = tpi_store_change(store, TPI_S_erase_once, &args, &rows);
        if (status == TP_OK) *keys += rows;
    }
    return status;
}

static tp_status record(struct erasure *erasure, const char *pool, int64_t tasks, int64_t events,
                        int64_t keys) {
    char what[100], text[TP_REASON_MAX + 200];
    snprintf(what, sizeof what, "%" PRId64 " %s tasks, %" PRId64 " events, %" PRId64 " keys of the ledger",
             tasks, pool, events, keys);
    snprintf(text, sizeof text, "%s%s%s", what, *erasure->why ? ": " : "", erasure->why);
    text[tpi_utf8_cut(text, strlen(text), TP_REASON_MAX)] = '\0';
    struct tpi_history_event event = {.event = TPI_HISTORY_ERASED, .reason = text};
    struct tpi_act act = {.action = TPI_HISTORY_ERASED,
                          .who = erasure->who,
                          .why = erasure->why,
                          .subject = pool,
                          .detail = what,
                          .changed = tasks + events + keys};
    memcpy(act.id, erasure->act, sizeof act.id);
    return tpi_audit_event(erasure->conn, &act, &event);
}

/* Asked after the deletes: who comes later than this puts its keys into the ledger behind them. */
static tp_status check_open(struct erasure *erasure) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_biz_key, erasure->biz_key);
    tp_status status = tpi_store_exists(&erasure->conn->store, TPI_S_erase_open, &args, &erasure->met_open);
    if (status != TP_OK || !erasure->met_open) return status;
    return tpi_error(TP_CONFLICT, "a task with the biz_key came meanwhile");
}

static tp_status erase_rows(struct erasure *erasure, const struct erased_pool *pool, struct tasks *tasks) {
    struct tpi_store *store = &erasure->conn->store;
    struct tpi_args args = {0};
    int64_t rows = 0, events = 0, keys = 0;
    tp_status status = TP_OK;
    tpi_args_list(&args, tasks->ids, tasks->count);
    tpi_args_text(&args, TPI_P_biz_key, erasure->biz_key);
    if (tasks->count) status = tpi_store_change(store, pool->erase, &args, &rows);
    if (status == TP_OK && rows != (int64_t)tasks->count)
        return tpi_error(TP_CONFLICT, "%s deleted %" PRId64 " tasks of %zu: another session got in the way",
                         tpi_statement_name(pool->erase), rows, tasks->count);
    if (status == TP_OK && tasks->count)
        status = tpi_store_change(store, TPI_S_erase_history, &args, &events);
    if (status == TP_OK && tasks->count) status = tpi_steps_purge(erasure->conn, tasks->ids, tasks->count);
    if (status == TP_OK && tasks->count) status = tpi_progress_erase(erasure->conn, tasks->ids, tasks->count);
    if (status == TP_OK && tasks->count && pool == &pools[FAILED])
        status = tpi_gates_deleted(erasure->conn, tasks->ids, tasks->count);
    if (status == TP_OK) status = erase_keys(erasure, pool, tasks, &keys);
    if (status == TP_OK) status = check_open(erasure);
    if (status == TP_OK && (rows || keys)) status = record(erasure, pool->name, rows, events, keys);
    if (status != TP_OK) return status;
    *(pool == &pools[FINISHED] ? &erasure->result.finished : &erasure->result.failed) += (size_t)rows;
    erasure->result.events += (size_t)events;
    erasure->result.keys += (size_t)keys;
    return TP_OK;
}

static tp_status erase_chunk(struct erasure *erasure, const struct erased_pool *pool, bool *more) {
    struct tasks tasks = {.count = 0};
    struct tpi_scope scope;
    tp_erased before = erasure->result;
    tp_status status = pick(erasure, pool, &tasks);
    if (status == TP_OK) status = tpi_scope_begin(erasure->conn, &scope);
    if (status == TP_OK) status = tpi_scope_end(erasure->conn, &scope, erase_rows(erasure, pool, &tasks));
    if (status != TP_OK) erasure->result = before;
    *more = tasks.count == TPI_CHUNK;
    tpi_texts_free(&tasks.texts);
    return status;
}

static tp_status erase_pool(struct erasure *erasure, const struct erased_pool *pool) {
    tp_status status = TP_OK;
    int conflicts = 0;
    for (bool more = true; more && status == TP_OK && !erasure->met_open;) {
        status = erase_chunk(erasure, pool, &more);
        if (status == TP_CONFLICT && erasure->met_open) return TP_OK;
        if (status != TP_CONFLICT || ++conflicts == TRIES) continue;
        status = TP_OK;
        more = true;
    }
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------------------
 */

/* open_tasks, finished, failed, schedules */
static tp_status count_tasks(struct erasure *erasure, int64_t found[4]) {
    static const struct tpi_column columns[] = {{TPI_READ_NUMBER, 0, 8},
                                                {TPI_READ_NUMBER, 8, 8},
                                                {TPI_READ_NUMBER, 16, 8},
                                                {TPI_READ_NUMBER, 24, 8},
                                                TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_biz_key, erasure->biz_key);
    return tpi_store_read(&erasure->conn->store, TPI_S_erase_count, &args, columns, NULL, found);
}

static tp_status erase_all(struct erasure *erasure) {
    tp_status status = TP_OK;
    for (size_t i = 0; i < POOLS && status == TP_OK; i++)
        status = erase_pool(erasure, &pools[i]);
    return status;
}

/* ---- Four eyes ----------------------------------------------------------------------------------------- */

static tp_status note_pool(struct erasure *erasure, const char *id, const struct erased_pool *pool,
                           size_t *count) {
    struct tpi_keys ids = {.count = 0};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_biz_key, erasure->biz_key);
    tpi_args_number(&args, TPI_P_limit, TP_REQUEST_ROWS_MAX + 1);
    tpi_args_number(&args, TPI_P_since, -TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_before, TPI_END_OF_TIME);
    tp_status status = tpi_store_keys(&erasure->conn->store, pool->pick, &args, &ids);
    if (status == TP_OK)
        status = tpi_request_note(erasure->conn, id, pool->note, &args, ids.all, ids.count, count);
    tpi_keys_free(&ids);
    return status;
}

/* A key of the ledger that is the same is enough. It is noted too, so that one put in anew is told from it.
 */
static tp_status note_all(tp_conn *conn, const char *id, void *arg, size_t *count) {
    struct erasure *erasure = arg;
    struct tpi_args args = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < POOLS && status == TP_OK; i++)
        status = note_pool(erasure, id, &pools[i], count);
    tpi_args_number(&args, TPI_P_since, -TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_before, TPI_END_OF_TIME);
    if (status == TP_OK)
        status = tpi_request_note(conn, id, TPI_S_request_rows_once, &args, &erasure->biz_key, 1, count);
    return status == TP_OK && !*count ? TP_NONE : status;
}

/* TP_NONE: it needs no second person, and is to be done. TP_EXISTS: there is nothing. */
static tp_status request(struct erasure *erasure, bool open) {
    char digest[TPI_UUID_SIZE], text[TPI_UUID_SIZE + 24];
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    char *id = erasure->result.request_id;
    size_t count = 0;
    tp_status status = tpi_four_eyes_read(erasure->conn, &eyes);
    if (status != TP_OK || (!eyes.on && !*id)) return status == TP_OK ? TP_NONE : status;
    tpi_uuid_named(erasure->biz_key, digest);
    snprintf(text, sizeof text, "biz_key_digest=%s", digest);
    struct tpi_new_request asked = {.act = TPI_ACT_ERASE,
                                    .selection = text,
                                    .who = erasure->who,
                                    .why = erasure->why,
                                    .biz_key = erasure->biz_key,
                                    .expire_ms = eyes.expire_ms};
    status = tpi_request_earlier(erasure->conn, &asked, id, &count);
    if (status != TP_NONE || !eyes.on || open) return status;
    status = tpi_request_put(erasure->conn, &asked, id, note_all, erasure, &count);
    return status == TP_NONE ? TP_EXISTS : status;
}

/* ---- The call ------------------------------------------------------------------------------------------ */

static tp_status check(const char *biz_key, const char *who, const tp_erased *result) {
    const char *fault = result ? tpi_sized_fault(TPI_SIZED_erased, result) : NULL;
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    if (!biz_key || !*biz_key) return tpi_error(TP_MISUSE, "tp_erase needs a biz_key");
    if (!who || !*who)
        return tpi_error(TP_MISUSE, "tp_erase: who is required; it is recorded in the history");
    return tpi_check_key("biz_key", biz_key);
}

tp_status tpi_erase_given(tp_conn *conn, const char *biz_key, size_t tasks, bool key, const char *who,
                          const char *why, size_t *done) {
    bool there = false;
    struct tpi_args args = {0};
    struct erasure erasure = {
        .conn = conn, .biz_key = biz_key, .who = who, .why = why, .result = TP_ERASED_INIT};
    tpi_uuid_ordered(erasure.act);
    int64_t found[4] = {0};
    tp_status status = count_tasks(&erasure, found);
    tpi_args_text(&args, TPI_P_once_key, biz_key);
    if (status == TP_OK) status = tpi_store_exists(&conn->store, TPI_S_once_find, &args, &there);
    if (status == TP_OK && (found[0] || (size_t)(found[1] + found[2]) != tasks || there != key))
        return TP_STALE;
    if (status == TP_OK) status = erase_all(&erasure);
    *done = erasure.result.finished + erasure.result.failed;
    return status == TP_OK && (erasure.met_open || *done != tasks) ? TP_STALE : status;
}

static void take_request_id(tp_erased *ours, const tp_erased *given) {
    if (!given || !tpi_sized_is_whole(TPI_SIZED_erased, given)) return;
    memcpy(ours->request_id, given->request_id, sizeof ours->request_id);
    ours->request_id[sizeof ours->request_id - 1] = '\0';
}

/* Counts, and erases unless it is a dry run or another person has to approve. */
static tp_status count_and_erase(struct erasure *erasure, bool dry_run) {
    tp_erased *done = &erasure->result;
    int64_t found[4] = {0};
    tp_status requested = TP_NONE, status = count_tasks(erasure, found);
    if (status == TP_OK && !dry_run) requested = request(erasure, found[0] != 0);
    if (requested < TP_OK) return requested;
    /* A key of the ledger may be all that keeps an open task from doing once more what an earlier one did. */
    if (status == TP_OK && requested == TP_NONE && !dry_run && !found[0]) {
        status = erase_all(erasure);
        if (status == TP_OK) status = count_tasks(erasure, found);
    }
    if (status != TP_OK) return status;
    done->open = found[0] ? (size_t)found[0] : erasure->met_open;
    done->schedules = (size_t)found[3];
    if (dry_run || requested == TP_REQUESTED) {
        done->finished = (size_t)found[1];
        done->failed = (size_t)found[2];
    }
    if (requested != TP_NONE && requested != TP_EXISTS) return requested;
    return done->finished || done->failed || done->keys || done->open || done->schedules ? TP_OK : TP_NONE;
}

tp_status tp_erase(tp_conn *conn, const char *biz_key, const char *who, const char *why, int dry_run,
                   tp_erased *result) {
    char reason[TP_REASON_MAX + 1], person[TPI_WHO_MAX + 1];
    struct erasure erasure = {
        .conn = conn, .biz_key = biz_key, .who = person, .why = reason, .result = TP_ERASED_INIT};
    tp_status status = tpi_conn_ready_alone(conn, "tp_erase");
    if (status == TP_OK) status = check(biz_key, who, result);
    if (status != TP_OK) return status;
    tpi_utf8_copy(who, person, sizeof person);
    tpi_utf8_copy(why ? why : "", reason, sizeof reason);
    take_request_id(&erasure.result, result);
    tpi_uuid_ordered(erasure.act);
    status = count_and_erase(&erasure, dry_run != 0);
    if (result && tpi_sized_is_whole(TPI_SIZED_erased, result))
        memcpy(result->request_id, erasure.result.request_id, sizeof result->request_id);
    if (status >= TP_OK && result) tpi_sized_write(TPI_SIZED_erased, &erasure.result, result);
    return status;
}
