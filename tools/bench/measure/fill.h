/* Fills a pool by the database's own INSERT ... SELECT with what may stand in the way of a claim. Read next:
 * growth.c. */
#ifndef TOOLS_BENCH_FILL_H
#define TOOLS_BENCH_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "taskpool_odbc.h"

/* X(name, tasks to claim besides the burden, handlers of the worker, its shards, "what the burden is") */
#define SCENE_LIST(X)                                                                                        \
    X(plain, 0, one_handler, NULL, "tasks that are due")                                                     \
    X(future, 10000, one_handler, NULL, "tasks due in the future, half of them of a higher priority")        \
    X(retry, 10000, one_handler, NULL, "tasks that wait for a retry")                                        \
    X(handlers, 3000, three_handlers, NULL, "due tasks of 200 handlers; the worker has three")               \
    X(shards, 0, one_handler, first_shard, "due tasks of ten shards; the worker has one")                    \
    X(behind, 10000, one_handler, first_shard, "tasks of nine other shards, all due before the worker's")    \
    X(mixed, 0, one_handler, NULL, "due tasks of 50 priorities and ten shards; the worker takes all")        \
    X(locked, 0, one_handler, NULL, "due tasks, the first thousand of them locked by another session")       \
    X(finished, 0, one_handler, NULL, "finished and failed tasks, events, keys of the ledger and steps, each")

enum scene_id {
#define SCENE_ENUM(name, base, handlers, shards, what) SCENE_##name,
    SCENE_LIST(SCENE_ENUM)
#undef SCENE_ENUM
        SCENE_COUNT
};

struct scene {
    const char *name, *what;
    int64_t base;
    const char *const *handlers;
    size_t handler_count;
    const int32_t *shards;
    size_t shard_count;
};
extern const struct scene scenes[SCENE_COUNT];

/* Takes away what an earlier scene left, and puts the tasks to claim. */
void fill_begin(enum scene_id scene);
/* Adds so many rows to the burden. */
void fill_burden(enum scene_id scene, int64_t count);
/* One row of the largest table by its id, or a place in another index of the pending pool: what it costs
 * grows with the height of the tree alone. */
enum look_up { LOOK_UP_ID, LOOK_UP_LANE, LOOK_UP_KEY, LOOK_UP_OWNER, LOOK_UPS };
extern const char *const look_up_names[LOOK_UPS];
void fill_look_up(tp_conn *conn, enum scene_id scene, enum look_up which);

#endif
