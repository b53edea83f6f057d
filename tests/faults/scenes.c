/* The calls to the driver of the operations of scene.h fail, each once in every way: those of operators,
 * schedules, the schema and the worker. A worker and the doctor have sessions of their own; there any call of
 * any of them is meant. After a failure the application connects again where it must, and asks again. Each
 * scene judges the pool by itself. */
#include <stdio.h>
#include <string.h>

#include "faults/ops.h"
#include "faults/scene.h"
#include "faults/strike.h"

enum { CALLS_MAX = 1000, SERVER_STEP = 4, ASK_MAX = 6, MANY_STEP = 5, HEAVY_STEP = 16, SLOW_STEP = 40 };

static bool has_own_sessions(const struct act *act) {
    return (act->flags & ACT_OWN_SESSIONS) != 0;
}

static bool lost(const struct scene *scene, tp_status status) {
    return status == TP_DISCONNECTED || status == TP_DB || !tp_conn_dbc(scene->conn);
}

static void recover(struct scene *scene, tp_status status) {
    tp_status rolled = tp_rollback(scene->conn);
    if (rolled != TP_OK && rolled != TP_MISUSE) wrong("tp_rollback: %s", tp_status_name(rolled));
    if (!lost(scene, status)) return;
    long session = strike_session();
    if (tp_conn_reopen(scene->conn) != TP_OK) wrong("tp_conn_reopen: %s", tp_last_error()->text);
    session_await_end(session);
    strike_know_session(tp_conn_dbc(scene->conn));
}

static tp_status ask_once(const struct act *act, struct scene *scene) {
    bool inside = act->flags & ACT_INSIDE;
    tp_status status = inside ? tp_begin(scene->conn) : TP_OK;
    if (status == TP_OK) status = act->ask(scene);
    if (status < TP_OK || !inside) return status;
    tp_status committed = tp_commit(scene->conn);
    return committed == TP_OK ? status : committed;
}

static tp_status ask_until_answered(const struct act *act, struct scene *scene) {
    tp_status status = TP_OK;
    for (int i = 0; i < ASK_MAX; i++) {
        status = ask_once(act, scene);
        strike_end_call();
        if (status >= TP_OK) return status;
        /* NOMEM: what the driver manager's refusal of a handle is taken for. */
        if (!tp_status_may_retry(status) && status != TP_DB && status != TP_NOMEM) break;
        if (!has_own_sessions(act)) recover(scene, status);
        scene->again = true;
    }
    wrong("answered %s in the end: %s", tp_status_name(status), tp_last_error()->text);
    return status;
}

/* False: no call was left that could fail. */
static bool run_point(const struct act *act, enum way way, int k) {
    static struct scene scene;
    scene_open(&scene, act);
    strike_know_session(tp_conn_dbc(scene.conn));
    strike_arm(way, k, has_own_sessions(act) ? NULL : scene_link(&scene));
    tp_status status = ask_until_answered(act, &scene);
    bool struck = strike_disarm();
    /* The last call of what was answered may have lost it, and nobody has noticed. */
    bool killed = struck && way == WAY_KILLED && !has_own_sessions(act);
    if (killed || lost(&scene, status)) recover(&scene, TP_DISCONNECTED);
    if (status >= TP_OK) act->judge(&scene, status);
    scene_close(&scene, act);
    return struck;
}

/* In the short form: any call may be lost before or after it, and most are the same from one act to the next.
 * Servers take their time with each, and the code is mostly the same there. */
static int step_of(const struct act *act, enum way way) {
    bool many = way == WAY_UNSENT || way == WAY_UNHEARD || way == WAY_KILLED;
    int often = pool_on_sqlite() ? 1 : SERVER_STEP;
    if (points_are_all() || (act->flags & ACT_EACH)) return 1;
    if (act->flags & ACT_SLOW) return SLOW_STEP * often;
    if (act->flags & ACT_HEAVY) return HEAVY_STEP * often;
    return many ? MANY_STEP * often : often;
}

/* Those that are left out in one act are tried in another. */
static int first_of(int step) {
    static int turn;
    return 1 + turn++ % step;
}

static void run_way(const struct act *act, enum way way, int *tried) {
    int step = step_of(act, way), k = first_of(step);
    points_now(act->name, way, k);
    while (k < CALLS_MAX && run_point(act, way, k)) {
        ++*tried;
        k += step;
        points_now(act->name, way, k);
    }
    if (k >= CALLS_MAX) fail_msg("%s does not come to its end", act->name);
}

static void run_act(const struct act *act) {
    int *line = points_line(act->name);
    scene_wipe();
    for (int way = 0; way < WAYS; way++)
        run_way(act, (enum way)way, &line[way]);
}

static void run_all(const struct act *ops) {
    points_begin();
    for (; ops->name; ops++)
        if ((ops->flags & ACT_CALLS) && (!ops->plan || pool_plan_possible(ops->plan))) run_act(ops);
    points_end();
}

static void test_faults__what_operators_do_is_done_whichever_call_fails(void **state) {
    (void)state;
    run_all(scenes_of_operators);
}

static void test_faults__a_planned_time_fires_once_whichever_call_fails(void **state) {
    (void)state;
    run_all(scenes_of_schedules);
}

static void test_faults__a_schema_is_whole_whichever_call_fails(void **state) {
    (void)state;
    run_all(scenes_of_connections);
}

static void test_faults__a_worker_ends_each_task_once_whichever_call_fails(void **state) {
    (void)state;
    run_all(scenes_of_workers);
}

FAULTS_GROUP(operators, cmocka_unit_test(test_faults__what_operators_do_is_done_whichever_call_fails));
FAULTS_GROUP(schedules, cmocka_unit_test(test_faults__a_planned_time_fires_once_whichever_call_fails));
FAULTS_GROUP(schema, cmocka_unit_test(test_faults__a_schema_is_whole_whichever_call_fails));
FAULTS_GROUP(workers, cmocka_unit_test(test_faults__a_worker_ends_each_task_once_whichever_call_fails));
