/* The connections of one database user to one pool: a few threads that ask the database for one request after
 * the other, so that no HTTP thread waits for it without bound. Read next: looks.h, actions.h. */
#ifndef CONSOLE_CONNECTIONS_H
#define CONSOLE_CONNECTIONS_H

#include "answer.h"
#include "reader.h"
#include "request.h"

struct connections;

/* Asks the database and answers. */
typedef void (*ask_fn)(tp_conn *conn, const struct request *request, struct answer *answer);

/* env and reader, which knows whether the database is away, live as long as they. */
struct connections *connections_open(tp_env *env, struct reader *reader, int64_t wait_ms);
/* Has ask called by one of the threads and waits for its answer. A database that is away, too many requests
 * and one that takes too long are answers, too. again: it may be called once more when the connection was
 * lost meanwhile. The request is taken over, and empty afterwards. */
void connections_ask(struct connections *all, ask_fn ask, bool again, struct request *request,
                     struct answer *answer);
/* From now on nobody waits any more. */
void connections_hurry(struct connections *all);
/* False: a thread waits for the database still; then the process has to end by _exit. */
bool connections_close(struct connections *all);

#endif
