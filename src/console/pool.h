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

/* As connections_ask, as the database user of the role: a viewer's for what is looked at, whoever looks. */
void pool_ask(struct pool *pool, enum role role, ask_fn ask, bool again, struct request *request,
              struct answer *answer);

/* From now on nobody waits any more. */
void pool_hurry(struct pool *pool);
bool pool_hurries(struct pool *pool);
/* False: a thread waits for the database still; then the process has to end by _exit. */
bool pool_close(struct pool *pool);

#endif
