/* What every message for a person must be: one line, with what is wrong and what to do in it, and no
 * password. */
#ifndef TESTS_INPUT_MESSAGE_H
#define TESTS_INPUT_MESSAGE_H

#include "taskpool.h"

/* The last error is of this status, and its text holds both parts (NULL: any). secret is not in it. */
void message_is(const char *what, tp_status status, tp_status wanted, const char *wrong, const char *remedy);
/* From now on no message may hold it. */
void message_hides(const char *secret);
/* tp_env_open and tp_conn_open with dsn: one of them fails so, in less than 20 seconds. */
void open_fails(const char *dsn, tp_status wanted, const char *wrong, const char *remedy);

#endif
