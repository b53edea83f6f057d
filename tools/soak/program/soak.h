/* The program of tools/soak.sh: a producer or a worker, to be killed and stopped at any time. main.c reads
 * the command line, producer.c puts tasks in and writes down what was confirmed, worker.c runs handlers.c.
 * What is right and wrong is decided by tools/soak/judge.py, from tables and files alone. */
#ifndef TOOLS_SOAK_SOAK_H
#define TOOLS_SOAK_SOAK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "payroll.h" /* db_exec, db_insert: statements of our own */

struct soak {
    const char *name;    /* producer: in front of its order numbers, another after each start */
    const char *records; /* producer: the file of what was confirmed */
    const char *outside; /* worker: the file that stands for effects outside the database */
    const char *plan;    /* worker: NULL is the dialect's own choice */
    int64_t lease_ms;
    int64_t pause_ms; /* producer: between two acts, on the average */
    uint64_t seed;
    bool quick;     /* producer: no slow tasks, beside which a silence of the workers would say nothing */
    bool groupless; /* producer: no groups, of which a server may lose a part */
    bool apart;     /* worker: effects are committed apart from their tasks, which the judge must notice */
};

/* What params say. A task of any other is done at once. */
#define SOAK_FLAKY  "flaky"  /* fails once or twice */
#define SOAK_DOOMED "doomed" /* fails every time, after it wrote */
#define SOAK_GIVEUP "giveup" /* no retry can mend it */
#define SOAK_SKIP   "skip"
#define SOAK_SLOW   "slow" /* takes as long as a lease */
#define SOAK_ASKS   "asks" /* the same, and asks whether to go on */
/* What judge.py knows a deadline by. */
#define SOAK_HASTY      "hasty"      /* a deadline that may be met */
#define SOAK_HASTY_ASKS "hasty asks" /* and the handler asks whether to go on */
#define SOAK_OVERDUE    "overdue"    /* one that cannot be met: it must be skipped */

#define SOAK_PROMPT_MS 400 /* the deadline of the handler prompt */

#define SOAK_ORDERED 1 /* shard of tasks that came with an order */

extern volatile sig_atomic_t soak_stopping;

/* Each is true when it was stopped in good order. */
bool soak_set_up(tp_env *env);
bool soak_produce(tp_env *env, const struct soak *soak);
bool soak_work(tp_env *env, const struct soak *soak);
/* Closes the groups that their producers left open, and skips what holds up the end of others. */
bool soak_close_groups(tp_env *env);

/* handlers.c; arg is the struct soak. */
TP_CHECKED tp_status soak_register(tp_worker *worker, const struct soak *soak, const tp_retry *retry);

/* A number below bound, from the state of one thread. */
uint64_t soak_random(uint64_t *state, uint64_t bound);
void soak_sleep_ms(int64_t ms);

#endif
