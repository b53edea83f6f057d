/* What the files of the producer share. The records say what was confirmed, a line each, two words:
 *   ok ID       the pool has it             order ID    and an order
 *   maybe ID    TP_EXISTS under a dedup_key after a lost answer: this task, or another with the key
 *   closed NAME       the group is closed
 *   cancel ID         its end will be asked for, perhaps more than once
 *   cancel-WORD ID    and that was answered: skipped, asked, done, failed, unknown
 * tools/soak/judge.py and ends.py read them. */
#ifndef TOOLS_SOAK_PRODUCER_H
#define TOOLS_SOAK_PRODUCER_H

#include "soak.h"

struct producer {
    const struct soak *soak;
    tp_conn *conn;
    uint64_t random;
    uint64_t count; /* tasks so far */
    uint64_t failures;
    uint64_t groups;
    int records;
    char group[48];            /* the group that is open, or ""; tasks may come into it */
    char inner[48];            /* one within it, or "" */
    bool all_done;             /* a task of the group that fails for good holds up its end */
    char held[48];             /* one whose end such a task will hold up; or "" */
    int64_t close_at;          /* by the monotonic clock, in ms */
    char latest[TP_ID_SIZE];   /* the task that was put in last */
    char unwanted[TP_ID_SIZE]; /* the next act cancels it; or "" */
    tp_cancelled cancelled;    /* the answer */
};

/* A task and the texts it points to. */
struct draft {
    tp_new_task task;
    char biz[48];
    char params[16];
    char dedup[16];
    char gate[16];
};

typedef tp_status (*act_fn)(struct producer *producer, struct draft *drafts, size_t count);

/* TP_LOST when the run ended first. asked: how often it was asked. */
tp_status soak_until_answered(struct producer *producer, act_fn act, struct draft *drafts, size_t count,
                              int *asked);
void soak_draw(struct producer *producer, struct draft *draft);
bool soak_note(struct producer *producer, const char *word, const char *name);
bool soak_note_tasks(struct producer *producer, const char *word, const struct draft *drafts, size_t count);

/* put_group.c */
bool soak_put_group(struct producer *producer);
void soak_join_group(struct producer *producer, struct draft *draft);
bool soak_group_is_due(const struct producer *producer);
bool soak_close_group(struct producer *producer);
/* Skips the tasks that hold it up, if they have failed by now. */
bool soak_let_go(struct producer *producer);
/* Its group is not there, as of a server that lost what it had acknowledged. */
bool soak_miss_group(struct producer *producer);

/* ask_cancel.c */
bool soak_put_unwanted(struct producer *producer);
bool soak_cancel_latest(struct producer *producer);
bool soak_cancel(struct producer *producer);

#endif
