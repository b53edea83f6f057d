/* advance MS: lets time pass for the pool of TASKPOOL_DSN. */
#include <stdio.h>
#include <stdlib.h>

#include "taskpool.h"

int main(int argc, char **argv) {
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    tp_status status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_test_advance(conn, ms);
    for (int tries = 0; tp_status_may_retry(status) && tries < 100; tries++)
        status = tp_test_advance(conn, ms);
    if (status != TP_OK) fprintf(stderr, "advance: %s\n", tp_last_error()->text);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
