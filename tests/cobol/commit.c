/* Loaded before libtaskpool: the first tp_commit after a task was put in or completed, or a step recorded, is
 * the process's last moment; with TASKPOOL_TEST_PASSED that many of them pass before. TASKPOOL_TEST_COMMIT
 * says which:
 *   before      the process is killed before the database hears of the commit
 *   after       and when it has done it
 *   unanswered  done, and the program is told that no answer came
 *   undone      not done, and the program is told that no answer came */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taskpool.h"

static int armed;

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

TP_API tp_status tp_enqueue(tp_conn *conn, tp_new_task *task) {
    tp_status (*enqueue)(tp_conn *, tp_new_task *) = NULL;
    *(void **)&enqueue = real("tp_enqueue");
    armed = 1;
    return enqueue(conn, task);
}

TP_API tp_status tp_complete_with(tp_conn *conn, const tp_task *task, const char *result) {
    tp_status (*complete)(tp_conn *, const tp_task *, const char *) = NULL;
    *(void **)&complete = real("tp_complete_with");
    armed = 1;
    return complete(conn, task, result);
}

TP_API tp_status tp_step_add(tp_conn *conn, const tp_task *task, const char *name, const char *result,
                             int64_t lease_ms) {
    tp_status (*add)(tp_conn *, const tp_task *, const char *, const char *, int64_t) = NULL;
    *(void **)&add = real("tp_step_add");
    armed = 1;
    return add(conn, task, name, result, lease_ms);
}

/* Is it the one? */
static int is_last(void) {
    static int passed;
    const char *pass = getenv("TASKPOOL_TEST_PASSED");
    if (!armed) return 0;
    armed = 0;
    return passed++ >= (pass ? strtol(pass, NULL, 10) : 0);
}

TP_API tp_status tp_commit(tp_conn *conn) {
    tp_status (*commit)(tp_conn *) = NULL;
    *(void **)&commit = real("tp_commit");
    const char *how = getenv("TASKPOOL_TEST_COMMIT");
    if (!how || !is_last()) return commit(conn);
    if (strcmp(how, "before") == 0) kill(getpid(), SIGKILL);
    tp_status status = strcmp(how, "undone") == 0 ? tp_rollback(conn) : commit(conn);
    if (strcmp(how, "after") == 0) kill(getpid(), SIGKILL);
    unsetenv("TASKPOOL_TEST_COMMIT");
    return status == TP_OK ? TP_DISCONNECTED : status;
}
