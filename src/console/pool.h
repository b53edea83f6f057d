/* A pool that the console shows: its reader, and a few threads that ask the database for one request after
 * the other, so that no HTTP thread waits for it without bound. Read next: reader.h, looks.h, actions.h. */
#ifndef CONSOLE_POOL_H
#define CONSOLE_POOL_H

#include "answer.h"
#include "reader.h"
#include "request.h"

struct pool;

/* Asks the database and answers. */
typedef void (*ask_fn)(tp_conn *conn, const struct request *request, struct answer *answer);

/* Takes env over. name lives as long as the pool. */
struct pool *pool_open(const char *name, tp_env *env, int64_t wait_ms);
const char *pool_name(const struct pool *pool);
struct reader *pool_reader(struct pool *pool);

/* Has ask called by one of the pool's threads and waits for its answer. A database that is away, too many
 * requests and one that takes too long are answers, too. again: it may be called once more when the
 * connection was lost meanwhile. The request is taken over, and empty afterwards. */
void pool_ask(struct pool *pool, ask_fn ask, bool again, struct request *request, struct answer *answer);

/* From now on nobody waits any more. */
void pool_hurry(struct pool *pool);
bool pool_hurries(struct pool *pool);
/* False: a thread waits for the database still; then the process has to end by _exit. */
bool pool_close(struct pool *pool);

#endif
