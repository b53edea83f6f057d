/* Pages of tasks: which way leads to what is selected, and how far one page reads. It changes nothing and
 * takes no lock. Rare tasks of the finished pool are looked for in parts of it: a first statement says where
 * the part ends, a second one reads what is selected up to there in all pools. Read next: select.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/batch.h"
#include "ops/select.h"
#include "store/record.h"

#define LAST_ID "ffffffff-ffff-ffff-ffff-ffffffffffff"

enum { DEFAULT_LIMIT = 100, PART = 10000, BLOCK = 2000, ALL_POOLS = TPI_POOL_COUNT };

enum way { BY_ID, BY_KEY, BY_CHANGE, GIVEN };

struct pages {
    tp_conn *conn;
    struct tpi_select select;
    enum way way;
    int pool;           /* enum tpi_pool, or ALL_POOLS */
    bool in_parts;      /* of the finished pool */
    struct tpi_ids ids; /* in order, each once */
    bool by_group;      /* of a group alone, whose ids are read as the page needs them */
    const char *group;  /* NULL: there are no more than those */
    size_t limit, read_max;
    size_t read; /* finished tasks that parts have led past */
    tp_batch *batch;
};

/* ---- What is asked for --------------------------------------------------------------------------------- */

static tp_status check_pool(const char *name, int *pool) {
    enum tpi_pool found = TPI_POOL_PENDING;
    if (name && strcmp(name, "all") == 0) {
        *pool = ALL_POOLS;
        return TP_OK;
    }
    if (name && !tpi_pool_parse(name, &found))
        return tpi_error(TP_MISUSE, "pool '%.40s' is not known; it is one of pending, finished, failed, all",
                         name);
    *pool = (int)found;
    return TP_OK;
}

static tp_status take_given(const tp_list_request *request, struct tpi_ids *ids) {
    tp_status status = TP_OK;
    if (!request->id_count) return TP_OK;
    if (!request->ids) return tpi_error(TP_MISUSE, "ids is NULL though id_count is not 0");
    ids->all = calloc(request->id_count, sizeof *ids->all);
    if (!ids->all) return tpi_error(TP_NOMEM, "out of memory");
    ids->count = request->id_count;
    ids->narrowed = true;
    for (size_t i = 0; i < ids->count && status == TP_OK; i++)
        status = tpi_check_uuid("an id of the list", request->ids[i], ids->all[i]);
    return status;
}

/* A group by itself is read as the page needs it: it may have millions. */
static tp_status take_ids(const tp_list_request *request, struct pages *pages) {
    bool alone = request->group && !request->id_count && !request->gate;
    tp_status status = take_given(request, &pages->ids);
    pages->by_group = alone;
    pages->group = alone ? request->group : NULL;
    if (status != TP_OK || alone) return status;
    return tpi_select_members(pages->conn, request->group, request->gate, &pages->ids);
}

static tp_status choose_way(const tp_list_request *request, struct pages *pages) {
    bool finished = pages->pool == TPI_POOL_FINISHED || pages->pool == ALL_POOLS;
    pages->way = BY_ID;
    if (request->since || request->until) pages->way = BY_CHANGE;
    if (request->biz_key) pages->way = BY_KEY;
    if (request->id_count || request->group || request->gate) pages->way = GIVEN;
    pages->in_parts =
        finished && pages->way != GIVEN && pages->way != BY_KEY && tpi_select_is_narrow(&pages->select);
    if (finished && request->dedup_key && pages->way == BY_ID)
        return tpi_error(
            TP_MISUSE,
            "the finished pool has no index of dedup_key; give a biz_key, ids, since or until too, "
            "or ask for the pool pending or failed");
    if (request->gate && pages->pool == TPI_POOL_FINISHED)
        return tpi_error(TP_MISUSE, "no finished task is behind a gate, and the pool has no index of gates");
    if (request->gate && *request->gate == '>' && pages->pool == TPI_POOL_FAILED)
        return tpi_error(TP_MISUSE, "what waits for group %s is in the pending pool", request->gate + 1);
    if (request->after_id && pages->way == BY_CHANGE && !request->after_at)
        return tpi_error(
            TP_MISUSE,
            "a page in the order of changes goes on behind after_id and after_at; see tp_list_next");
    return TP_OK;
}

static tp_status begin(const tp_list_request *request, struct pages *pages) {
    struct tpi_wanted wanted = {request->handler, request->state,       request->biz_key, request->dedup_key,
                                request->reason,  request->reason_like, request->worker,  request->since,
                                request->until,   request->group,       request->gate};
    if (request->limit > TP_CLAIM_MAX)
        return tpi_error(TP_TOOBIG, "a limit of %zu; at most %d in one page", request->limit, TP_CLAIM_MAX);
    pages->limit = request->limit ? request->limit : DEFAULT_LIMIT;
    pages->read_max = request->read_max ? request->read_max : SIZE_MAX;
    tp_status status = check_pool(request->pool, &pages->pool);
    if (status == TP_OK) status = tpi_select_begin(&pages->select, &wanted);
    if (status == TP_OK) status = take_ids(request, pages);
    if (status == TP_OK) status = choose_way(request, pages);
    if (status == TP_OK)
        status = tpi_check_uuid("after_id", request->after_id ? request->after_id : TPI_FIRST_ID,
                                pages->batch->page.after_id);
    pages->batch->page.after_at = request->after_id ? request->after_at : -1;
    return status;
}

/* ---- One part of a page -------------------------------------------------------------------------------- */

static void page_args(const struct pages *pages, size_t limit, struct tpi_args *args) {
    *args = (struct tpi_args){0};
    tpi_select_args(&pages->select, args);
    tpi_args_text(args, TPI_P_pool,
                  pages->pool == ALL_POOLS ? NULL : tpi_pool_name((enum tpi_pool)pages->pool));
    tpi_args_text(args, TPI_P_after_id, pages->batch->page.after_id);
    tpi_args_number(args, TPI_P_after_at, pages->batch->page.after_at);
    if (pages->way == BY_CHANGE && pages->batch->page.after_at > pages->select.since)
        tpi_args_number(args, TPI_P_since, pages->batch->page.after_at);
    tpi_args_number(args, TPI_P_limit, (int64_t)limit);
}

static enum tpi_statement statement_of(const struct pages *pages) {
    static const enum tpi_statement by_id[] = {TPI_S_list_pending, TPI_S_list_finished, TPI_S_list_failed,
                                               TPI_S_list_all};
    static const enum tpi_statement by_key[] = {TPI_S_list_pending_by_key, TPI_S_list_finished_by_key,
                                                TPI_S_list_failed_by_key, TPI_S_list_all_by_key};
    if (pages->way == GIVEN) return TPI_S_list_given;
    if (pages->way == BY_CHANGE) return TPI_S_list_by_change;
    return pages->way == BY_KEY ? by_key[pages->pool] : by_id[pages->pool];
}

static int64_t changed_at(const tp_task *task) {
    return task->settled_at ? task->settled_at : task->modified_at;
}

/* Goes on behind the last task that was read. */
static void pass(struct pages *pages, const tp_task *last) {
    tpi_utf8_copy(last->id, pages->batch->page.after_id, TPI_UUID_SIZE);
    if (pages->way == BY_CHANGE) pages->batch->page.after_at = changed_at(last);
}

/* Takes out what is not like the reason that was given, of the tasks from first on. */
static void drop_unlike(struct pages *pages, size_t first) {
    tp_batch *batch = pages->batch;
    size_t kept = first;
    for (size_t i = first; i < batch->count; i++)
        if (tpi_select_has(&pages->select, batch->slots[i].task.reason))
            batch->slots[kept++] = batch->slots[i];
    batch->count = kept;
}

/* Adds what the statement gives; *got is how many those were. */
static tp_status read_part(struct pages *pages, struct tpi_args *args, size_t limit, size_t *got) {
    struct tpi_stmt *stmt = NULL;
    tp_batch *batch = pages->batch;
    bool pooled = pages->way == GIVEN || pages->way == BY_CHANGE || pages->pool == ALL_POOLS;
    size_t before = batch->count;
    enum tpi_pool pool = pooled ? TPI_POOL_PENDING : (enum tpi_pool)pages->pool;
    tp_status status = tpi_store_query(&pages->conn->store, statement_of(pages), args, &stmt);
    if (status == TP_OK)
        status =
            tpi_batch_read_all(batch, stmt, pooled ? TPI_ROWS_SHOW : TPI_ROWS_LIST, pool, before + limit);
    if (status != TP_OK) return status;
    *got = batch->count - before;
    if (*got) pass(pages, &batch->slots[batch->count - 1].task);
    drop_unlike(pages, before);
    return TP_OK;
}

/* ---- A part of the finished pool ----------------------------------------------------------------------- */

struct place {
    char id[TPI_UUID_SIZE];
    int64_t at;
};

/* Where the next part ends; *last: behind it there is none. */
static tp_status find_end(struct pages *pages, struct place *end, bool *last) {
    static const struct tpi_column columns[] = {TPI_COLUMN(ID, struct place, id),
                                                TPI_COLUMN(NUMBER, struct place, at), TPI_COLUMN_END};
    struct tpi_args args;
    struct tpi_stmt *stmt = NULL;
    size_t count = 0, left = pages->read_max - pages->read, most = left < PART ? left : PART;
    page_args(pages, most, &args);
    enum tpi_statement statement =
        pages->way == BY_CHANGE ? TPI_S_range_finished_by_change : TPI_S_range_finished;
    tp_status status = tpi_store_query(&pages->conn->store, statement, &args, &stmt);
    /* cppcheck-suppress knownConditionTrueFalse ; a page reads on only where it may read more */
    while (status == TP_OK && count < most && (status = tpi_record_next(stmt, columns, NULL, end)) == TP_OK)
        count++;
    tpi_stmt_close(stmt);
    if (status < 0) return status;
    pages->read += count;
    *last = status == TP_NONE;
    return TP_OK;
}

/* Where the part was read to its end, the next begins behind that. */
static void pass_part(struct pages *pages, const struct place *end) {
    memcpy(pages->batch->page.after_id, pages->way == BY_CHANGE ? LAST_ID : end->id, TPI_UUID_SIZE);
    if (pages->way == BY_CHANGE) pages->batch->page.after_at = end->at;
}

static tp_status read_next(struct pages *pages, bool *more) {
    struct tpi_args args;
    struct place end = {LAST_ID, 0};
    size_t room = pages->limit - pages->batch->count, got = 0;
    bool last = true;
    tp_status status = pages->in_parts ? find_end(pages, &end, &last) : TP_OK;
    if (status != TP_OK) return status;
    page_args(pages, room, &args);
    if (!last && pages->way == BY_CHANGE) tpi_args_number(&args, TPI_P_until, end.at);
    if (!last && pages->way == BY_ID) tpi_args_text(&args, TPI_P_until_id, end.id);
    status = read_part(pages, &args, room, &got);
    if (status == TP_OK && got < room && !last) pass_part(pages, &end);
    *more = got == room || !last;
    return status;
}

/* ---- Given ids ----------------------------------------------------------------------------------------- */

/* Those of the group behind what was looked at; when it has no more, group is NULL. */
static tp_status next_of_group(struct pages *pages) {
    struct tpi_ids found = {.all = NULL};
    tp_status status =
        tpi_select_group(pages->conn, pages->group, false, pages->batch->page.after_id, BLOCK, &found);
    free(pages->ids.all);
    pages->ids = found;
    if (found.count < BLOCK) pages->group = NULL;
    return status;
}

static tp_status read_given(struct pages *pages, bool *more) {
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args;
    struct tpi_ids *all = &pages->ids;
    size_t room = pages->limit - pages->batch->count, got = 0;
    bool used_up = !all->count || strcmp(all->all[all->count - 1], pages->batch->page.after_id) <= 0;
    tp_status status = used_up && pages->group ? next_of_group(pages) : TP_OK;
    if (status != TP_OK) return status;
    size_t count =
        tpi_ids_behind(all, pages->batch->page.after_id, room < TPI_LIST_MAX ? room : TPI_LIST_MAX, ids);
    *more = (count && ids[count - 1] != all->all[all->count - 1]) || pages->group;
    if (!count) return TP_OK;
    page_args(pages, room, &args);
    tpi_args_list(&args, ids, count);
    status = read_part(pages, &args, count, &got);
    if (pages->by_group) pages->read += count;
    memcpy(pages->batch->page.after_id, ids[count - 1], TPI_UUID_SIZE);
    return status;
}

/* ---- The calls ----------------------------------------------------------------------------------------- */

static tp_status read_page(struct pages *pages) {
    tp_status status = TP_OK;
    bool more = true;
    while (status == TP_OK && more && pages->batch->count < pages->limit && pages->read < pages->read_max)
        status = pages->way == GIVEN ? read_given(pages, &more) : read_next(pages, &more);
    pages->batch->page.more = more;
    return status == TP_OK && pages->batch->count == 0 && !more ? TP_NONE : status;
}

tp_status tp_list(tp_conn *conn, const tp_list_request *given, tp_batch **out) {
    struct pages pages = {.conn = conn};
    tp_list_request request;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!given || !out) return tpi_error(TP_MISUSE, "tp_list: an argument is NULL");
    status = tpi_read_sized(TPI_SIZED_list_request, given, &request);
    if (status != TP_OK) return status;
    pages.batch = tpi_batch_new();
    if (!pages.batch) return tpi_link_no_memory(&conn->store.link);
    status = begin(&request, &pages);
    if (status == TP_OK) status = read_page(&pages);
    free(pages.ids.all);
    if (status == TP_OK)
        *out = pages.batch;
    else
        tp_batch_free(pages.batch);
    return status;
}

tp_status tp_list_next(const tp_batch *batch, tp_list_request *request) {
    if (!batch || !request || !tpi_sized_is_whole(TPI_SIZED_list_request, request))
        return tpi_error(TP_MISUSE, "tp_list_next: an argument is NULL, or of an older program");
    if (!batch->page.more) return TP_NONE;
    request->after_id = batch->page.after_id;
    request->after_at = batch->page.after_at > 0 ? batch->page.after_at : 0;
    return TP_OK;
}
