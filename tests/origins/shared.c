/* Set-up and helpers of all five designs. See origins.h. */
#include <time.h>

#include "origins/origins.h"

struct scene scene;

void breathe(void) {
    static const struct timespec pause = {.tv_nsec = 10 * 1000000};
    nanosleep(&pause, NULL);
}

void put_tasks(const char *handler, size_t count, const char *key) {
    tp_new_task *tasks = calloc(count, sizeof *tasks);
    char(*keys)[TP_KEY_MAX] = calloc(count, sizeof *keys);
    size_t inserted = 0;
    assert_true(tasks && keys);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = task_new("1000.00");
        tasks[i].handler = handler;
        if (!key) continue;
        const char *digits = strstr(key, "%d");
        snprintf(keys[i], sizeof keys[i], "%.*s%d%s", (int)(digits - key), key, (int)i + 1, digits + 2);
        tasks[i].biz_key = tasks[i].dedup_key = keys[i];
    }
    must(tp_enqueue_many(pool.eye, tasks, count, &inserted));
    expect_number(inserted, count);
    free(tasks);
    free(keys);
}

void put_task(const char *handler, const char *params, char id[ID]) {
    tp_new_task task = task_new(params);
    task.handler = handler;
    must(tp_enqueue(pool.eye, &task));
    memcpy(id, task.id, ID);
}

int64_t count_of(const char *table) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s", table);
}

int64_t count_where(const char *table, const char *format, ...) {
    char where[300];
    va_list list;
    va_start(list, format);
    vsnprintf(where, sizeof where, format, list);
    va_end(list);
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_%s WHERE %s", table, where);
}

tp_status try_to_take(tp_conn *conn, const char *handler, const char *plan, size_t limit, tp_batch **batch) {
    tp_claim_request request = {
        .size = sizeof request, .handlers = &handler, .handler_count = 1, .limit = limit, .plan = plan};
    return tp_claim(conn, &request, batch);
}

tp_batch *take(tp_conn *conn, const char *handler, const char *plan, size_t limit) {
    tp_batch *batch = NULL;
    tp_status status = try_to_take(conn, handler, plan, limit, &batch);
    if (status != TP_NONE) must(status);
    return batch;
}

void complete_all(tp_conn *conn, tp_batch *batch) {
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        must(tp_complete(conn, tp_batch_task(batch, i)));
    tp_batch_free(batch);
}

void complete_so_many(tp_conn *conn, tp_batch *batch, size_t count) {
    expect_number(tp_batch_count(batch), count);
    complete_all(conn, batch);
}

void expect_disjoint(const tp_batch *one, const tp_batch *other) {
    for (size_t i = 0; i < tp_batch_count(one); i++)
        sure(!batch_holds(other, tp_batch_task(one, i)->id), "task %s was taken twice",
             tp_batch_task(one, i)->id);
}

void advance(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}

tp_verdict wait_at_gate(MAY_BE_UNUSED tp_run *run, MAY_BE_UNUSED void *arg) {
    gate_pass(&scene.gate);
    return TP_RUN_DONE;
}

tp_verdict count_and_do(MAY_BE_UNUSED tp_run *run, MAY_BE_UNUSED void *arg) {
    atomic_fetch_add(&scene.runs, 1);
    return TP_RUN_DONE;
}

void go_together(struct child *children, int count) {
    for (int i = 0; i < count; i++)
        child_expect(&children[i], "ready");
    for (int i = 0; i < count; i++)
        child_go(&children[i]);
}

void start_together(struct child *children, int count, const char *role, const char *argument) {
    for (int i = 0; i < count; i++)
        children[i] = child_start(role, argument, NULL);
    go_together(children, count);
}

int end_together(struct child *children, int count) {
    char line[CHILD_LINE];
    int sum = 0;
    for (int i = 0; i < count; i++) {
        while (child_listen(&children[i], line)) {
            if (strspn(line, "0123456789") != strlen(line)) print_error("a child said: %s\n", line);
            sum += (int)strtol(line, NULL, 10);
        }
        child_end(&children[i]);
    }
    return sum;
}
