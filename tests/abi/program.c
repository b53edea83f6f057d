/* The program that is built against an old taskpool.h. See program.h. */
#include "program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <taskpool.h>

enum { MANY = 5 };

struct program {
    tp_env *env;
    tp_conn *conn;
    const char *handler;
};

static bool is(tp_status wanted, tp_status status, const char *call) {
    if (status == wanted) return true;
    fprintf(stderr, "%s: %s instead of %s: %s\n", call, tp_status_name(status), tp_status_name(wanted),
            tp_last_error()->text);
    return false;
}
#define IS(wanted, call) is((wanted), (call), #call)

static bool holds(bool condition, const char *text) {
    if (!condition) fprintf(stderr, "not so: %s\n", text);
    return condition;
}
#define HOLDS(condition) holds((condition), #condition)

static bool begin(struct program *program, const char *connection_string, const char *handler) {
    *program = (struct program){.handler = handler};
    return IS(TP_OK, tp_env_open(connection_string, &program->env)) &&
           IS(TP_OK, tp_conn_open(program->env, &program->conn)) &&
           IS(TP_OK, tp_schema_check(program->conn)) && HOLDS(tp_conn_about(program->conn)->dialect != NULL);
}

static int end(struct program *program, bool well) {
    well = well && HOLDS(tp_conn_counters(program->conn)->statements > 0);
    tp_conn_close(program->conn);
    tp_env_close(program->env);
    return well ? 0 : 1;
}

static tp_new_task new_task(const struct program *program) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = program->handler;
    task.params = "{\"order\":7}";
    return task;
}

/* ---- Tasks --------------------------------------------------------------------------------------------- */

static bool put(const struct program *program) {
    tp_new_task one = new_task(program), many[MANY];
    size_t inserted = 0;
    for (size_t i = 0; i < MANY; i++)
        many[i] = one;
    many[MANY - 1].dedup_key = many[MANY - 2].dedup_key = program->handler;
    return IS(TP_OK, tp_enqueue(program->conn, &one)) && IS(TP_EXISTS, tp_enqueue(program->conn, &one)) &&
           HOLDS(strcmp(one.id, one.existing_id) == 0) &&
           IS(TP_OK, tp_enqueue_many(program->conn, many, MANY, &inserted)) && HOLDS(inserted == MANY - 1) &&
           HOLDS(strcmp(many[MANY - 1].existing_id, many[MANY - 2].id) == 0);
}

static bool settle(const struct program *program, const tp_batch *batch) {
    static const int64_t delays[] = {3600000};
    const tp_task *task = tp_batch_task(batch, 4);
    tp_retry retry = TP_RETRY_INIT;
    retry.delays_ms = delays;
    retry.count = 1;
    return HOLDS(tp_batch_count(batch) == MANY) && HOLDS(strcmp(task->params, "{\"order\":7}") == 0) &&
           IS(TP_OK, tp_complete(program->conn, tp_batch_task(batch, 0))) &&
           IS(TP_OK, tp_skip(program->conn, tp_batch_task(batch, 1), "not wanted")) &&
           IS(TP_OK, tp_fail(program->conn, tp_batch_task(batch, 2), "no", &retry)) &&
           IS(TP_EXHAUSTED, tp_give_up(program->conn, tp_batch_task(batch, 3), "never")) &&
           IS(TP_OK, tp_extend(program->conn, task, 120000)) &&
           IS(TP_OK, tp_release(program->conn, task, 3600000));
}

static bool claim(const struct program *program) {
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = NULL;
    request.handlers = &program->handler;
    request.handler_count = 1;
    bool well = IS(TP_OK, tp_claim(program->conn, &request, &batch)) && HOLDS(request.token[0] == '\0') &&
                settle(program, batch) && IS(TP_NONE, tp_claim(program->conn, &request, &batch));
    tp_batch_free(batch);
    return well;
}

int program_tasks(const char *connection_string, const char *handler) {
    struct program program;
    bool well = begin(&program, connection_string, handler) && put(&program) && claim(&program);
    return end(&program, well);
}

/* ---- Operating ----------------------------------------------------------------------------------------- */

static void see_stat(const tp_stat *stat, void *arg) {
    (void)stat;
    ++*(int *)arg;
}

static bool look(const struct program *program) {
    tp_list_request request = TP_LIST_INIT;
    tp_batch *page = NULL;
    int stats = 0;
    request.handler = program->handler;
    bool well = IS(TP_OK, tp_list(program->conn, &request, &page)) && HOLDS(tp_batch_count(page) > 0) &&
                HOLDS(strcmp(tp_batch_task(page, 0)->handler, program->handler) == 0) &&
                IS(TP_OK, tp_stats(program->conn, 1, see_stat, &stats)) && HOLDS(stats > 0);
    tp_batch_free(page);
    return well;
}

/* Of program_tasks, whose tasks are left. */
int program_operates(const char *connection_string, const char *handler) {
    struct program program;
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated operated = TP_OPERATED_INIT;
    selection.handler = handler;
    selection.who = "tester@desk";
    bool well = begin(&program, connection_string, handler) && look(&program) &&
                IS(TP_OK, tp_operate(program.conn, TP_ACTION_RETRY, &selection, &operated)) &&
                HOLDS(operated.done == 2) && HOLDS(operated.passed == 0);
    return end(&program, well);
}

/* ---- Schedules ----------------------------------------------------------------------------------------- */

static void see_schedule(const tp_schedule *schedule, void *arg) {
    if (schedule->size >= sizeof *schedule && schedule->next_at > 0) ++*(int *)arg;
}

int program_schedules(const char *connection_string, const char *handler) {
    struct program program;
    tp_schedule schedule = TP_SCHEDULE_INIT;
    int seen = 0;
    schedule.name = schedule.handler = handler;
    schedule.rule = "every 1h";
    bool well = begin(&program, connection_string, handler) &&
                IS(TP_OK, tp_schedule_add(program.conn, &schedule)) &&
                IS(TP_EXISTS, tp_schedule_add(program.conn, &schedule)) &&
                IS(TP_OK, tp_schedule_each(program.conn, see_schedule, &seen)) && HOLDS(seen == 1) &&
                IS(TP_OK, tp_schedule_remove(program.conn, handler));
    return end(&program, well);
}

/* ---- Worker -------------------------------------------------------------------------------------------- */

static tp_verdict do_it(tp_run *run, void *arg) {
    const char *params = NULL;
    size_t length = 0;
    if (tp_run_params(run, &params, &length) != TP_OK || !tp_run_task(run)->id[0]) return TP_RUN_FAILED;
    ++*(int *)arg;
    return TP_RUN_DONE;
}

static bool step(const struct program *program, tp_worker *worker, const tp_retry *retry) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    tp_counters counters = TP_COUNTERS_INIT;
    size_t handled = 0;
    int runs = 0;
    return IS(TP_OK, tp_worker_handle_with(worker, program->handler, do_it, &runs, retry)) &&
           IS(TP_OK, tp_worker_step(worker, &handled)) && HOLDS(handled == 1) && HOLDS(runs == 1) &&
           IS(TP_OK, tp_worker_about(worker, &info)) && HOLDS(info.done == 1) && HOLDS(info.lost == 0) &&
           IS(TP_OK, tp_worker_counters(worker, &counters)) && HOLDS(counters.statements > 0);
}

int program_works(const char *connection_string, const char *handler) {
    struct program program;
    tp_worker_options options = TP_WORKER_INIT;
    tp_retry retry = TP_RETRY_INIT;
    tp_worker *worker = NULL;
    options.threads = 1;
    options.retry = &retry;
    bool well = begin(&program, connection_string, handler);
    tp_new_task task = new_task(&program);
    well = well && IS(TP_OK, tp_enqueue(program.conn, &task)) &&
           IS(TP_OK, tp_worker_open(program.env, &options, &worker)) && step(&program, worker, &retry);
    tp_worker_close(worker);
    return end(&program, well);
}
