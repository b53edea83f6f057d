/* What a crowd of processes writes down while it works, in a file that all of them map: every claim of every
 * task with its token, from when to when it was surely held and how it ended, and every failure that a
 * database reported. It judges nothing. Read next: crowd.h. */
#ifndef TOOLS_CROWD_BOARD_H
#define TOOLS_CROWD_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

/* How the claim of a task ended. X(enumerator, "in words") */
#define BOARD_END_LIST(X)                                                                                    \
    X(BOARD_OPEN, "open")         /* nobody wrote it down: a fault of the test */                            \
    X(BOARD_DONE, "done")         /* with one effect */                                                      \
    X(BOARD_SKIPPED, "skipped")   /* without */                                                              \
    X(BOARD_FAILED, "failed")     /* to be tried again */                                                    \
    X(BOARD_GAVE_UP, "gave up")   /* to the failed pool */                                                   \
    X(BOARD_RELEASED, "released") /* put back, or never kept: the transaction of plan hold was undone */     \
    X(BOARD_UNDONE, "undone")     /* as the judge finds: with its transaction, as if it had not been */      \
    X(BOARD_LOST, "lost")         /* no claim: a worker says that a result was thrown away */                \
    X(BOARD_SETTLED, "settled")   /* no claim: a worker says that the task is, under which token */

enum board_end {
#define BOARD_END_ENUM(id, name) id,
    BOARD_END_LIST(BOARD_END_ENUM)
#undef BOARD_END_ENUM
        BOARD_ENDS
};
const char *board_end_name(enum board_end end);

/* One claim of one task. Between from and to nobody else may have it. */
struct board_entry {
    char id[TP_ID_SIZE], token[TP_ID_SIZE];
    int32_t failures; /* before this claim */
    enum board_end end;
    int64_t from_us, to_us; /* the machine's monotonic clock */
    int process, thread;
};

/* One kind of failure, as the library met it. */
struct board_trouble {
    char statement[32], state[6];
    int32_t native;
    int class; /* enum tpi_class */
    uint64_t count;
    char text[200]; /* of the first */
};

enum { BOARD_PROCESSES = 8, BOARD_TROUBLES = 64 };

struct board {
    atomic_size_t used;    /* entries */
    atomic_size_t notices; /* those that are no claims */
    atomic_size_t settled; /* tasks in their last state */
    atomic_int stop;       /* something is broken: all end */
    size_t tasks, room;
    struct board_trouble troubles[BOARD_PROCESSES][BOARD_TROUBLES];
    struct board_entry entries[];
};

/* Makes the file, which is gone with board_drop. */
struct board *board_make(size_t tasks, char path[64]);
void board_drop(struct board *board, const char *path);
/* In a child. NULL: it cannot be mapped. */
struct board *board_map(const char *path, int process);

/* In a child, from any thread. A claim's entry; NULL and stop when the board is full. */
struct board_entry *board_enter(struct board *board, const tp_task *task, int thread);
/* How it ended; the claim was held at least until to_us. */
void board_end(struct board *board, struct board_entry *entry, enum board_end end, int64_t to_us);
/* What a worker says of a task: BOARD_LOST or BOARD_SETTLED. */
void board_notice(struct board *board, const tp_task *task, enum board_end what);
int64_t board_now_us(void);
/* Are all tasks settled, or is something broken? */
bool board_over(const struct board *board);

/* Counts every failure of the library's calls in this process from now on, and one of the application's. */
void board_trouble_by(const char *statement, const char *state, int32_t native, int class, const char *text);

#endif
