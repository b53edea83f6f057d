/* Tasks in memory: rows of a claim, a list or a show, with their strings and with fields that the caller
 * does not see. It must not know what is done to tasks. Read next: batch.c, hold.h. */
#ifndef TPI_OPS_BATCH_H
#define TPI_OPS_BATCH_H

#include "base/sha256.h"
#include "base/texts.h"
#include "core/fsm.h"
#include "ops/conn.h"

/* A task that was locked and not marked, and its row as it was then. */
enum tpi_hold_stage { TPI_HOLD_LOCKED, TPI_HOLD_MARKED, TPI_HOLD_SETTLED, TPI_HOLD_CLAIMED };
struct tpi_hold {
    enum tpi_hold_stage stage; /* marked, claimed: held by its token, like any claimed task */
    uint64_t transaction;      /* the one that has the lock */
    const char *state;
    int64_t due_at, modified_at;
    int64_t locked_at; /* by the database's clock */
    bool lapse;        /* was written in the transaction; before, the row was handling and ... */
    int64_t lapse_modified_at;
    const char *token; /* claimed: the one before, under which it was locked */
};

/* A task and what the caller does not see of it. The public task comes first: the one is cast to the other.
 */
struct tpi_slot {
    tp_task task;
    tp_batch *batch;
    struct tpi_hold hold;   /* of a task of plan hold, see hold.h */
    int64_t failures_there; /* as the row has them; the task's are what can be counted on from */
    int64_t waited_ms;      /* from when it was due to its claim, both by the database's clock */
    int long_params;        /* 1: they were not read with the row */
    enum tpi_pool pool;     /* that holds the row */
    char *own_params;       /* long ones, read by tp_task_params; NULL: not read */
    /* What it has read, once: its length and SHA-256. "": nothing. */
    size_t read_length;
    char read_digest[TPI_SHA256_SIZE];
    /* It is not wanted any more, and was given out because it is in progress here; as tpi_cancel_fn has them.
     * NULL: it is wanted, as far as the claim knows. */
    const char *unwanted_who, *unwanted_why;
};

struct tp_batch {
    struct tpi_slot *slots;
    size_t count, capacity;
    size_t moved; /* by the claim that made it: tasks that it put aside instead of giving them out */
    struct tpi_texts texts;
    const char *handler; /* of rows that come without: all are of one lane */
    /* Of a list: how far its page went. */
    struct {
        bool more;
        char after_id[TPI_UUID_SIZE];
        int64_t after_at; /* -1: the order is that of ids */
    } page;
};

/* The columns a statement gives, in this order:
 *   id handler biz_key params long_params reason state shard priority failures max_failures created_at due_at
 * TPI_ROWS_HELD are of the batch's handler and give biz_key reason, and one text: the id, numbers
 * (tpi_record_split) created_at,now,max_failures,shard,priority,failures,long_params,due_at,modified_at/ and
 * state, owner and params, with ASCII's unit separator behind each of id, state and owner (tpi_record_cut).
 * The numbers from shard on, state and owner are missing where they are as they are of most tasks.
 * TPI_ROWS_CLAIMED goes on with wanted_at, TPI_ROWS_LIST with dedup_key owner modified_at settled_at gate
 * deadline_at, TPI_ROWS_SHOW after these with pool wanted_at. */
enum tpi_rows { TPI_ROWS_CLAIM, TPI_ROWS_HELD, TPI_ROWS_CLAIMED, TPI_ROWS_LIST, TPI_ROWS_SHOW };
enum { TPI_COLUMNS_HELD = 3, TPI_COLUMNS_CLAIM = 13, TPI_COLUMNS_LIST = 19 };

tp_batch *tpi_batch_new(void);
/* A new slot at the end, empty; NULL: no memory. */
struct tpi_slot *tpi_batch_add(tp_batch *batch);
/* Reads the next row into a new slot at the end. pool: what holds the row (TPI_ROWS_SHOW reads it). TP_NONE:
 * there is none. */
TP_CHECKED tp_status tpi_batch_next(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows,
                                    enum tpi_pool pool);
/* Reads rows to the end, or to limit when it is not 0; closes the result. */
TP_CHECKED tp_status tpi_batch_read_all(tp_batch *batch, struct tpi_stmt *stmt, enum tpi_rows rows,
                                        enum tpi_pool pool, size_t limit);
void tpi_batch_drop_last(tp_batch *batch);

/* The wait of a task that was due since then and is claimed at that time; 0 where a row written by hand says
 * what is no time. */
int64_t tpi_batch_wait(int64_t since, int64_t claimed_at);

/* Reads long params for tpi_content_compare, and gives them back. */
TP_CHECKED tp_status tpi_params_note(tp_conn *conn, const tp_task *task);

#endif
