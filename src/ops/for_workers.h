/* Functions that workers call besides the public ones: claims, transactions, workers' rows. For errors,
 * threads, transactions and the meaning of an answer see taskpool.h. */
#ifndef TPI_OPS_FOR_WORKERS_H
#define TPI_OPS_FOR_WORKERS_H

#include <stdbool.h>

#include "base/texts.h"
#include "base/wake.h"
#include "taskpool.h"

/* ---- Claims -------------------------------------------------------------------------------------------- */

/* Can tasks be claimed here by the plan of this name? NULL: the environment's. TP_MISUSE: no such plan.
 * TP_UNSUPPORTED: not on this database; nor plan hold where every node of a cluster takes writes, unless
 * Plan=hold stands in the connection string. */
TP_CHECKED tp_status tpi_plan_check(tp_conn *conn, const char *plan);
/* Is there a task that a claim of these handlers and shards might take now? Asked without a lock, cheaper
 * than a claim that finds nothing. TP_NONE: nothing is due, or the handlers are paused. first may be NULL. It
 * gets what is due of one handler and priority, for tpi_claim_known, when a claim would take nothing else
 * before it or together with it, and else stays as it is; the handler's name is the request's. */
TP_CHECKED tp_status tpi_any_due(tp_conn *conn, const tp_claim_request *request, struct tpi_arrival *first);
/* Is any task of these handlers and shards open: due or not, paused or not, whoever has it? TP_NONE: none. */
TP_CHECKED tp_status tpi_any_open(tp_conn *conn, const tp_claim_request *request);
/* What a process knows of a claimed task: its handler has ended well here for the same content, outside a
 * transaction, or is being called, or has ended and nobody can tell whether for the same. */
enum tpi_known { TPI_KNOWN_NOTHING, TPI_KNOWN_DONE, TPI_KNOWN_RUNS };
typedef enum tpi_known tpi_known_fn(const tp_env *env, const tp_task *task);
/* Has the task the params and the biz_key of an earlier claim of it? It may have been replaced or edited in
 * between. Long params are compared by what was read of them: the earlier claim's handler that read none did
 * not go by them. UNREAD: the later claim's were not read, and tpi_claim_known reads them of tasks that are
 * known. */
enum tpi_content { TPI_CONTENT_SAME, TPI_CONTENT_OTHER, TPI_CONTENT_UNREAD };
enum tpi_content tpi_content_compare(const tp_task *before, const tp_task *now);
/* tp_claim by who knows that these tasks have just come, which may spare a round trip: what is due of them is
 * taken alone, without asking what else there is, so claim by tp_claim next. When nothing is, all is asked
 * for. arrival NULL, or its handler: nothing is known. It is not heeded with shards, with in_order, and for a
 * handler that is paused or not among the request's. A task that is known to be done is given out, whatever
 * its lapse would have meant and though it be cancelled, and so is a cancelled one that runs. known NULL:
 * nothing is known. */
TP_CHECKED tp_status tpi_claim_known(tp_conn *conn, tp_claim_request *request,
                                     const struct tpi_arrival *arrival, tpi_known_fn *known,
                                     tp_batch **batch);
/* Of that claim only what an earlier try under the request's token took, of which its caller heard nothing.
 * TP_NONE: nothing. */
TP_CHECKED tp_status tpi_claim_taken(tp_conn *conn, tp_claim_request *request, tpi_known_fn *known,
                                     tp_batch **batch);
/* A task of plan hold whose transaction was rolled back (the pointer that tp_batch_task gave): claims it anew
 * by a lease, if it is still as it was, so that a failure can be counted. From then on it is a task like any
 * other. TP_EXISTS: that transaction was committed, and has settled it. TP_LOST: another has taken it.
 * Outside an explicit transaction only. */
TP_CHECKED tp_status tpi_claim_held(tp_conn *conn, const tp_task *task, int64_t lease_ms);
/* Has the claim moved tasks on, in its transaction, beside those that it gave out? */
bool tpi_batch_moved(const tp_batch *batch);
/* A batch of its own with a copy of task i, so that the others' memory can be given back. The copy may be
 * used wherever the original may. */
TP_CHECKED tp_status tpi_batch_take(const tp_batch *batch, size_t i, tp_batch **one);
/* Of a task as a claim gave it: how long it had been due when it was claimed, by the database's clock alone.
 */
int64_t tpi_task_waited_ms(const tp_task *task);
/* Of a task that a claim gave out because it is in progress here: was it not wanted any more? For who and why
 * see tpi_cancel_fn. */
bool tpi_task_unwanted(const tp_task *task, const char **who, const char **why);
/* tp_extend for many, in few statements; what tp_complete_many says of answers and failures holds here too,
 * but after one of those some leases may be extended. */
TP_CHECKED tp_status tpi_extend_many(tp_conn *conn, const tp_task *const *tasks, size_t count,
                                     int64_t lease_ms, tp_status *answers);

/* tp_complete_many with what each gave back: results[i] NULL: nothing. */
TP_CHECKED tp_status tpi_complete_many(tp_conn *conn, const tp_task *const *tasks, const char *const *results,
                                       size_t count, tp_status *answers);
/* TP_TOOBIG or TP_MISUSE with text when what a handler gives back cannot be stored; NULL can. */
TP_CHECKED tp_status tpi_check_result(const char *what, const char *result);

/* ---- Steps --------------------------------------------------------------------------------------------- */

/* The step of this name of a claimed task. TP_OK: it was done, *result is kept in texts. TP_NONE: it was not,
 * and the claim is held. */
TP_CHECKED tp_status tpi_step_find(tp_conn *conn, const tp_task *task, const char *name,
                                   struct tpi_texts *texts, const char **result);
/* Records it, in the transaction that holds the task by tp_extend. TP_CONFLICT: it is there, or an
 * index of the application's own refuses it. */
TP_CHECKED tp_status tpi_step_add(tp_conn *conn, const tp_task *task, const char *name, const char *result);
/* TP_MISUSE, TP_TOOBIG: it is no name of a step. */
TP_CHECKED tp_status tpi_step_check_name(const char *name);
/* on: from here on the transaction is not the caller's to end, and the session not his to reopen. */
void tpi_conn_guard(tp_conn *conn, bool on);

/* ---- Progress ------------------------------------------------------------------------------------------ */

/* How far the run of a claim is. */
struct tpi_progress_row {
    char task_id[TP_ID_SIZE];
    char owner[TP_ID_SIZE]; /* the claim token */
    int32_t percent;        /* -1: not said */
    char message[TP_REASON_MAX + 1];
};
/* Writes it, in statements that each are a transaction of their own. Outside an explicit transaction only. */
TP_CHECKED tp_status tpi_progress_write(tp_conn *conn, const struct tpi_progress_row *row);
/* The run is over: what was written of it is deleted. */
TP_CHECKED tp_status tpi_progress_end(tp_conn *conn, const struct tpi_progress_row *row);
/* Deletes what runs left that were killed. */
TP_CHECKED tp_status tpi_progress_forget(tp_conn *conn);
/* While a transaction that may write is open here, can no other write at all? */
bool tpi_conn_writes_alone(const tp_conn *conn);

/* ---- Tasks that are not wanted any more ---------------------------------------------------------------- */

/* Calls see for each of the tasks whose end somebody asked for (who), or whose deadline has passed (who ""),
 * when there are any at all; TP_NONE: there are none. see must not use conn. */
typedef void (*tpi_cancel_fn)(const char *id, const char *who, const char *why, void *arg);
TP_CHECKED tp_status tpi_cancel_look(tp_conn *conn, const char *const *ids, size_t count, tpi_cancel_fn see,
                                     void *arg);
/* How such a one ends, as claimed: skipped, which is recorded, or done, with its result or NULL. */
struct tpi_cancel_end {
    const char *who, *why; /* by whom it was asked for; "": its deadline has passed */
    const char *reason;    /* NULL: it is done */
    const char *result;
};
/* Settles it so, and removes what was asked. For answers see tp_skip. */
TP_CHECKED tp_status tpi_cancel_settle(tp_conn *conn, const tp_task *task, const struct tpi_cancel_end *end);
/* By the state table: does such a one end as skipped when its handler ended so? */
bool tpi_cancel_skips(tp_verdict verdict);
/* The reason of a task that ends so. */
void tpi_cancel_reason(const char *who, const char *why, char out[TP_REASON_MAX + 1]);
/* Skips those that wait, and removes what was asked of tasks that have ended, until about limit were; *done
 * gets how many. Outside an explicit transaction only. TP_CONFLICT, TP_TIMEOUT: others were in the way of
 * some.
 */
TP_CHECKED tp_status tpi_cancel_sweep(tp_conn *conn, size_t limit, size_t *done);

/* ---- Transactions -------------------------------------------------------------------------------------- */

/* No transaction is open and, as far as is known, one can be begun: nobody began one, or a commit that failed
 * has rolled it back. */
bool tpi_conn_is_idle(const tp_conn *conn);
/* tp_commit, and in the same message the next tp_begin, where the driver can: one round trip less. TP_NONE:
 * committed, and none is open. After any failure none is open either; the commit may have been done, which
 * tp_settled knows. */
TP_CHECKED tp_status tpi_commit_begin(tp_conn *conn);
/* Was it the handler that failed, or its transaction? Inside one in which something failed. A failure: that
 * of the transaction, which is lost or cannot be written whatever its statements were: the connection, a
 * deadlock, a database that became read-only. TP_OK: nothing of the kind is known. Where a deadlock leaves
 * the transaction open, and the statement was the application's own, or that one met a database that cannot
 * be written, nobody can tell. */
TP_CHECKED tp_status tpi_tx_lost(tp_conn *conn);

/* ---- Alerts -------------------------------------------------------------------------------------------- */

enum { TPI_ALERT_GROUP_MAX = 10000 };

/* Calls fn once for alerts that are due, at most limit of them (at least 1, at most TPI_ALERT_GROUP_MAX),
 * when the task of one of them failed wait_ms ago or so many are due. Of two that ask at the same time each
 * gets others. *alerted gets for how many it was called. *next_ms: in how long the call is due; -1: nobody
 * knows. Outside an explicit transaction only. */
TP_CHECKED tp_status tpi_alert_group(tp_conn *conn, const char *const *handlers, size_t handler_count,
                                     int64_t wait_ms, size_t limit, tp_alert_group_fn fn, void *arg,
                                     size_t *alerted, int64_t *next_ms);

/* ---- Workers' rows ------------------------------------------------------------------------------------- */

/* What the pool says to a worker. */
struct tpi_worker_news {
    int64_t now; /* the database's clock */
    bool drain;  /* it was asked to end */
    char drain_who[128 + 1];
};
/* Writes the row of info->id, or makes it; takes others that were not heard of for a minute for dead, and
 * forgets those that ended or died 30 days ago. The times are the database's. news may be
 * NULL. */
TP_CHECKED tp_status tpi_worker_heartbeat(tp_conn *conn, const tp_worker_row *info,
                                          struct tpi_worker_news *news);
/* tp_worker_each for those that were heard of in the last ms. */
TP_CHECKED tp_status tpi_worker_each_lately(tp_conn *conn, int64_t ms, tp_worker_row_fn see, void *arg);
/* That worker's process is known to be gone. TP_NONE: it was neither running nor stopping. */
TP_CHECKED tp_status tpi_worker_died(tp_conn *conn, const char *id);

/* ---- Activity ------------------------------------------------------------------------------------------ */

/* Writes what a worker did: since is the minute, worker its id. All rows or none; asked again with the same
 * rows it writes them once. Outside an explicit transaction only. */
TP_CHECKED tp_status tpi_activity_write(tp_conn *conn, const tp_activity *rows, size_t count);
enum { TPI_ROLLUP_LEVELS = 2 };
/* Makes one row for each worker and handler of an hour that ended two days ago, the first from since[1] on;
 * or, where there is none, of ten minutes that ended six hours ago, the first from since[0] on. since is of
 * the caller, and {0} at first. TP_NONE: there is nothing to roll up. TP_CONFLICT: another rolls that up, or
 * rolled it up, or a worker wrote late; TP_DB: a rule of the application's own refuses it. In both cases the
 * rows stay as they are, and the next call goes on behind them. Outside an explicit transaction only. */
TP_CHECKED tp_status tpi_activity_roll_up(tp_conn *conn, int64_t since[TPI_ROLLUP_LEVELS]);

/* ---- Gates --------------------------------------------------------------------------------------------- */

/* Finds gates that have let too few through, because a library that knows no gates settled a task of theirs
 * or somebody purged one, and mends each in a transaction of its own. Outside an explicit transaction only.
 * TP_CONFLICT, TP_TIMEOUT: others were in the way of some. */
TP_CHECKED tp_status tpi_gates_mend(tp_conn *conn);
/* Lets through what tokens came back for, each gate in a transaction of its own. *wait_ms: until the next is
 * known to come back; -1: none is. Outside an explicit transaction only. Fails as tpi_gates_mend. */
TP_CHECKED tp_status tpi_gates_give_tokens(tp_conn *conn, int64_t *wait_ms);
/* Asks whether any gate has tokens. */
TP_CHECKED tp_status tpi_gates_look_for_tokens(tp_conn *conn);
/* What this process knows of that, by asking or because it was at such a gate. */
bool tpi_gates_may_have_tokens(tp_env *env);

#endif
