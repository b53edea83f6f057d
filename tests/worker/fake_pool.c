/* See fake_pool.h. */
#include "fake_pool.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "fake_rows.h"

struct fake fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER};

void fake_reset(void) {
    pthread_mutex_lock(&fake.lock);
    memset(fake.rows, 0, sizeof fake.rows);
    memset(fake.scripts, 0, sizeof fake.scripts);
    memset(fake.calls, 0, sizeof fake.calls);
    fake.row_count = 0;
    fake.noise = fake.lapses = 0;
    fake.is_down = false;
    pthread_mutex_unlock(&fake.lock);
}

void fake_put(const char *handler, int count) {
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < count && fake.row_count < ROWS_MAX; i++) {
        struct fake_row *row = &fake.rows[fake.row_count++];
        tpi_uuid_ordered(row->id);
        snprintf(row->handler, sizeof row->handler, "%s", handler);
    }
    pthread_mutex_unlock(&fake.lock);
}

void fake_script(enum fake_op op, int skip, int times, tp_status status, bool done) {
    pthread_mutex_lock(&fake.lock);
    fake.scripts[op] = (struct fake_script){skip, times, status, done};
    pthread_mutex_unlock(&fake.lock);
}

void fake_noise(int per_mille) {
    pthread_mutex_lock(&fake.lock);
    fake.noise = per_mille;
    pthread_mutex_unlock(&fake.lock);
}

void fake_down(bool down) {
    pthread_mutex_lock(&fake.lock);
    fake.is_down = down;
    pthread_mutex_unlock(&fake.lock);
}

struct fake_row *fake_find(const char *id) {
    for (size_t i = 0; i < fake.row_count; i++)
        if (strcmp(fake.rows[i].id, id) == 0) return &fake.rows[i];
    return NULL;
}

void fake_steal(const char *id) {
    pthread_mutex_lock(&fake.lock);
    struct fake_row *row = fake_find(id);
    if (row) tpi_uuid_random(row->owner);
    pthread_mutex_unlock(&fake.lock);
}

static int locked(const int *number) {
    pthread_mutex_lock(&fake.lock);
    int value = *number;
    pthread_mutex_unlock(&fake.lock);
    return value;
}

int fake_calls(enum fake_op op) {
    return locked(&fake.calls[op]);
}

void fake_wait_calls(enum fake_op op, int count) {
    pthread_mutex_lock(&fake.lock);
    while (fake.calls[op] < count)
        pthread_cond_wait(&fake.called, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
}

int fake_connections(void) {
    return locked(&fake.connections);
}

int fake_batches(void) {
    return locked(&fake.batches);
}

int fake_lapses(void) {
    return locked(&fake.lapses);
}

int fake_count(enum fake_state state) {
    int count = 0;
    pthread_mutex_lock(&fake.lock);
    for (size_t i = 0; i < fake.row_count; i++)
        count += fake.rows[i].state == state;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

int fake_effects_other_than(int wanted) {
    int count = 0;
    pthread_mutex_lock(&fake.lock);
    for (size_t i = 0; i < fake.row_count; i++)
        count += fake.rows[i].effects != wanted;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

int fake_failures(void) {
    int count = 0;
    pthread_mutex_lock(&fake.lock);
    for (size_t i = 0; i < fake.row_count; i++)
        count += fake.rows[i].failures;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

/* ---- Faults ------------------------------------------------------------------------------------------- */

/* The same faults in every run, as far as the threads' order is the same. */
static unsigned next_random(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

static tp_status scripted(enum fake_op op, bool *done) {
    struct fake_script *script = &fake.scripts[op];
    fake.calls[op]++;
    if (script->times && script->skip-- <= 0 && script->times-- > 0) {
        *done = script->done;
        return script->status;
    }
    if (fake.noise && (int)(next_random() % 1000) < fake.noise) {
        *done = next_random() % 2;
        return TP_DISCONNECTED;
    }
    return TP_OK;
}

/* Under the fake.lock. TP_OK: go on. done: go on, and answer the failure afterwards. */
tp_status fake_enter(tp_conn *conn, enum fake_op op, bool *done) {
    *done = false;
    pthread_cond_broadcast(&fake.called);
    if (fake.is_down || conn->dead) {
        fake.calls[op]++;
        conn->dead = true;
        return tpi_error(TP_DISCONNECTED, "fake: no server");
    }
    tp_status status = scripted(op, done);
    if (status == TP_OK) return TP_OK;
    if (status == TP_DISCONNECTED) conn->dead = true;
    conn->failed = true;
    return tpi_error(status, "fake: %s at call %d of operation %d", tp_status_name(status), fake.calls[op],
                     op);
}
