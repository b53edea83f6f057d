/* What failed, grouped by handler and reason, for people: reads no more tasks and keeps no more groups than
 * it was asked for. Which reasons are one group: core/alike.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/batch.h"
#include "ops/select.h"
#include "store/cursor.h"

enum { GROUPS_MAX = 1000, PLACES = 2048, GROUPS_SHOWN = 100, READ_MAX = 100000 };

struct group {
    tp_failure seen;
    char handler[TP_HANDLER_MAX + 1], alike[TPI_ALIKE_SIZE], example[TPI_UUID_SIZE];
};

struct groups {
    struct group *all;
    size_t count;
    int places[PLACES]; /* of a hash table: 1 + the group's number, or 0 */
    bool cut;
};

/* A failed task. */
struct failed {
    const char *id, *handler, *reason;
    int64_t at;
};

/* ---- Groups -------------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t seed, const char *text) {
    for (; *text; text++)
        seed = (seed ^ (unsigned char)*text) * 16777619u;
    return seed;
}

/* The group, or a new one; NULL: there is no room for another. */
static struct group *find_group(struct groups *groups, const char *handler, const char *alike) {
    uint32_t place = hash(hash(2166136261u, handler) * 31u, alike);
    for (int *at; *(at = &groups->places[place % PLACES]); place++) {
        struct group *group = &groups->all[*at - 1];
        if (strcmp(group->handler, handler) == 0 && strcmp(group->alike, alike) == 0) return group;
    }
    if (groups->count == GROUPS_MAX) return NULL;
    struct group *group = &groups->all[groups->count++];
    groups->places[place % PLACES] = (int)groups->count;
    tpi_utf8_copy(handler, group->handler, sizeof group->handler);
    memcpy(group->alike, alike, sizeof group->alike);
    return group;
}

static void add(struct groups *groups, const struct failed *task, bool waiting) {
    char alike[TPI_ALIKE_SIZE];
    tpi_alike(task->reason, alike);
    struct group *group = find_group(groups, task->handler, alike);
    if (!group) {
        groups->cut = true;
        return;
    }
    tp_failure *seen = &group->seen;
    if (!seen->count || task->at < seen->first) seen->first = task->at;
    if (!seen->count || task->at > seen->last) {
        seen->last = task->at;
        tpi_utf8_copy(task->id, group->example, sizeof group->example);
    }
    seen->count++;
    seen->waiting += waiting;
}

static int larger_first(const void *a, const void *b) {
    const struct group *one = a, *two = b;
    if (one->seen.count != two->seen.count) return one->seen.count > two->seen.count ? -1 : 1;
    int order = strcmp(one->handler, two->handler);
    return order ? order : strcmp(one->alike, two->alike);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static tp_status read_pool(tp_conn *conn, const struct tpi_select *select, enum tpi_pool pool, size_t most,
                           struct groups *groups) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(UUID, struct failed, id),
        TPI_COLUMN(TEXT, struct failed, handler),
        TPI_COLUMN(TEXT, struct failed, reason),
        TPI_COLUMN(NUMBER, struct failed, at),
        TPI_COLUMN_END,
    };
    bool waiting = pool == TPI_POOL_PENDING;
    struct tpi_args args = {0};
    struct tpi_cursor cursor;
    struct failed task;
    tpi_select_args(select, &args);
    tpi_args_text(&args, TPI_P_state, tpi_state_name(TPI_STATE_FAILED));
    tpi_args_number(&args, TPI_P_limit, (int64_t)most);
    tpi_cursor_open(&cursor, &conn->store, waiting ? TPI_S_failures_pending : TPI_S_failures_failed, &args,
                    columns, most);
    while (tpi_cursor_next(&cursor, &task))
        if (tpi_select_has(select, task.reason)) add(groups, &task, waiting);
    tp_status status = tpi_cursor_close(&cursor);
    if (cursor.seen == most) groups->cut = true;
    return status == TP_NONE ? TP_OK : status;
}

/* ---- The calls ------------------------------------------------------------------------------------------
 */

static tp_status check(const tp_list_request *request, bool pools[TPI_POOL_COUNT]) {
    const char *pool = request->pool && strcmp(request->pool, "all") != 0 ? request->pool : NULL;
    if (request->ids || request->id_count || request->after_id || request->after_at)
        return tpi_error(TP_MISUSE, "failures are not selected by ids");
    if (request->group || request->gate)
        return tpi_error(TP_MISUSE,
                         "failures are not selected by group or gate; a list (taskpool list --pool failed) "
                         "selects by them");
    if (request->state && strcmp(request->state, tpi_state_name(TPI_STATE_FAILED)) != 0)
        return tpi_error(TP_MISUSE, "failures are in the state failed, not '%.40s'", request->state);
    pools[TPI_POOL_PENDING] = !pool || strcmp(pool, tpi_pool_name(TPI_POOL_PENDING)) == 0;
    pools[TPI_POOL_FAILED] = !pool || strcmp(pool, tpi_pool_name(TPI_POOL_FAILED)) == 0;
    if (!pools[TPI_POOL_PENDING] && !pools[TPI_POOL_FAILED])
        return tpi_error(TP_MISUSE, "pool '%.40s' has no failures; it is one of pending, failed, all", pool);
    if (request->limit > GROUPS_MAX)
        return tpi_error(TP_TOOBIG, "a limit of %zu groups; at most %d", request->limit, GROUPS_MAX);
    return TP_OK;
}

static void show(struct groups *groups, size_t limit, tp_failure_fn see, void *arg) {
    qsort(groups->all, groups->count, sizeof *groups->all, larger_first);
    for (size_t i = 0; i < groups->count && i < limit; i++) {
        struct group *group = &groups->all[i];
        group->seen.handler = group->handler;
        group->seen.reason_like = group->alike;
        group->seen.example = group->example;
        see(&group->seen, arg);
    }
    if (groups->count > limit) groups->cut = true;
}

tp_status tp_batch_failures(const tp_batch *batch, tp_failure_fn see, void *arg) {
    struct groups groups = {.count = 0};
    if (!batch || !see) return tpi_error(TP_MISUSE, "tp_batch_failures: an argument is NULL");
    groups.all = calloc(GROUPS_MAX, sizeof *groups.all);
    if (!groups.all) return tpi_error(TP_NOMEM, "out of memory");
    for (size_t i = 0; i < batch->count; i++) {
        const tp_task *task = &batch->slots[i].task;
        const char *reason = task->reason ? task->reason : "";
        if (strcmp(task->state, tpi_state_name(TPI_STATE_FAILED)) != 0) continue;
        add(&groups, &(struct failed){task->id, task->handler, reason, task->modified_at},
            batch->slots[i].pool == TPI_POOL_PENDING);
    }
    show(&groups, GROUPS_MAX, see, arg);
    free(groups.all);
    return groups.count ? TP_OK : TP_NONE;
}

tp_status tp_failures_each(tp_conn *conn, const tp_list_request *given, tp_failure_fn see, void *arg,
                           int *cut) {
    struct groups groups = {.count = 0};
    struct tpi_select select;
    bool pools[TPI_POOL_COUNT] = {false};
    tp_list_request request;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!given || !see) return tpi_error(TP_MISUSE, "tp_failures_each: an argument is NULL");
    status = tpi_read_sized(TPI_SIZED_list_request, given, &request);
    if (status != TP_OK) return status;
    struct tpi_wanted wanted = {request.handler,
                                NULL,
                                request.biz_key,
                                request.dedup_key,
                                request.reason,
                                request.reason_like,
                                request.worker,
                                request.since,
                                request.until,
                                NULL,
                                NULL};
    status = check(&request, pools);
    if (status == TP_OK) status = tpi_select_begin(&select, &wanted);
    if (status != TP_OK) return status;
    groups.all = calloc(GROUPS_MAX, sizeof *groups.all);
    if (!groups.all) return tpi_link_no_memory(&conn->store.link);
    size_t most = request.read_max ? request.read_max : READ_MAX;
    if (pools[TPI_POOL_FAILED]) status = read_pool(conn, &select, TPI_POOL_FAILED, most, &groups);
    if (status == TP_OK && pools[TPI_POOL_PENDING])
        status = read_pool(conn, &select, TPI_POOL_PENDING, most, &groups);
    if (status == TP_OK) show(&groups, request.limit ? request.limit : GROUPS_SHOWN, see, arg);
    if (status == TP_OK && cut) *cut = groups.cut;
    free(groups.all);
    return status == TP_OK && !groups.count ? TP_NONE : status;
}
