/* Claims: what one asks for, the plans that take tasks for it, and what the plans share. A plan takes up to
 * tpi_claim_room due tasks of the lanes for the claim's token, and adds them to claim->batch, or counts them
 * in claim->marked when they are to be read back by the token; what it took before a failure stays taken and
 * is found again by the token. Read next: claim.c, claim_lanes.c, then a plan. */
#ifndef TPI_OPS_CLAIM_H
#define TPI_OPS_CLAIM_H

#include "base/error.h"
#include "base/wake.h"
#include "ops/batch.h"
#include "ops/for_workers.h"

enum {
    TPI_WINDOW_MAX =
        TP_CLAIM_MAX,     /* how far a claim looks down the due tasks when others hold the first ones */
    TPI_LANES_MAX = 32,   /* lanes in one statement */
    TPI_LEASE_MS = 60000, /* where none is given */
};

/* The tasks of one handler with one priority, and of one shard when shards are asked for; see claim_lanes.c.
 */
struct tpi_lane {
    const char *handler;
    const char *shard; /* as digits; NULL: all */
    int64_t priority;
    int64_t ahead; /* nothing is taken when the handler has tasks of a priority from here to its own */
    int64_t since; /* when its first task was due, when it was read: nothing is taken from before */
    bool due;
    bool more; /* the handler may have lanes of a later priority, which are not read yet */
};

/* Lanes of one priority, which a plan takes from together. */
struct tpi_lanes {
    const struct tpi_lane *all;
    size_t count;
    bool guessed; /* one, of which nobody asked whether it is still the first */
};

/* What a claim is asked for: tasks of each of the handlers, or of each handler and shard. Points into itself,
 * so it must not be copied. */
struct tpi_scopes {
    const char *const *handlers;
    size_t handler_count;
    const char *shards[TP_CLAIM_SHARDS_MAX]; /* as digits */
    size_t shard_count;                      /* 0: all */
    /* What the two lists point to. */
    const char *not_paused[TP_CLAIM_HANDLERS_MAX];
    char digits[TP_CLAIM_SHARDS_MAX][12];
};
/* Fills them from the request, with its paused handlers or without. */
TP_CHECKED tp_status tpi_claim_scopes(tp_conn *conn, const tp_claim_request *request, bool with_paused,
                                      struct tpi_scopes *scopes);

struct tpi_claim;
typedef tp_status tpi_claim_plan_fn(struct tpi_claim *claim, const struct tpi_lanes *lanes);
tpi_claim_plan_fn tpi_claim_by_row, tpi_claim_by_batch, tpi_claim_by_skip, tpi_claim_by_hold,
    tpi_claim_by_cas;

struct tpi_claim {
    /* What is asked for. */
    tp_conn *conn;
    tp_claim_request *request; /* with its token */
    enum tpi_plan plan;
    tpi_claim_plan_fn *take;           /* the plan's */
    const struct tpi_arrival *arrival; /* tasks that have just come; NULL: nothing is known */
    bool taken_only;                   /* what an earlier try took, and nothing new */
    tpi_known_fn *known;               /* what this process knows of a task; NULL: nothing */
    size_t limit;
    int64_t lease_ms;
    /* What was taken so far. */
    int64_t began_ms; /* by tpi_clock_boot_ms */
    tp_batch *batch;
    size_t marked; /* rows that carry the token and are not yet read back */
    size_t left;   /* rows that were locked and left alone */
};

/* Reads the caller's request. TP_MISUSE, TP_TOOBIG or TP_UNSUPPORTED with text unless it can run on conn now.
 * Chooses the plan. */
TP_CHECKED tp_status tpi_claim_check(tp_conn *conn, const tp_claim_request *given, tp_claim_request *request,
                                     enum tpi_plan *plan);

/* Is there a lane, or one that is due? Without a lock. first, if not NULL, gets that lane when all that a
 * claim would take before it, or together with it, is known to be nothing; else it stays as it is. */
TP_CHECKED tp_status tpi_claim_find_lane(tp_conn *conn, const struct tpi_scopes *scopes, bool due,
                                         bool *found, struct tpi_arrival *first);
/* Calls the plan for the lanes that are due until there is no more room (claim_lanes.c). */
TP_CHECKED tp_status tpi_claim_by_lanes(struct tpi_claim *claim, const struct tpi_scopes *scopes);

/* ---- What plans share (claim_plan.c) ------------------------------------------------------------------- */

/* How many tasks are still wanted; none when waiting for others' locks has used up much of the first ones'
 * lease. */
size_t tpi_claim_room(const struct tpi_claim *claim);
/* Runs a statement that picks the first limit tasks. window: how many due tasks hold_take reads, whoever
 * holds them. */
TP_CHECKED tp_status tpi_claim_query(const struct tpi_claim *claim, const struct tpi_lanes *lanes,
                                     enum tpi_statement statement, size_t limit, size_t window,
                                     struct tpi_stmt **stmt);
/* Runs one that marks as many as there is room for. */
TP_CHECKED tp_status tpi_claim_change(struct tpi_claim *claim, const struct tpi_lanes *lanes,
                                      enum tpi_statement statement);
/* Before a statement whose rows may come without a handler, for they are all of the one lane. */
TP_CHECKED tp_status tpi_claim_one_handler(const struct tpi_claim *claim, const struct tpi_lanes *lanes);
/* Arguments of statements that mark given tasks. */
void tpi_claim_mark_args(const struct tpi_claim *claim, struct tpi_args *args);
/* Empties the batch, and reads the rows that the token holds into it. */
TP_CHECKED tp_status tpi_claim_read_back(struct tpi_claim *claim);
/* Calls take with the picked ids, at most step at a time, until there is no more room or no more due. Others
 * may hold the first ones while more is due behind them: then the next pick goes further down. */
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
TP_CHECKED tp_status tpi_claim_decide(struct tpi_claim *claim, struct tpi_slot *slot,
                                      const struct tpi_seen *seen);
typedef tp_status tpi_claim_slot_fn(struct tpi_claim *claim, struct tpi_slot *slot,
                                    const struct tpi_seen *seen);
/* Reads rows (TPI_ROWS_CLAIM or TPI_ROWS_HELD) that this session has locked, as long as there is room, and
 * keeps those for which take answers TP_OK; those for which it answers TP_NONE are left alone. Closes stmt.
 */
TP_CHECKED tp_status tpi_claim_read_locked(struct tpi_claim *claim, struct tpi_stmt *stmt, enum tpi_rows rows,
                                           tpi_claim_slot_fn *take);

/* ---- Lapsed leases (claim_lapse.c) --------------------------------------------------------------------- */

/* The reason that a claim of this row writes, owned by the batch; NULL: out of memory. */
const char *tpi_lapse_reason(const tp_task *task, bool now, tp_batch *batch);
/* What the process knows of the task, which it may know of other content. Its params may be read for it. */
TP_CHECKED tp_status tpi_lapse_know(const struct tpi_claim *claim, const tp_task *task,
                                    enum tpi_known *known);
/* What the state table says of a task whose lease lapsed when it was claimed or held (event); its failures
 * count the lapse already. */
struct tpi_change tpi_lapse_change(const struct tpi_claim *claim, const tp_task *task, enum tpi_event event,
                                   enum tpi_known known);
/* Records the lapse that the task's reason speaks of in the history. once: unless it is there. */
TP_CHECKED tp_status tpi_lapse_record(tp_conn *conn, const tp_task *task, bool once);
/* Under plan hold this transaction moves the task on, or was refused that: if it is still there when a rule
 * has refused this, or the commit, the next ones leave it alone for a while. */
void tpi_lapse_leave_alone(const struct tpi_claim *claim, const char *id, bool refused);
bool tpi_lapse_left_alone(const struct tpi_claim *claim, const char *id);
/* The batch is marked. Records the lapses in it (once: an earlier try may have), moves those tasks on that
 * are not to be handled again, and takes them out of the batch, which counts them as moved. *refused gets why
 * one of them could not be moved on, its status TP_OK when all could. */
TP_CHECKED tp_status tpi_lapse_put_aside(struct tpi_claim *claim, bool once, struct tpi_kept_error *refused);

#endif
