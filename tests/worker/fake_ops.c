/* The public operations that a worker uses, over fake_rows.h. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/uuid.h"
#include "core/retry.h"
#include "fake_rows.h"

struct tp_env {
    int unused;
};

struct tp_batch {
    size_t count;
    struct tp_task *tasks;
    struct fake_row *copies;
};

/* ---- Connections -------------------------------------------------------------------------------------- */

static tp_status connect(tp_conn *conn) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    *conn = (tp_conn){0};
    tp_status status = fake_enter(conn, FAKE_OPEN, &done);
    conn->dead = status != TP_OK;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_env_open(const char *connection_string, tp_env **env) {
    (void)connection_string;
    *env = calloc(1, sizeof **env);
    return *env ? TP_OK : TP_NOMEM;
}

void tp_env_close(tp_env *env) {
    free(env);
}

tp_status tp_conn_open(tp_env *env, tp_conn **out) {
    (void)env;
    tp_conn *conn = calloc(1, sizeof *conn);
    tp_status status = connect(conn);
    if (status != TP_OK) {
        free(conn);
        return status;
    }
    pthread_mutex_lock(&fake.lock);
    fake.connections++;
    pthread_mutex_unlock(&fake.lock);
    *out = conn;
    return TP_OK;
}

tp_status tp_conn_reopen(tp_conn *conn) {
    return connect(conn);
}

void tp_conn_close(tp_conn *conn) {
    if (!conn) return;
    pthread_mutex_lock(&fake.lock);
    fake.connections--;
    pthread_mutex_unlock(&fake.lock);
    free(conn);
}

tp_status tp_schema_check(tp_conn *conn) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_SCHEMA, &done);
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_begin(tp_conn *conn) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_BEGIN, &done);
    if (status == TP_OK && conn->in_transaction) status = tpi_error(TP_MISUSE, "fake: begun already");
    if (status == TP_OK) {
        conn->in_transaction = true;
        conn->failed = false;
        conn->staged_count = 0;
    }
    pthread_mutex_unlock(&fake.lock);
    return status;
}

/* What a settle asks for. */
struct wish {
    enum fake_op how;
    const tp_retry *retry;
    int64_t delay_ms;
};

static void count_failure(struct fake_row *row, const tp_retry *retry) {
    row->failures++;
    row->due = tpi_clock_mono_ms() + tpi_retry_delay(retry, row->failures);
    if (row->failures >= tpi_retry_max(retry, 0)) row->state = FAKE_FAILED;
}

static void settle_row(struct fake_row *row, const struct wish *wish) {
    enum fake_op how = wish->how;
    row->settled_how = how;
    memcpy(row->settled_by, row->owner, sizeof row->owner);
    row->owner[0] = '\0';
    row->state = how == FAKE_COMPLETE ? FAKE_DONE : how == FAKE_SKIP ? FAKE_SKIPPED : FAKE_FREE;
    if (how == FAKE_RELEASE) row->due = tpi_clock_mono_ms() + wish->delay_ms;
    if (how == FAKE_FAIL) count_failure(row, wish->retry);
}

static void apply(tp_conn *conn) {
    for (size_t i = 0; i < conn->staged_count; i++) {
        if (conn->staged[i].how == FAKE_BEGIN)
            conn->staged[i].row->effects++;
        else
            settle_row(conn->staged[i].row, &(struct wish){.how = conn->staged[i].how});
    }
}

tp_status tp_commit(tp_conn *conn) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    bool failed = conn->failed;
    tp_status status = fake_enter(conn, FAKE_COMMIT, &done);
    if (status == TP_OK && !conn->in_transaction) status = tpi_error(TP_MISUSE, "fake: not begun");
    if (status == TP_OK && failed) status = tpi_error(TP_CONFLICT, "fake: it could only be rolled back");
    if (status == TP_OK || done) apply(conn);
    conn->in_transaction = false;
    conn->staged_count = 0;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_rollback(tp_conn *conn) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_ROLLBACK, &done);
    conn->in_transaction = false;
    conn->staged_count = 0;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

void fake_effect(tp_conn *conn, const tp_task *task) {
    pthread_mutex_lock(&fake.lock);
    if (conn->in_transaction && conn->staged_count < STAGED_MAX)
        conn->staged[conn->staged_count++] = (struct staged){fake_find(task->id), FAKE_BEGIN};
    pthread_mutex_unlock(&fake.lock);
}

/* ---- Claim -------------------------------------------------------------------------------------------- */

size_t tp_batch_count(const tp_batch *batch) {
    return batch->count;
}

const tp_task *tp_batch_task(const tp_batch *batch, size_t i) {
    return i < batch->count ? &batch->tasks[i] : NULL;
}

void tp_batch_free(tp_batch *batch) {
    if (!batch) return;
    pthread_mutex_lock(&fake.lock);
    fake.batches--;
    pthread_mutex_unlock(&fake.lock);
    free(batch->tasks);
    free(batch->copies);
    free(batch);
}

static bool claimable(struct fake_row *row, const tp_claim_request *request) {
    if (row->state != FAKE_FREE && row->state != FAKE_HANDLING) return false;
    if (row->due > tpi_clock_mono_ms()) return false;
    for (size_t i = 0; i < request->handler_count; i++)
        if (strcmp(request->handlers[i], row->handler) == 0) return true;
    return false;
}

static void take(struct fake_row *row, const tp_claim_request *request) {
    if (row->state == FAKE_HANDLING) {
        row->failures++;
        fake.lapses++;
    }
    row->state = FAKE_HANDLING;
    memcpy(row->owner, request->token, sizeof row->owner);
    row->due = tpi_clock_mono_ms() + request->lease_ms;
}

static void take_due(const tp_claim_request *request) {
    size_t taken = 0;
    for (size_t i = 0; i < fake.row_count && taken < request->limit; i++) {
        if (!claimable(&fake.rows[i], request)) continue;
        take(&fake.rows[i], request);
        taken++;
    }
}

static void fill(tp_batch *batch, const struct fake_row *row) {
    struct fake_row *copy = &batch->copies[batch->count];
    *copy = *row;
    batch->tasks[batch->count++] = (tp_task){.id = copy->id,
                                             .handler = copy->handler,
                                             .biz_key = "",
                                             .dedup_key = "",
                                             .reason = "",
                                             .state = "handling",
                                             .pool = "pending",
                                             .owner = copy->owner,
                                             .failures = copy->failures};
}

static tp_batch *read_back(const char *token) {
    tp_batch *batch = calloc(1, sizeof *batch);
    batch->tasks = calloc(TP_CLAIM_MAX, sizeof *batch->tasks);
    batch->copies = calloc(TP_CLAIM_MAX, sizeof *batch->copies);
    for (size_t i = 0; i < fake.row_count; i++)
        if (fake.rows[i].state == FAKE_HANDLING && strcmp(fake.rows[i].owner, token) == 0)
            fill(batch, &fake.rows[i]);
    fake.batches++;
    if (batch->count) return batch;
    pthread_mutex_unlock(&fake.lock);
    tp_batch_free(batch);
    pthread_mutex_lock(&fake.lock);
    return NULL;
}

static tp_status claim(tp_claim_request *request, tp_batch **batch) {
    *batch = read_back(request->token);
    if (!*batch) {
        take_due(request);
        *batch = read_back(request->token);
    }
    request->token[0] = '\0';
    return *batch ? TP_OK : TP_NONE;
}

tp_status tp_claim(tp_conn *conn, tp_claim_request *request, tp_batch **batch) {
    bool done;
    if (!request->token[0]) tpi_uuid_random(request->token);
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_CLAIM, &done);
    if (status == TP_OK)
        status = claim(request, batch);
    else if (done)
        take_due(request);
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_task_params(tp_conn *conn, const tp_task *task, const char **params, size_t *length) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_PARAMS, &done);
    pthread_mutex_unlock(&fake.lock);
    if (status != TP_OK) return status;
    *params = task->id;
    *length = strlen(task->id);
    return TP_OK;
}

/* ---- Settle ------------------------------------------------------------------------------------------- */

static bool held(const struct fake_row *row, const tp_task *task) {
    return row->state == FAKE_HANDLING && strcmp(row->owner, task->owner) == 0;
}

static tp_status answer(const struct fake_row *row, enum fake_op how) {
    return how == FAKE_FAIL && row->state == FAKE_FAILED ? TP_SPENT : TP_OK;
}

static tp_status settle(tp_conn *conn, const tp_task *task, const struct wish *wish) {
    struct fake_row *row = fake_find(task->id);
    if (held(row, task) && conn->in_transaction) {
        conn->staged[conn->staged_count++] = (struct staged){row, wish->how};
        return TP_OK;
    }
    if (held(row, task))
        settle_row(row, wish);
    else if (strcmp(row->settled_by, task->owner) != 0 || row->settled_how != wish->how)
        return tpi_error(TP_LOST, "fake: the claim is gone");
    return answer(row, wish->how);
}

static tp_status ask(tp_conn *conn, const tp_task *task, const struct wish *wish) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, wish->how, &done);
    if (status == TP_OK)
        status = settle(conn, task, wish);
    else if (done && !conn->in_transaction && settle(conn, task, wish) == TP_LOST)
        status = TP_LOST;
    if (status < 0) conn->failed = true;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_complete(tp_conn *conn, const tp_task *task) {
    return ask(conn, task, &(struct wish){.how = FAKE_COMPLETE});
}

tp_status tp_skip(tp_conn *conn, const tp_task *task, const char *reason) {
    (void)reason;
    return ask(conn, task, &(struct wish){.how = FAKE_SKIP});
}

tp_status tp_release(tp_conn *conn, const tp_task *task, int64_t delay_ms) {
    return ask(conn, task, &(struct wish){.how = FAKE_RELEASE, .delay_ms = delay_ms});
}

tp_status tp_fail(tp_conn *conn, const tp_task *task, const char *reason, const tp_retry *retry) {
    (void)reason;
    return ask(conn, task, &(struct wish){.how = FAKE_FAIL, .retry = retry});
}

tp_status tp_extend(tp_conn *conn, const tp_task *task, int64_t lease_ms) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_EXTEND, &done);
    struct fake_row *row = fake_find(task->id);
    if (status == TP_OK && !held(row, task)) status = tpi_error(TP_LOST, "fake: the claim is gone");
    if (status == TP_OK) row->due = tpi_clock_mono_ms() + lease_ms;
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_settled(tp_conn *conn, const tp_task *task) {
    bool done;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_SETTLED, &done);
    struct fake_row *row = fake_find(task->id);
    if (status == TP_OK && held(row, task))
        status = TP_NONE;
    else if (status == TP_OK && strcmp(row->settled_by, task->owner) != 0)
        status = tpi_error(TP_LOST, "fake: the claim is gone");
    pthread_mutex_unlock(&fake.lock);
    return status;
}

tp_status tp_stats(tp_conn *conn, int with_finished, tp_stat_fn see, void *arg) {
    bool done;
    (void)with_finished;
    pthread_mutex_lock(&fake.lock);
    tp_status status = fake_enter(conn, FAKE_STATS, &done);
    for (size_t i = 0; status == TP_OK && i < fake.row_count; i++) {
        bool open = fake.rows[i].state == FAKE_FREE || fake.rows[i].state == FAKE_HANDLING;
        tp_stat stat = {.pool = open ? "pending" : "finished", .handler = fake.rows[i].handler, .count = 1};
        see(&stat, arg);
    }
    pthread_mutex_unlock(&fake.lock);
    return status;
}
