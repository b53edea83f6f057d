/* See cleaning.h. The handlers' names say when they were made, and ids are in the order of time, so only what
 * is newer is read. */
#include "cleaning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "common/clocks.h"
#include "common/operator_name.h"
#include "shared.h"

#define MARGIN_MS   3600000 /* a clock that was set back meanwhile */
#define PAGE        1000
#define TIME_DIGITS 12

/* ---- Names ------------------------------------------------------------------------------------------- */

void bench_handler_name(struct bench *bench) {
    uint32_t random = 0;
    FILE *source = fopen("/dev/urandom", "r");

    if (source) {
        (void)!fread(&random, sizeof random, 1, source);
        (void)fclose(source);
    }
    bench->started_at = clock_utc_ms();
    snprintf(bench->handler, sizeof bench->handler, BENCH_PREFIX "%0*" PRIx64 "-%08" PRIx32, TIME_DIGITS,
             (uint64_t)bench->started_at, random);
}

/* The time in such a name; 0: there is none. */
static int64_t time_of(const char *handler) {
    char digits[TIME_DIGITS + 1];

    snprintf(digits, sizeof digits, "%s", handler + strlen(BENCH_PREFIX));
    return (int64_t)strtoull(digits, NULL, 16);
}

/* An id smaller than all that were made since. */
static void id_since(int64_t ms, char id[TP_ID_SIZE]) {
    uint64_t at = ms > MARGIN_MS ? (uint64_t)(ms - MARGIN_MS) : 0;

    snprintf(id, TP_ID_SIZE, "%08" PRIx64 "-%04" PRIx64 "-7000-8000-000000000000", at >> 16 & 0xffffffff,
             at & 0xffff);
}

/* ---- Selecting --------------------------------------------------------------------------------------- */

struct cleaning {
    struct bench *bench;
    char since[TP_ID_SIZE];
};

static void begin(struct cleaning *cleaning, struct bench *bench) {
    cleaning->bench = bench;
    id_since(bench->started_at, cleaning->since);
}

/* Up to a page of the handler's tasks in a pool; TP_NONE: there are none. */
static tp_status list(const struct cleaning *cleaning, const char *pool, const char *state, tp_batch **page) {
    tp_list_request request = TP_LIST_INIT;

    request.pool = pool;
    request.handler = cleaning->bench->handler;
    request.state = state;
    request.after_id = cleaning->since;
    request.limit = PAGE;
    return tp_list(cleaning->bench->conn, &request, page);
}

static tp_status act_on_page(const struct cleaning *cleaning, tp_action action, const char *pool,
                             const tp_batch *page, size_t *done) {
    tp_selection selection = TP_SELECTION_INIT;
    tp_operated result = TP_OPERATED_INIT;
    const char *ids[PAGE];
    tp_status status;

    selection.ids = ids;
    selection.id_count = tp_batch_count(page);
    for (size_t i = 0; i < selection.id_count; i++)
        ids[i] = tp_batch_task(page, i)->id;
    selection.pool = pool;
    selection.handler = cleaning->bench->handler;
    selection.who = operator_name(NULL);
    selection.why = "taskpool bench";
    status = tp_operate(cleaning->bench->conn, action, &selection, &result);
    *done = result.done;
    return status;
}

/* All tasks of the handler in a pool, page by page. What others hold at the moment is left. */
static tp_status act(const struct cleaning *cleaning, tp_action action, const char *pool, const char *state,
                     size_t *sum) {
    for (;;) {
        const char *named = action == TP_ACTION_RELEASE ? NULL : pool;
        tp_batch *page = NULL;
        size_t done = 0;
        tp_status status = bench_stops() > 1 ? TP_NONE : list(cleaning, pool, state, &page);

        if (status == TP_NONE) return TP_OK;
        if (status == TP_OK) status = act_on_page(cleaning, action, named, page, &done);
        tp_batch_free(page);
        *sum += done;
        if (status != TP_OK || done == 0) return status;
    }
}

/* ---- What is open ------------------------------------------------------------------------------------ */

static tp_status complete_batch(struct bench *bench, tp_claim_request *request) {
    const tp_task *tasks[TP_CLAIM_MAX];
    tp_batch *batch = NULL;
    tp_status status = tp_claim(bench->conn, request, &batch);
    size_t count = tp_batch_count(batch);

    for (size_t i = 0; i < count; i++)
        tasks[i] = tp_batch_task(batch, i);
    if (status == TP_OK) status = tp_complete_many(bench->conn, tasks, count, NULL);
    tp_batch_free(batch);
    return status;
}

static tp_status complete_due(struct bench *bench) {
    tp_claim_request request = TP_CLAIM_INIT;
    const char *handlers[1] = {bench->handler};
    tp_status status = TP_OK;

    request.handlers = handlers;
    request.handler_count = 1;
    request.limit = TP_CLAIM_MAX;
    request.plan = tp_conn_about(bench->conn)->leased_plan;
    while (status == TP_OK && bench_stops() < 2)
        status = complete_batch(bench, &request);
    return status < 0 ? status : TP_OK;
}

enum cli_exit bench_drain(struct bench *bench) {
    tp_status status = complete_due(bench);

    return status == TP_OK ? EXIT_DONE : cli_fail_tp(status);
}

/* Tasks of a process that died are taken away from it; those that wait for a retry are not due. */
static tp_status end_open(const struct cleaning *cleaning) {
    size_t done = 0;
    tp_status status = act(cleaning, TP_ACTION_RELEASE, "pending", "handling", &done);

    if (status == TP_OK) status = complete_due(cleaning->bench);
    if (status == TP_OK) status = act(cleaning, TP_ACTION_SKIP, "pending", NULL, &done);
    return status;
}

/* ---- Taking out -------------------------------------------------------------------------------------- */

static tp_status purge_history(struct bench *bench) {
    tp_selection selection = TP_SELECTION_INIT;

    selection.pool = "history";
    selection.handler = bench->handler;
    selection.who = operator_name(NULL);
    selection.why = "taskpool bench";
    return tp_operate(bench->conn, TP_ACTION_PURGE, &selection, NULL);
}

static tp_status purge(const struct cleaning *cleaning) {
    struct bench *bench = cleaning->bench;
    size_t done = 0;
    tp_status status = act(cleaning, TP_ACTION_PURGE, "finished", NULL, &done);

    if (status == TP_OK) status = act(cleaning, TP_ACTION_PURGE, "failed", NULL, &done);
    bench->removed += (int64_t)done;
    return status;
}

static tp_status take_out(struct bench *bench) {
    struct cleaning cleaning;
    tp_status status;

    begin(&cleaning, bench);
    status = end_open(&cleaning);
    if (status == TP_OK) status = purge(&cleaning);
    if (status == TP_OK && bench->removed < bench->put_in) {
        /* Others purge too; or the clock was set back, and they have smaller ids. */
        id_since(0, cleaning.since);
        status = end_open(&cleaning);
        if (status == TP_OK) status = purge(&cleaning);
    }
    return status == TP_OK ? purge_history(bench) : status;
}

enum cli_exit bench_may_clean(struct bench *bench) {
    static const char *const pools[] = {"finished", "failed"};
    char none[TP_ID_SIZE];
    const char *ids[1] = {none};
    tp_selection selection = TP_SELECTION_INIT;
    tp_status status = TP_OK;

    id_since(0, none);
    selection.ids = ids;
    selection.id_count = 1;
    selection.handler = bench->handler;
    selection.who = operator_name(NULL);
    for (size_t i = 0; i < 2 && status == TP_OK; i++) {
        selection.pool = pools[i];
        status = tp_operate(bench->conn, TP_ACTION_PURGE, &selection, NULL);
    }
    if (status == TP_OK) return EXIT_DONE;
    return cli_fail(cli_exit_of(status), "nothing was put in, because it could not be taken out again: %s",
                    tp_last_error()->text);
}

enum cli_exit bench_clean(struct bench *bench) {
    tp_status status = take_out(bench);

    if (status < 0 && bench_reopen(bench) == TP_OK) status = take_out(bench);
    if (status == TP_OK && bench_stops() < 2) return EXIT_DONE;
    return cli_fail(status < 0 ? cli_exit_of(status) : EXIT_INTERRUPTED,
                    "tasks of the bench are still there%s%s; take them out with taskpool bench --clean %s",
                    status < 0 ? ": " : "", status < 0 ? tp_last_error()->text : "", bench->handler);
}

/* ---- What killed runs left --------------------------------------------------------------------------- */

struct names {
    char (*name)[TP_HANDLER_MAX + 1];
    size_t count;
};

static void add_name(struct names *names, const char *handler) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], handler) == 0) return;
    names->name = cli_must(realloc(names->name, (names->count + 1) * sizeof *names->name));
    snprintf(names->name[names->count++], sizeof *names->name, "%s", handler);
}

static void add_handler_name(const tp_stat *stat, void *arg) {
    if (strncmp(stat->handler, BENCH_PREFIX, strlen(BENCH_PREFIX)) == 0) add_name(arg, stat->handler);
}

enum cli_exit bench_clean_left(struct bench *bench, const char *handler) {
    struct names names = {NULL, 0};
    enum cli_exit code = EXIT_DONE;
    tp_status status = TP_OK;

    if (handler)
        add_name(&names, handler);
    else
        status = tp_stats(bench->conn, 1, add_handler_name, &names);
    if (status < 0) code = cli_fail_tp(status);
    for (size_t i = 0; i < names.count && code == EXIT_DONE; i++) {
        snprintf(bench->handler, sizeof bench->handler, "%s", names.name[i]);
        bench->started_at = time_of(bench->handler);
        code = bench_clean(bench);
    }
    free(names.name);
    return code;
}
