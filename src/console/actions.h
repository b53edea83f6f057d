/* What operators do in a pool, by the calls that the command line makes, recorded with who and why. Who may
 * is decided before. */
#ifndef CONSOLE_ACTIONS_H
#define CONSOLE_ACTIONS_H

#include "pool.h"

/* NULL: there is no action of this name. */
ask_fn action_find(const char *name);

/* task_actions.c */
void act_retry(tp_conn *conn, const struct request *request, struct answer *answer);
void act_cancel(tp_conn *conn, const struct request *request, struct answer *answer);
void act_skip(tp_conn *conn, const struct request *request, struct answer *answer);
void act_release(tp_conn *conn, const struct request *request, struct answer *answer);

/* fire.c */
void act_fire(tp_conn *conn, const struct request *request, struct answer *answer);

/* The least role that may. */
enum role action_role(const char *name);

/* approvals.c */
void act_approve(tp_conn *conn, const struct request *request, struct answer *answer);
void act_refuse(tp_conn *conn, const struct request *request, struct answer *answer);
void act_four_eyes(tp_conn *conn, const struct request *request, struct answer *answer);
void act_retention(tp_conn *conn, const struct request *request, struct answer *answer);

#endif
