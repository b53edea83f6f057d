/* growth [--scenes NAME,...] [--sizes N,...] [--plans NAME,...] [--others 0|1] [--shared 0|1]: what one claim
 * of a hundred tasks and what is done with them costs the database, in rows and buffers, in pools of growing
 * size. Prints lines of entry, scene, size, plan, operation, rows and buffers; flat.py judges them. --others:
 * the calls that neither claim nor settle, too. --shared: others use the server meanwhile, so that only
 * claims are measured, and that nothing has died is not waited for. The scenes: fill.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/counts.h"
#include "bench/measure/fill.h"
#include "bench/measure/measure.h"
#include "ops/for_workers.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

enum { TASKS = 100, SINGLE = 10, WARM = 7, SIZES = 8 };

static struct {
    const char *scenes, *plans;
    int64_t sizes[SIZES];
    size_t size_count;
    bool others;
    bool shared;
} asked = {.sizes = {10000, 100000, 1000000}, .size_count = 3, .others = true};

/* What is measured now. */
static struct {
    const struct scene *scene;
    int64_t size;
    const char *plan;
    bool in_tx, locked; /* by another session, whose transaction keeps the server from clearing away */
    struct counts before;
} now;

/* A new session, in tables that hold no trace of what was measured before. */
static void begin_anew(void) {
    counts_publish(pool.a);
    must(tp_conn_reopen(pool.a));
    counts_settle(asked.shared || now.locked);
}

static void count_start(bool in_tx) {
    now.in_tx = in_tx;
    now.before = counts_read(pool.a, in_tx);
}

static void count_stop(const char *operation) {
    struct counts after = counts_read(pool.a, now.in_tx);
    struct counts cost = {after.rows - now.before.rows, after.buffers - now.before.buffers};
    printf("%s\t%s\t%" PRId64 "\t%s\t%s\t%" PRId64 "\t%" PRId64 "\n", pool.entry, now.scene->name, now.size,
           now.plan, operation, cost.rows, cost.buffers);
    fflush(stdout);
}

/* ---- Claims and settles -------------------------------------------------------------------------------- */

static void claim(struct claimed *claimed, size_t limit) {
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = now.scene->handlers;
    request.handler_count = now.scene->handler_count;
    request.shards = now.scene->shards;
    request.shard_count = now.scene->shard_count;
    request.limit = limit;
    request.lease_ms = 3600000;
    request.plan = now.plan;
    claim_tasks(claimed, &request);
    sure(claimed->count == limit, "%zu tasks of %zu were claimed", claimed->count, limit);
}

/* The database may plan a statement anew when it has run some times. */
static void warm_up(bool holds) {
    static struct claimed claimed;
    for (int i = 0; i < WARM; i++) {
        if (holds) must(tp_begin(pool.a));
        claim(&claimed, 2);
        complete_tasks(&claimed, 0);
        if (holds) must(tp_commit(pool.a));
    }
}

typedef tp_status single_fn(tp_conn *conn, const tp_task *task);

static tp_status extend(tp_conn *conn, const tp_task *task) {
    return tp_extend(conn, task, 7200000);
}

static tp_status fail_one(tp_conn *conn, const tp_task *task) {
    return tp_fail(conn, task, "no answer", NULL);
}

static tp_status give_up(tp_conn *conn, const tp_task *task) {
    tp_status status = tp_give_up(conn, task, "never");
    return status == TP_EXHAUSTED ? TP_OK : status;
}

static tp_status release(tp_conn *conn, const tp_task *task) {
    return tp_release(conn, task, 0);
}

static tp_status ask(tp_conn *conn, const tp_task *task) {
    tp_status status = tp_settled(conn, task);
    return status == TP_NONE ? TP_OK : status;
}

static size_t singly(struct claimed *claimed, size_t from, const char *name, single_fn *call) {
    count_start(now.in_tx);
    for (size_t i = from; i < from + SINGLE; i++)
        must(call(pool.a, claimed->task[i]));
    count_stop(name);
    return from + SINGLE;
}

static void settle(struct claimed *claimed) {
    count_start(false);
    must(tpi_extend_many(pool.a, claimed->task, claimed->count, 7200000, NULL));
    count_stop("extend-100");
    singly(claimed, 0, "extend", extend);
    singly(claimed, 0, "settled", ask);
    size_t at = singly(claimed, 0, "complete", tp_complete);
    at = singly(claimed, at, "fail", fail_one);
    at = singly(claimed, at, "give-up", give_up);
    at = singly(claimed, at, "release", release);
    count_start(false);
    complete_tasks(claimed, at);
    count_stop("complete-60");
}

static void measure_leased(void) {
    static struct claimed claimed;
    count_start(false);
    claim(&claimed, TASKS);
    count_stop("claim-first");
    complete_tasks(&claimed, 0);
    warm_up(false);
    counts_settle(asked.shared || now.locked);
    count_start(false);
    claim(&claimed, TASKS);
    count_stop("claim");
    if (asked.shared)
        complete_tasks(&claimed, 0);
    else
        settle(&claimed);
}

static void measure_held(void) {
    static struct claimed claimed;
    warm_up(true);
    counts_settle(asked.shared || now.locked);
    must(tp_begin(pool.a));
    count_start(true);
    claim(&claimed, TASKS);
    count_stop("claim");
    size_t at = singly(&claimed, 0, "complete", tp_complete);
    count_start(true);
    complete_tasks(&claimed, at);
    count_stop("complete-90");
    must(tp_commit(pool.a));
}

/* ---- What else a pool does ----------------------------------------------------------------------------- */

static void enqueue_singly(void) {
    static tp_new_task tasks[SINGLE];
    for (int i = 0; i < SINGLE; i++) {
        tasks[i] = (tp_new_task)TP_NEW_TASK_INIT;
        tasks[i].handler = "mine";
        tasks[i].dedup_key = i % 2 ? "open" : NULL;
        if (tp_enqueue(pool.a, &tasks[i]) < TP_OK) sure(false, "%s", tp_last_error()->text);
    }
}

static void see_nothing(const void *what, void *arg) {
    (void)what;
    (void)arg;
}

static void see_history(const tp_history *event, void *arg) {
    see_nothing(event, arg);
}

static int see_alert(const tp_task *task, const char *text, void *arg) {
    see_nothing(task, arg);
    return text == NULL;
}

static void list(const char *pool_name) {
    char name[40];
    tp_batch *batch = NULL;
    tp_list_request request = TP_LIST_INIT;
    request.pool = pool_name;
    snprintf(name, sizeof name, "list-%s", pool_name);
    count_start(false);
    if (tp_list(pool.a, &request, &batch) == TP_OK) tp_batch_free(batch);
    count_stop(name);
}

static void purge(const char *pool_name) {
    char name[40];
    tp_selection selection = TP_SELECTION_INIT;
    selection.pool = pool_name;
    selection.older_ms = 1000;
    selection.limit = TASKS;
    selection.who = "measure";
    snprintf(name, sizeof name, "purge-%s", pool_name);
    count_start(false);
    must(tp_operate(pool.a, TP_ACTION_PURGE, &selection, NULL));
    count_stop(name);
}

static void read_settled(void) {
    static const char *const alerted[] = {"mine"};
    tp_batch *batch = NULL;
    list("finished");
    list("failed");
    count_start(false);
    if (tp_show(pool.a, "00000000-0000-7000-8000-000000000100", &batch) == TP_OK) tp_batch_free(batch);
    count_stop("show");
    count_start(false);
    (void)!tp_alert_each(pool.a, alerted, 1, 50, see_alert, NULL, NULL);
    count_stop("alert");
}

static void operate(void) {
    tp_selection selection = TP_SELECTION_INIT;
    selection.limit = TASKS;
    selection.who = "measure";
    selection.pool = "failed";
    count_start(false);
    must(tp_operate(pool.a, TP_ACTION_RETRY, &selection, NULL));
    count_stop("retry-100");
    purge("finished");
    purge("failed");
    purge("once");
    purge("history");
    count_start(false);
    must(tp_retention_apply(pool.a, TASKS, NULL));
    count_stop("retention");
}

/* After the operations, so that the last hundred events are theirs and alike in every pool. */
static void read_history(void) {
    count_start(false);
    (void)!tp_history_each(pool.a, NULL, 100, see_history, NULL);
    count_stop("history");
}

static void measure_others(void) {
    now.plan = "-";
    begin_anew();
    count_start(false);
    enqueue_singly();
    count_stop("enqueue");
    count_start(false);
    put_tasks("mine", TASKS);
    count_stop("enqueue-100");
    list("pending");
    if (now.scene != &scenes[SCENE_finished]) return;
    read_settled();
    operate();
    read_history();
}

/* ---- Heights of trees ---------------------------------------------------------------------------------- */

static void measure_heights(enum scene_id scene) {
    now.plan = "-";
    begin_anew();
    for (enum look_up which = 0; which < LOOK_UPS; which++) {
        fill_look_up(pool.a, scene, which); /* reads what the session knows from then on */
        count_start(false);
        for (int i = 0; i < SINGLE; i++)
            fill_look_up(pool.a, scene, which);
        count_stop(look_up_names[which]);
    }
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return !list;
}

/* The other session's claim, in a transaction that stays open while a plan is measured. */
static void lock_first(void) {
    static struct claimed claimed;
    tp_claim_request request = TP_CLAIM_INIT;
    request.handlers = now.scene->handlers;
    request.handler_count = now.scene->handler_count;
    request.limit = TP_CLAIM_MAX;
    request.plan = "hold";
    must(tp_begin(pool.b));
    must(tp_claim(pool.b, &request, &claimed.batch));
    sure(tp_batch_count(claimed.batch) == TP_CLAIM_MAX, "not all were locked");
    tp_batch_free(claimed.batch);
}

/* Where there is one writer, nobody else may have locks; plan row, and each plan with Oracle's SQL, looks no
 * further than a thousand, and batch and cas wait. */
static bool goes_past_locks(const char *plan) {
    if (pool_on_sqlite() || pool_speaks("oracle")) return false;
    return strcmp(plan, "skip") == 0 || pool_plan_holds(plan);
}

static void measure_plan(bool locked) {
    begin_anew();
    if (locked) lock_first();
    now.locked = locked;
    if (pool_plan_holds(now.plan))
        measure_held();
    else
        measure_leased();
    if (locked) must(tp_rollback(pool.b));
    now.locked = false;
}

static void measure(enum scene_id scene, int64_t size) {
    bool locked = scene == SCENE_locked;
    now.size = size;
    measure_heights(scene);
    for (int i = 0; i < PLANS; i++) {
        if (!pool_plan_possible(pool_plans[i]) || !listed(asked.plans, pool_plans[i])) continue;
        now.plan = pool_plans[i];
        if (!locked || goes_past_locks(now.plan)) measure_plan(locked);
    }
    if (asked.others && !asked.shared) measure_others();
}

/* Where there is something to claim besides the burden, the smallest size is without one. */
static void run_scene(enum scene_id id) {
    int64_t there = 0;
    now.scene = &scenes[id];
    fprintf(stderr, "%s, %s: %s\n", pool.entry, now.scene->name, now.scene->what);
    fill_begin(id);
    if (now.scene->base) measure(id, 0);
    for (size_t i = 0; i < asked.size_count; i++) {
        fill_burden(id, asked.sizes[i] - there);
        there = asked.sizes[i];
        measure(id, there);
    }
}

void growth_run(void **state) {
    (void)state;
    counts_open();
    must(tp_retention_set(pool.eye, "finished", 1000, "measure"));
    for (int id = 0; id < SCENE_COUNT; id++)
        if (listed(asked.scenes, scenes[id].name)) run_scene((enum scene_id)id);
}

static void read_sizes(const char *text) {
    char *end = NULL;
    asked.size_count = 0;
    for (const char *at = text; *at && asked.size_count < SIZES; at = *end ? end + 1 : end)
        asked.sizes[asked.size_count++] = strtoll(at, &end, 10);
}

bool growth_option(const char *option, const char *value) {
    if (strcmp(option, "scenes") == 0)
        asked.scenes = value;
    else if (strcmp(option, "plans") == 0)
        asked.plans = value;
    else if (strcmp(option, "sizes") == 0)
        read_sizes(value);
    else if (strcmp(option, "shared") == 0)
        asked.shared = strcmp(value, "0") != 0;
    else if (strcmp(option, "others") == 0)
        asked.others = strcmp(value, "0") != 0;
    else
        return false;
    return true;
}
