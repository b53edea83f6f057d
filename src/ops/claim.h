/* The claim plans. Each takes up to tpi_claim_room due tasks of the lanes for claim->token, and adds them
 * to claim->batch, or to claim->marked when they are to be read back by the token; what it took before a
 * failure stays taken and is found again by the token. Read next: claim.c, claim_lanes.c, then a plan. */
#ifndef TPI_OPS_CLAIM_H
#define TPI_OPS_CLAIM_H

#include "base/error.h"
#include "base/wake.h"
#include "ops/batch.h"

enum {
    TPI_WINDOW_MAX =
        TP_CLAIM_MAX,   /* how far a claim looks down the due tasks when others hold the first ones */
    TPI_LANES_MAX = 32, /* lanes in one statement */
};

/* See claim_lanes.c. */
struct tpi_lane {
    const char *handler;
    const char *shard; /* as digits; NULL: all */
    int64_t priority;
    int64_t ahead; /* nothing is taken when the handler has tasks of a priority from here to its own */
    int64_t since; /* when its first task was due, when it was looked at: nothing is taken from before */
    bool due;
    bool more; /* there are lanes behind it, which claim_lanes is to be asked for */
};

/* Lanes of one priority, which a plan takes from together. */
struct tpi_lanes {
    const struct tpi_lane *all;
    size_t count;
    bool guessed; /* one, of which nobody looked whether it is still the first */
};

/* What is asked for: each of the handlers, or of each the shards. */
struct tpi_scopes {
    const char *const *handlers;
    size_t handler_count;
    const char *const *shards; /* as digits */
    size_t shard_count;        /* 0: all */
};

struct tpi_claim {
    tp_conn *conn;
    const tp_claim_request *request;
    const struct tpi_arrival *arrival; /* tasks that have just come; NULL: nothing is known */
    size_t limit;
    int64_t lease_ms;
    char *token; /* the request's */
    tp_batch *batch;
    bool asked_again;              /* the batch is what an earlier try took */
    int64_t began_ms;              /* by tpi_clock_boot_ms */
    size_t marked;                 /* rows that carry the token and are not yet read back */
    struct tpi_kept_error refused; /* why a lapsed task could not be put aside; status TP_OK: none */
};

/* Reads the caller's request. TP_MISUSE, TP_TOOBIG or TP_UNSUPPORTED with text unless it can run on conn now.
 * Chooses the plan. */
TP_CHECKED tp_status tpi_claim_check(tp_conn *conn, const tp_claim_request *given, tp_claim_request *request,
                                     enum tpi_plan *plan);
/* The same for what does not claim. */
TP_CHECKED tp_status tpi_claim_read(tp_conn *conn, const tp_claim_request *given, tp_claim_request *request);

typedef tp_status tpi_claim_plan_fn(struct tpi_claim *claim, const struct tpi_lanes *lanes);
tpi_claim_plan_fn tpi_claim_by_row, tpi_claim_by_batch, tpi_claim_by_skip, tpi_claim_by_hold,
    tpi_claim_by_cas;

/* Is there a lane, or one that is due? Without a lock. */
TP_CHECKED tp_status tpi_claim_find_lane(tp_conn *conn, const struct tpi_scopes *scopes, bool due,
                                         bool *found);
/* Calls take for the lanes that are due until there is no more room (claim_lanes.c). */
TP_CHECKED tp_status tpi_claim_by_lanes(struct tpi_claim *claim, const struct tpi_scopes *scopes,
                                        enum tpi_plan plan, tpi_claim_plan_fn *take);

/* ---- What plans share (claim_plan.c) ------------------------------------------------------------------- */

/* The shards' digits, which must live as long as the scopes. */
struct tpi_claim_shards {
    char digits[TP_CLAIM_SHARDS_MAX][12];
    const char *list[TP_CLAIM_SHARDS_MAX];
};
void tpi_claim_set_shards(const tp_claim_request *request, struct tpi_claim_shards *shards,
                          struct tpi_scopes *scopes);
/* How many tasks are still wanted; none when waiting for others' locks has used up much of the first ones'
 * lease. */
size_t tpi_claim_room(const struct tpi_claim *claim);
/* Runs a statement that picks the first limit tasks. window: how many due tasks hold_take looks at, whoever
 * holds them. */
TP_CHECKED tp_status tpi_claim_query(const struct tpi_claim *claim, const struct tpi_lanes *lanes,
                                     enum tpi_statement statement, size_t limit, size_t window,
                                     struct tpi_stmt **stmt);
/* One that marks as many as there is room for. */
TP_CHECKED tp_status tpi_claim_change(struct tpi_claim *claim, const struct tpi_lanes *lanes,
                                      enum tpi_statement statement);
/* Arguments of statements that mark given tasks. */
void tpi_claim_mark_args(const struct tpi_claim *claim, struct tpi_args *args);
/* The rows that the token holds, into the batch. */
TP_CHECKED tp_status tpi_claim_read_back(struct tpi_claim *claim);
/* Calls take with the picked ids, at most step at a time, until there is no more room or no more due. Others
 * may hold the first ones while more is due behind them: then the next look goes further down. */
typedef tp_status tpi_claim_take_fn(struct tpi_claim *claim, const char *const *ids, size_t count);
TP_CHECKED tp_status tpi_claim_pick_and_take(struct tpi_claim *claim, const struct tpi_lanes *lanes,
                                             size_t step, tpi_claim_take_fn *take);
/* Locks picked rows past those that others hold; the rows are to be read as candidates. */
TP_CHECKED tp_status tpi_claim_skip_lock(struct tpi_claim *claim, const char *const *ids, size_t count,
                                         struct tpi_stmt **stmt);

/* What a row looked like when it was read. */
struct tpi_seen {
    const char *state, *owner;
    int64_t due_at, modified_at;
    int64_t now; /* by the database's clock */
};
/* Reads the next row of claim_candidates, claim_lock, claim_skip_lock or hold_take into a slot at the end of
 * the batch; its task's owner is whoever held it. TP_NONE: there is none. */
TP_CHECKED tp_status tpi_claim_next(struct tpi_claim *claim, struct tpi_stmt *stmt, struct tpi_seen *seen);
/* Decides by the state table whether a row as seen may be claimed, and makes the task in the slot look as it
 * will be written. TP_NONE: not to be claimed. A last lapse is taken as well: tp_claim moves it on. */
TP_CHECKED tp_status tpi_claim_decide(const struct tpi_claim *claim, struct tpi_slot *slot,
                                      const struct tpi_seen *seen);
typedef tp_status tpi_claim_slot_fn(const struct tpi_claim *claim, struct tpi_slot *slot,
                                    const struct tpi_seen *seen);
/* Reads rows that this session has locked, as long as there is room, and keeps those for which take answers
 * TP_OK; those for which it answers TP_NONE are left alone. Closes stmt. */
TP_CHECKED tp_status tpi_claim_read_locked(struct tpi_claim *claim, struct tpi_stmt *stmt,
                                           tpi_claim_slot_fn *take);

/* ---- Lapsed leases (claim_lapse.c) ------------------------------------------------------------------------
 */

/* The reason that a claim of this row writes, owned by the batch; NULL: out of memory. */
const char *tpi_lapse_reason(const tp_task *task, bool now, tp_batch *batch);
/* What the state table says of a task whose lease lapsed when it was claimed or held (event); its failures
 * count the lapse already. */
struct tpi_change tpi_lapse_change(const struct tpi_claim *claim, const tp_task *task, enum tpi_event event);
/* Records the lapse that the task's reason speaks of. */
TP_CHECKED tp_status tpi_lapse_tell(tp_conn *conn, const tp_task *task);
/* The batch is marked. Records the lapses in it and moves those tasks on that are not to be handled again.
 * *moved gets their number. */
TP_CHECKED tp_status tpi_lapse_put_aside(struct tpi_claim *claim, size_t *moved);

#endif
