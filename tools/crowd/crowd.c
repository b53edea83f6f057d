/* What the crowd's processes share: the fate of each task, its effect, and the start of a child process. See
 * crowd.h. */
#include "crowd/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odbc/driver.h"
#include "support/child.h"
#include "support/sql.h"

enum crowd_fate crowd_fate(const char *id) {
    static const int shares[] = {
#define CROWD_FATE_SHARE(id, share) share,
        CROWD_FATE_LIST(CROWD_FATE_SHARE)
#undef CROWD_FATE_SHARE
    };
    int at = tp_shard_of(id, 1000) - 1, fate = 0;
    while (at >= shares[fate])
        at -= shares[fate++];
    return (enum crowd_fate)fate;
}

bool crowd_pays(const char *id) {
    return tp_shard_of(id, 7) <= 4;
}

static int64_t at_once(const tp_task *task, int32_t failures, const char *reason, void *arg) {
    (void)task, (void)failures, (void)reason, (void)arg;
    return 0;
}

const tp_retry crowd_retry = {.size = sizeof(tp_retry), .delay = at_once};

void crowd_handlers(char other[TP_HANDLER_MAX], const char *handlers[CROWD_HANDLERS]) {
    snprintf(other, TP_HANDLER_MAX, "%s.other", pool.handler);
    handlers[0] = pool.handler;
    handlers[1] = other;
}

bool crowd_effect(tp_conn *conn, const tp_task *task) {
    if (sql_try(conn, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', '%s')", task->id, pool.handler))
        return true;
    board_trouble_by("(effect)", "", 0, TPI_CLASS_OTHER, sql_reason());
    return false;
}

void crowd_break(struct board *board, const char *what) {
    const tp_error *error = tp_last_error();
    if (atomic_exchange(&board->stop, 1)) return;
    child_say("broken: %s: %.150s (%s)", what, error->text, error->statement);
}

/* PLAN HANDLER FORM THREADS PROCESS BOARD */
int crowd_child(char **arguments) {
    int threads = (int)strtol(arguments[3], NULL, 10), process = (int)strtol(arguments[4], NULL, 10);
    struct board *board = board_map(arguments[5], process);
    if (!board) return 1;
    pool_join();
    pool.plan = arguments[0];
    snprintf(pool.handler, sizeof pool.handler, "%s", arguments[1]);
    child_say("ready");
    child_wait_for_go();
    if (strcmp(arguments[2], "worker") == 0)
        crowd_worker(board, threads);
    else
        crowd_threads(board, threads);
    tp_conn_close(pool.a);
    tp_env_close(pool.env);
    return atomic_load(&board->stop) ? 1 : 0;
}
