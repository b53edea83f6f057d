/* Reads what goes on in one pool again and again, in a thread of its own: what all who look see, without
 * asking the database for each. Read next: overview.h. */
#ifndef CONSOLE_READER_H
#define CONSOLE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/figures.h"

enum { READER_ERROR_SIZE = 512 };

struct reader;

/* env lives as long as it. */
struct reader *reader_start(tp_env *env);
/* False: it waits for the database still and cannot be ended; then the process has to end by _exit. */
bool reader_stop(struct reader *reader);

/* Is the database away? Then error says why. */
bool reader_away(struct reader *reader, char error[READER_ERROR_SIZE]);
/* Somebody looks: it is read more often for a while. now: it is read at once, because something is wrong. */
void reader_look(struct reader *reader, bool now);
/* Somebody looks. Waits at most wait_ms for an overview that is newer than
 * *serial, or for the database to be away or back, and sets it; with 0 one of before will do where none
 * comes. The overview is JSON, and the caller frees it; NULL: the database is away (error), or nothing new
 * came (error is ""). */
char *reader_overview(struct reader *reader, uint64_t *serial, int64_t wait_ms,
                      char error[READER_ERROR_SIZE]);
/* Which the database was found to be; "": it was not reached yet. Lives as long as the reader. */
const char *reader_dialect(struct reader *reader);
/* A copy of what was read last, with what is held: the first to ask for it in a while waits for that. Empty
 * when it is old. To be given to figures_free. */
struct figures reader_figures(struct reader *reader);
/* False: when they were counted last, at most half a minute ago, none of many open tasks waited for a retry,
 * so that reading them for those that failed is not worth it. */
bool reader_retries(struct reader *reader);
/* How many tasks were put in between each of count + 1 times (of whole minutes) and the next, as far as the
 * reader saw it; -1: it saw nothing of it. */
void reader_enqueued(struct reader *reader, const int64_t *ends, size_t count, int64_t *sums);
/* From now on nobody waits any more. */
void reader_hurry(struct reader *reader);

#endif
