/* Reads the pool's figures again and again, in a thread of its own, so that a screen never waits for the
 * database. Must not draw; read next: top_screen.c. */
#ifndef TOP_READER_H
#define TOP_READER_H

#include "common/figures.h"

enum {
    READER_TASKS = 50,
    READER_GROUPS = 50,
    READER_NEWEST = 10000,
    RUNNING_MAX = 1000,
    READER_ERROR_SIZE = 512
};

struct reader_task {
    char id[TP_ID_SIZE];
    char state[12], reason[TP_REASON_MAX + 1];
    int failures;
    int percent; /* how far it is; -1: not said */
    int64_t at;  /* failed pool: since when; others: when it is due */
};

/* Tasks that fail for one reason, of the newest of each pool. */
struct reader_group {
    int64_t count, waiting, last;
    char handler[FIGURES_NAME_SIZE], reason[TP_REASON_MAX + 1];
};

/* What to read besides the figures. */
struct reader_wish {
    bool groups;                     /* why tasks fail */
    bool failed;                     /* tasks of the failed pool; else of the pending pool */
    char handler[FIGURES_NAME_SIZE]; /* "": no tasks */
    char reason[TP_REASON_MAX + 1];  /* "": whatever the reason */
};

/* What was read last. */
struct reader_view {
    struct figures figures;
    struct reader_wish wish; /* that tasks are of */
    struct reader_task tasks[READER_TASKS];
    size_t task_count;
    struct reader_group groups[READER_GROUPS];
    size_t group_count;
    bool any;                      /* something was read */
    char error[READER_ERROR_SIZE]; /* why the last try failed; "": it did not */
    int64_t read_at;               /* of clock_ms: when it was read */
    int64_t asking_since;          /* of clock_ms: an answer is being waited for; 0: none */
};

struct reader;

/* conn is the reader's from now on. Writes a byte to wake_fd whenever there is something new. */
struct reader *reader_start(tp_conn *conn, int64_t every_ms, int wake_fd);
void reader_ask(struct reader *reader, const struct reader_wish *wish);
/* Takes a copy, to be given to reader_view_free. */
void reader_look(struct reader *reader, struct reader_view *view);
void reader_view_free(struct reader_view *view);
/* False: it waits for the database still and cannot be ended; then the process has to end by _exit. */
bool reader_stop(struct reader *reader);

#endif
