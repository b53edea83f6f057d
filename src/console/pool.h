/* A pool that the console shows: its reader, and connections of a database user for each role that has one.
 * Read next: reader.h, connections.h. */
#ifndef CONSOLE_POOL_H
#define CONSOLE_POOL_H

#include "connections.h"
#include "person.h"

struct pool;

/* Takes the environments over: that of ROLE_OPERATOR, which must be there, is for all roles that have none of
 * their own. The others may be NULL. name lives as long as the pool. */
struct pool *pool_open(const char *name, tp_env *const envs[ROLES], int64_t wait_ms);
const char *pool_name(const struct pool *pool);
struct reader *pool_reader(struct pool *pool);

/* Looks, as the database user of viewers, whoever looks; or answers what others heard who asked the same: see
 * shared_answer.h. what: the name of ask. */
void pool_look(struct pool *pool, const char *what, ask_fn ask, struct request *request,
               struct answer *answer);
/* Acts, as the database user of the role; what is looked at afterwards by the same person is asked anew. */
void pool_act(struct pool *pool, enum role role, ask_fn ask, struct request *request, struct answer *answer);

/* From now on nobody waits any more. */
void pool_hurry(struct pool *pool);
bool pool_hurries(struct pool *pool);
/* False: a thread waits for the database still; then the process has to end by _exit. */
bool pool_close(struct pool *pool);

#endif
