/* Claims lane by lane. A lane is the open tasks of one handler with one priority (and one shard, when shards
 * are asked for). In the index they stand in the order in which they are due, so the first n due tasks are
 * the first n entries, however many others wait in it or in other lanes. Lanes of one priority are asked for
 * together, the more urgent ones first. Two lanes are tried without asking which ones exist: the one that
 * filled the last claim, from its first task on, and one in which the caller knows of tasks. Where a
 * statement returns only the first lane of each handler, the next ones are asked for when all of it has been
 * taken. It must not know how a plan takes tasks. Read next: claim_plan.c. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "ops/claim.h"
#include "ops/pause.h"
#include "store/record.h"

/* SCOPES_MAX: in one statement, so that who has many and finds nothing asks little. Databases limit how many
 * parts a statement has: HEADS_MAX where each scope is a query with a subquery (some servers refuse 64). */
enum { SCOPES_MAX = 256, HEADS_MAX = 48, PRIORITY_MIN = -32768 };

/* How long the first task of a lane is thought to be so: KNOWN_TIMES as long as finding it took, which is
 * then a tenth of the time, between the two bounds. */
enum { KNOWN_TIMES = 9, KNOWN_LEAST_MS = 1000, KNOWN_MOST_MS = 10000 };

/* ---- Which lanes there are ----------------------------------------------------------------------------- */

struct lanes {
    struct tpi_lane *all; /* by priority, then by when they were due */
    size_t count, capacity;
};

static bool add(struct lanes *lanes, const struct tpi_lane *lane) {
    if (lanes->count == lanes->capacity) {
        size_t capacity = lanes->capacity ? lanes->capacity * 2 : 16;
        struct tpi_lane *all = realloc(lanes->all, capacity * sizeof *all);
        if (!all) return false;
        lanes->all = all;
        lanes->capacity = capacity;
    }
    lanes->all[lanes->count++] = *lane;
    return true;
}

struct answer {
    int64_t number, priority, due_at, now_ms, last;
};

/* TP_NONE: no more rows. */
static tp_status read_lane(tp_conn *conn, struct tpi_stmt *stmt, const struct lanes *behind,
                           struct lanes *lanes) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(NUMBER, struct answer, number),
        TPI_COLUMN(NUMBER, struct answer, priority),
        TPI_COLUMN(NUMBER, struct answer, due_at),
        TPI_COLUMN(EXACT, struct answer, now_ms),
        TPI_COLUMN_END,
    };
    static const struct tpi_column last_column[] = {TPI_COLUMN(EXACT, struct answer, last), TPI_COLUMN_END};
    struct answer answer = {0};
    tp_status status = tpi_record_next(stmt, columns, NULL, &answer);
    answer.last = answer.priority;
    if (status == TP_OK && (conn->store.caps & TPI_CAP_LANE_HEADS))
        status = tpi_record_read(stmt, 5, last_column, NULL, &answer);
    if (status != TP_OK) return status;
    if (answer.number < 0 || (size_t)answer.number >= behind->count)
        return tpi_error(TP_DB, "claim_lanes answered for a scope that was not asked for");
    struct tpi_lane lane = {.handler = behind->all[answer.number].handler,
                            .shard = behind->all[answer.number].shard,
                            .priority = answer.priority,
                            .ahead = answer.priority,
                            .since = answer.due_at,
                            .due = answer.due_at <= answer.now_ms,
                            .more = answer.last > answer.priority};
    return add(lanes, &lane) ? TP_OK : tpi_link_no_memory(&conn->store.link);
}

/* One statement: adds the lanes behind some of those given. */
static tp_status ask_some(tp_conn *conn, const struct lanes *behind, size_t from, size_t count,
                          struct lanes *lanes) {
    struct tpi_stmt *stmt = NULL;
    struct tpi_args *args = calloc(count, sizeof *args);
    if (!args) return tpi_link_no_memory(&conn->store.link);
    for (size_t i = 0; i < count; i++) {
        const struct tpi_lane *lane = &behind->all[from + i];
        tpi_args_number(&args[i], TPI_P_at, (int64_t)(from + i));
        tpi_args_text(&args[i], TPI_P_handler, lane->handler);
        tpi_args_shard(&args[i], &lane->shard);
        tpi_args_number(&args[i], TPI_P_priority, lane->priority + 1);
    }
    tp_status status = tpi_store_query_rows(&conn->store, TPI_S_claim_lanes, args, count, &stmt);
    free(args);
    while (status == TP_OK)
        status = read_lane(conn, stmt, behind, lanes);
    if (stmt) tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}

static int by_priority(const void *a, const void *b) {
    const struct tpi_lane *one = a, *other = b;
    int order = (one->priority > other->priority) - (one->priority < other->priority);
    return order ? order : (one->since > other->since) - (one->since < other->since);
}

/* Lanes of a handler that was paused since the connection knew of none are as if nothing in them were due. */
static tp_status leave_out_paused(tp_conn *conn, struct lanes *lanes) {
    bool due = false;
    for (size_t i = 0; i < lanes->count; i++)
        due = due || lanes->all[i].due;
    tp_status status = due ? tpi_pause_refresh(conn) : TP_OK;
    for (size_t i = 0; i < lanes->count; i++)
        if (tpi_pause_knows(conn, lanes->all[i].handler)) lanes->all[i].due = false;
    return status;
}

/* Puts in the place of the first lanes those that come behind them. *more: there may be such. */
static tp_status go_on(tp_conn *conn, struct lanes *lanes, size_t count, bool *more) {
    size_t most = conn->store.caps & TPI_CAP_LANE_HEADS ? HEADS_MAX : SCOPES_MAX;
    struct lanes behind = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < count && status == TP_OK; i++)
        if (lanes->all[i].more && !add(&behind, &lanes->all[i]))
            status = tpi_link_no_memory(&conn->store.link);
    *more = behind.count > 0;
    if (status == TP_OK && *more) {
        lanes->count -= count;
        memmove(lanes->all, lanes->all + count, lanes->count * sizeof *lanes->all);
        for (size_t from = 0; from < behind.count && status == TP_OK; from += most) {
            size_t left = behind.count - from;
            status = ask_some(conn, &behind, from, left < most ? left : most, lanes);
        }
        if (status == TP_OK) status = leave_out_paused(conn, lanes);
        if (lanes->count) qsort(lanes->all, lanes->count, sizeof *lanes->all, by_priority);
    }
    free(behind.all);
    return status;
}

/* All lanes, or where claim_lanes gives heads the first of each scope: those behind what is before the first.
 */
static tp_status ask_first(tp_conn *conn, const struct tpi_scopes *scopes, struct lanes *lanes) {
    size_t shards = scopes->shard_count ? scopes->shard_count : 1;
    struct tpi_lane before = {.priority = PRIORITY_MIN - 1, .more = true};
    bool more = false;
    for (size_t i = 0; i < scopes->handler_count * shards; i++) {
        before.handler = scopes->handlers[i / shards];
        before.shard = scopes->shard_count ? scopes->shards[i % shards] : NULL;
        if (!add(lanes, &before)) return tpi_link_no_memory(&conn->store.link);
    }
    return go_on(conn, lanes, lanes->count, &more);
}

/* Is the lane the only one of its priority that is due, none that is more urgent left to be read, and none of
 * the handler's more urgent at all? A claim of what is known leaves a lane with such a one alone. */
static bool is_first(const struct lanes *lanes, const struct tpi_lane *lane) {
    for (size_t i = 0; i < lanes->count; i++) {
        const struct tpi_lane *other = &lanes->all[i];
        bool urgent = other->priority < lane->priority;
        if (urgent && (other->more || other->handler == lane->handler)) return false;
        if (other != lane && other->due && other->priority == lane->priority) return false;
    }
    return true;
}

tp_status tpi_claim_find_lane(tp_conn *conn, const struct tpi_scopes *scopes, bool due, bool *found,
                              struct tpi_arrival *first) {
    struct lanes lanes = {0};
    *found = false;
    tp_status status = ask_first(conn, scopes, &lanes);
    for (bool more = true; status == TP_OK && more && !*found;) {
        size_t i = 0;
        while (i < lanes.count && due && !lanes.all[i].due)
            i++;
        *found = i < lanes.count;
        if (!*found)
            status = go_on(conn, &lanes, lanes.count, &more);
        else if (first && is_first(&lanes, &lanes.all[i]))
            *first = (struct tpi_arrival){lanes.all[i].handler, (int32_t)lanes.all[i].priority};
    }
    free(lanes.all);
    return status;
}

/* ---- Taking them --------------------------------------------------------------------------------------- */

/* The lanes that are not more urgent than any that is not known yet are left for later. */
static size_t count_first(const struct lanes *lanes) {
    size_t edge = 0, count = 0;
    while (edge < lanes->count && !lanes->all[edge].more)
        edge++;
    if (edge == lanes->count) return edge;
    while (count < lanes->count && lanes->all[count].priority <= lanes->all[edge].priority)
        count++;
    return count;
}

/* Lanes of one priority that are due are taken together, as many as one statement takes: of more lanes those
 * whose first tasks are the oldest, so that each gets its share. *last: the first of those taken last. */
static tp_status take_first(struct tpi_claim *claim, const struct lanes *lanes, size_t count, size_t *last) {
    tp_status status = TP_OK;
    for (size_t i = 0, some; i < count && tpi_claim_room(claim) && status == TP_OK; i += some ? some : 1) {
        const struct tpi_lane *first = &lanes->all[i];
        for (some = 0; i + some < lanes->count && some < TPI_LANES_MAX; some++)
            if (first[some].priority != first->priority || !first[some].due) break;
        if (!some) continue;
        *last = i;
        status = claim->take(claim, &(struct tpi_lanes){.all = first, .count = some});
    }
    return status;
}

static tp_status take_all(struct tpi_claim *claim, struct lanes *lanes, size_t *last) {
    tp_status status = TP_OK;
    for (bool more = true; more && status == TP_OK;) {
        size_t count = count_first(lanes);
        status = take_first(claim, lanes, count, last);
        more = status == TP_OK && tpi_claim_room(claim);
        if (more) status = go_on(claim->conn, lanes, count, &more);
    }
    return status;
}

static tp_status take_guessed(struct tpi_claim *claim, const char *handler, int64_t priority, int64_t since) {
    struct tpi_lane lane = {.handler = handler, .priority = priority, .ahead = PRIORITY_MIN, .since = since};
    tp_status status = tpi_pause_refresh(claim->conn);
    if (status != TP_OK || tpi_pause_knows(claim->conn, handler)) return status;
    return claim->take(claim, &(struct tpi_lanes){.all = &lane, .count = 1, .guessed = true});
}

/* The handler whose tasks have just come, as far as the caller knows; NULL: none that may go first. */
static const char *known_by_caller(const struct tpi_claim *claim, const struct tpi_scopes *scopes) {
    const struct tpi_arrival *arrival = claim->arrival;
    if (!arrival || !arrival->handler || claim->request->in_order || scopes->shard_count) return NULL;
    for (size_t i = 0; i < scopes->handler_count; i++)
        if (strcmp(scopes->handlers[i], arrival->handler) == 0) return scopes->handlers[i];
    return NULL;
}

/* May the connection remember the lane that filled the last claim? Only of one handler and all shards, and
 * where the statement notices when another lane has become the more urgent one. */
static bool may_remember(const struct tpi_claim *claim, const struct tpi_scopes *scopes) {
    unsigned caps = claim->conn->store.caps;
    bool sees =
        claim->plan == TPI_PLAN_HOLD || (claim->plan == TPI_PLAN_SKIP && (caps & TPI_CAP_SKIP_RETURNING));
    return sees && scopes->handler_count == 1 && scopes->shard_count == 0 && (caps & TPI_CAP_KNOWN_LANE);
}

/* What was claimed stays in the index as long as somebody has an old snapshot, and reading the lane's head
 * walks over all of it. So claims begin where the first task was found last, and what comes before that waits
 * until it is asked for again. What takes long is asked the less often. first: the lane, when it filled the
 * claim; NULL: another did. */
static void remember(tp_conn *conn, const struct tpi_lane *first, int64_t asked_ms) {
    struct tpi_known_lane *known = &conn->known_lane;
    int64_t for_ms = asked_ms * KNOWN_TIMES;
    known->handler[0] = '\0';
    if (!first || strlen(first->handler) >= sizeof known->handler) return;
    if (for_ms < KNOWN_LEAST_MS) for_ms = KNOWN_LEAST_MS;
    memcpy(known->handler, first->handler, strlen(first->handler) + 1);
    known->priority = first->priority;
    known->since = first->since;
    known->until_ms = tpi_clock_mono_ms() + (for_ms < KNOWN_MOST_MS ? for_ms : KNOWN_MOST_MS);
}

tp_status tpi_claim_by_lanes(struct tpi_claim *claim, const struct tpi_scopes *scopes) {
    struct lanes lanes = {0};
    tp_conn *conn = claim->conn;
    const struct tpi_known_lane *known = &conn->known_lane;
    size_t room = tpi_claim_room(claim), last = SIZE_MAX;
    const char *handler = known_by_caller(claim, scopes);
    bool remembers = may_remember(claim, scopes);
    tp_status status = TP_OK;
    if (handler) status = take_guessed(claim, handler, claim->arrival->priority, INT64_MIN);
    if (status != TP_OK || tpi_claim_room(claim) < room) return status;
    handler = remembers ? scopes->handlers[0] : "";
    if (*handler && strcmp(known->handler, handler) == 0 && tpi_clock_mono_ms() < known->until_ms)
        status = take_guessed(claim, handler, known->priority, known->since);
    if (status != TP_OK || !tpi_claim_room(claim)) return status;
    int64_t asked_ms = -tpi_clock_mono_ms();
    status = ask_first(conn, scopes, &lanes);
    asked_ms += tpi_clock_mono_ms();
    if (status == TP_OK) status = take_all(claim, &lanes, &last);
    bool filled = lanes.count && lanes.all[0].due && last == 0 && !tpi_claim_room(claim);
    if (status == TP_OK && remembers) remember(conn, filled ? lanes.all : NULL, asked_ms);
    free(lanes.all);
    return status;
}
