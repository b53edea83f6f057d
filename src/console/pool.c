/* See pool.h. */
#include "pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/messages.h"
#include "shared_answer.h"

enum { SHARED_MS = 1500 };

struct pool {
    const char *name;
    struct reader *reader;
    struct shared_answers *shared;
    tp_env *envs[ROLES];             /* NULL: none of the role's own */
    struct connections *each[ROLES]; /* the same */
    atomic_bool stop;
};

const char *pool_name(const struct pool *pool) {
    return pool->name;
}

struct reader *pool_reader(struct pool *pool) {
    return pool->reader;
}

static struct connections *connections_of(struct pool *pool, enum role role) {
    int of = (int)role;

    while (of > ROLE_OPERATOR && !pool->each[of])
        of--;
    return pool->each[of] ? pool->each[of] : pool->each[ROLE_OPERATOR];
}

struct looking {
    struct pool *pool;
    ask_fn ask;
    struct request *request;
};

static void ask_database(void *arg, struct answer *answer) {
    struct looking *looking = arg;

    connections_ask(connections_of(looking->pool, ROLE_VIEWER), looking->ask, true, looking->request, answer);
}

void pool_look(struct pool *pool, const char *what, ask_fn ask, struct request *request,
               struct answer *answer) {
    struct looking looking = {pool, ask, request};
    char error[READER_ERROR_SIZE];

    if (reader_away(pool->reader, error)) /* is what there is to say, whatever is kept */
        ask_database(&looking, answer);
    else
        shared_answer(pool->shared, what, request, ask_database, &looking, answer);
}

void pool_act(struct pool *pool, enum role role, ask_fn ask, struct request *request, struct answer *answer) {
    char who[REQUEST_NAME_SIZE];

    memcpy(who, request->who, sizeof who);
    connections_ask(connections_of(pool, role), ask, false, request, answer);
    shared_answers_changed(pool->shared, who);
}

struct pool *pool_open(const char *name, tp_env *const envs[ROLES], int64_t wait_ms) {
    struct pool *pool = cli_must(calloc(1, sizeof *pool));

    pool->name = name;
    pool->shared = shared_answers_open(SHARED_MS);
    pool->reader = reader_start(envs[ROLE_VIEWER] ? envs[ROLE_VIEWER] : envs[ROLE_OPERATOR]);
    for (int role = 0; role < ROLES; role++) {
        pool->envs[role] = envs[role];
        if (envs[role]) pool->each[role] = connections_open(envs[role], pool->reader, wait_ms);
    }
    return pool;
}

void pool_hurry(struct pool *pool) {
    atomic_store(&pool->stop, true);
    reader_hurry(pool->reader);
    for (int role = 0; role < ROLES; role++)
        if (pool->each[role]) connections_hurry(pool->each[role]);
}

bool pool_hurries(struct pool *pool) {
    return atomic_load(&pool->stop);
}

bool pool_close(struct pool *pool) {
    bool ended = true;

    pool_hurry(pool);
    for (int role = 0; role < ROLES; role++)
        if (pool->each[role]) ended &= connections_close(pool->each[role]);
    if (!reader_stop(pool->reader) || !ended) return false;
    for (int role = 0; role < ROLES; role++)
        tp_env_close(pool->envs[role]);
    shared_answers_close(pool->shared);
    free(pool);
    return true;
}
