/* What operators do in a pool, by the calls that the command line makes, recorded with who and why. Who may
 * is decided before. */
#ifndef CONSOLE_ACTIONS_H
#define CONSOLE_ACTIONS_H

#include "pool.h"

/* NULL: there is no action of this name. */
ask_fn action_find(const char *name);

/* fire.c */
void act_fire(tp_conn *conn, const struct request *request, struct answer *answer);

#endif
