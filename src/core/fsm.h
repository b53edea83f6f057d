/* The one door for states: a pure table from (pool, state, event, facts) to what shall be written. Nothing
 * else in the library decides a state. The claim statements under sql/ carry out these rules for many rows at
 * once; the conformance suite compares them with this table. */
#ifndef TPI_CORE_FSM_H
#define TPI_CORE_FSM_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool.h"

/* X(enumerator, "name in the database") */
#define TPI_POOL_LIST(X)                                                                                     \
    X(TPI_POOL_PENDING, "pending")                                                                           \
    X(TPI_POOL_FINISHED, "finished")                                                                         \
    X(TPI_POOL_FAILED, "failed")

#define TPI_STATE_LIST(X)                                                                                    \
    X(TPI_STATE_PENDING, "pending")                                                                          \
    X(TPI_STATE_HANDLING, "handling")                                                                        \
    X(TPI_STATE_FAILED, "failed")                                                                            \
    X(TPI_STATE_DONE, "done")                                                                                \
    X(TPI_STATE_SKIPPED, "skipped")

/* X(enumerator, "name", is it asked by the holder of a claim) */
#define TPI_EVENT_LIST(X)                                                                                    \
    X(TPI_EVENT_CLAIM, "claim", 0)                                                                           \
    X(TPI_EVENT_HOLD, "hold", 0)                                                                             \
    X(TPI_EVENT_COMPLETE, "complete", 1)                                                                     \
    X(TPI_EVENT_SKIP, "skip", 1)                                                                             \
    X(TPI_EVENT_FAIL, "fail", 1)                                                                             \
    X(TPI_EVENT_GIVE_UP, "give-up", 1)                                                                       \
    X(TPI_EVENT_RELEASE, "release", 1)                                                                       \
    X(TPI_EVENT_EXTEND, "extend", 1)                                                                         \
    X(TPI_EVENT_RETRY, "retry", 0)                                                                           \
    X(TPI_EVENT_DROP, "drop", 0)                                                                             \
    X(TPI_EVENT_FREE, "free", 0)                                                                             \
    X(TPI_EVENT_EDIT, "edit", 0)                                                                             \
    X(TPI_EVENT_CANCEL, "cancel", 0)

enum tpi_pool {
#define TPI_ENUM(id, name) id,
    TPI_POOL_LIST(TPI_ENUM) TPI_POOL_COUNT
};
enum tpi_state { TPI_STATE_LIST(TPI_ENUM) TPI_STATE_COUNT };
#undef TPI_ENUM
enum tpi_event {
#define TPI_ENUM(id, name, holder) id,
    TPI_EVENT_LIST(TPI_ENUM) TPI_EVENT_COUNT
#undef TPI_ENUM
};

/* What is known of the row. */
struct tpi_facts {
    int32_t failures;
    int32_t max_failures; /* the failure that is the last; at least 1 */
    bool due;             /* due_at <= now, by the database's clock */
    bool holder;          /* the row's owner is the asker's token */
    tp_lapse on_lapse;    /* what a lapsed lease means */
    bool unwanted;        /* it was cancelled, or its deadline has passed */
};

enum tpi_due { TPI_DUE_KEEP, TPI_DUE_NOW, TPI_DUE_LEASE, TPI_DUE_DELAY };

/* What shall be written. verdict TP_OK or TP_EXHAUSTED: the rest holds. Otherwise nothing is to be written.
 */
struct tpi_change {
    tp_status verdict;
    bool written; /* false: an earlier try of the same request wrote it already */
    enum tpi_pool pool;
    enum tpi_state state;
    int32_t failures;
    enum tpi_due due;
    bool lapsed; /* the failure counted is a lapsed lease */
};

/* verdict TP_LOST: the asker does not hold the row, or it is settled otherwise. TP_NONE: the event does not
 * apply (not due, nothing to retry). */
struct tpi_change tpi_fsm_decide(enum tpi_pool pool, enum tpi_state state, enum tpi_event event,
                                 const struct tpi_facts *facts);

const char *tpi_pool_name(enum tpi_pool pool);
const char *tpi_state_name(enum tpi_state state);
const char *tpi_event_word(enum tpi_event event);
/* False: no such name. */
bool tpi_pool_parse(const char *name, enum tpi_pool *pool);
bool tpi_state_parse(const char *name, enum tpi_state *state);

#endif
