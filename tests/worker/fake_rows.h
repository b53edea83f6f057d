/* What fake_pool.c (set-up, looks, faults) and fake_ops.c (the public operations) share. */
#ifndef TESTS_WORKER_FAKE_ROWS_H
#define TESTS_WORKER_FAKE_ROWS_H

#include <pthread.h>

#include "fake_pool.h"

enum { ROWS_MAX = 4096, STAGED_MAX = 8 };

struct fake_row {
    char id[TP_ID_SIZE];
    char handler[TP_HANDLER_MAX + 1];
    char owner[TP_ID_SIZE];      /* while handling */
    char settled_by[TP_ID_SIZE]; /* the token of the last settle */
    enum fake_state state;
    enum fake_op settled_how;
    int32_t failures;
    int64_t due;
    int effects;
};

struct staged {
    struct fake_row *row;
    enum fake_op how; /* FAKE_BEGIN: an effect */
};

struct tp_conn {
    bool dead;
    bool in_transaction;
    bool failed;
    size_t staged_count;
    struct staged staged[STAGED_MAX];
};

struct fake_script {
    int skip, times;
    tp_status status;
    bool done;
};

/* Everything is under its lock, as a database's rows are under theirs. */
struct fake {
    pthread_mutex_t lock;
    pthread_cond_t called;
    struct fake_row rows[ROWS_MAX];
    size_t row_count;
    struct fake_script scripts[FAKE_OP_COUNT];
    int calls[FAKE_OP_COUNT];
    int noise, connections, batches, lapses;
    bool is_down;
};
extern struct fake fake;

/* Under the lock. */
struct fake_row *fake_find(const char *id);
/* Under the lock, at the start of every operation. TP_OK: go on. Otherwise that is the answer; when done is
 * set the operation takes effect nevertheless. */
tp_status fake_enter(tp_conn *conn, enum fake_op op, bool *done);

#endif
