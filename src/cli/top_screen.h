/* taskpool top on a terminal; read next: top_reader.h. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "cli.h"

/* Until the user quits or a signal ends it. conn is not to be used afterwards. */
enum cli_exit screen_run(tp_conn *conn, int64_t every_ms);

#endif
