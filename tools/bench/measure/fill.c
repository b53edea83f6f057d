/* Fills the pools with rows before a measure, by plain SQL. See fill.h. */
#include "bench/measure/fill.h"

#include <inttypes.h>
#include <stdio.h>

#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

#define PAST   INT64_C(1000000000000)
#define LATER  INT64_C(1100000000000) /* past as well */
#define FUTURE INT64_C(4000000000000)

enum { TEXT = 600, SETTLED_BASE = 10000 };

static const char *const one_handler[] = {"mine"};
static const char *const three_handlers[] = {"h1", "h2", "h3"};
static const int32_t first_shard[] = {1};

const struct scene scenes[SCENE_COUNT] = {
#define SCENE_ROW(id, base, handlers, shards, what)                                                          \
    [SCENE_##                                                                                                \
        id] = {#id, what, base, handlers, sizeof handlers / sizeof handlers[0], shards, (shards) != NULL},
    SCENE_LIST(SCENE_ROW)
#undef SCENE_ROW
};

/* ---- One statement ------------------------------------------------------------------------------------- */

static int64_t ids; /* given out up to now */

/* A table of the numbers n from 1 to count. */
static void write_numbers(char *out, long long count) {
    if (pool_on_postgres())
        snprintf(out, TEXT, "(SELECT n FROM generate_series(1, %lld) AS series(n)) numbers", count);
    else if (pool_on_mariadb() && !pool_on_mysql())
        snprintf(out, TEXT, "(SELECT CAST(seq AS SIGNED) AS n FROM seq_1_to_%lld) numbers", count);
    else
        snprintf(out, TEXT,
                 "(WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < %lld) "
                 "SELECT n FROM up) numbers",
                 count);
}

/* Ids in rising order, as the library makes them. */
static void write_id(char *out) {
    long long first = ids;
    if (pool_on_postgres())
        snprintf(out, TEXT, "CAST('00000000-0000-7000-8000-' || LPAD(TO_HEX(n + %lld), 12, '0') AS uuid)",
                 first);
    else if (pool_on_mariadb())
        snprintf(out, TEXT, "CONCAT('00000000-0000-7000-8000-', LPAD(LOWER(HEX(n + %lld)), 12, '0'))", first);
    else
        snprintf(out, TEXT, "printf('00000000-0000-7000-8000-%%012x', n + %lld)", first);
}

/* The word with the value of expression after it. */
static void write_word(char *out, const char *word, const char *expression) {
    snprintf(out, TEXT, pool_on_mariadb() ? "CONCAT('%s', %.99s)" : "'%s' || (%.99s)", word, expression);
}

/* The first of the columns is the id. */
static void put(const char *table, const char *columns, const char *values, int64_t count) {
    char numbers[TEXT], id[TEXT];
    if (count <= 0) return;
    write_numbers(numbers, count);
    write_id(id);
    sql_run(pool.eye, "INSERT INTO %s (%s) SELECT %s, %s FROM %s", table, columns, id, values, numbers);
    ids += count;
}

/* The numbers from first on, of so many, over and over; of 0: first alone. */
struct cycle {
    int first, of;
};

static void write_cycle(char *out, struct cycle cycle) {
    const char *form = pool_on_mariadb() ? "%d + MOD(n, %d)" : "%d + n %% %d";
    if (cycle.of)
        snprintf(out, TEXT, form, cycle.first, cycle.of); /* NOLINT */
    else
        snprintf(out, TEXT, "%d", cycle.first);
}

/* Tasks of the pending pool. */
struct kind {
    struct cycle handler; /* h1, h2, ...; of 0: "mine" */
    struct cycle shard, priority;
    const char *state;
    int64_t due;
};

static void put_pending(const struct kind *kind, int64_t count) {
    char values[8 * TEXT], key[TEXT], number[TEXT], handler[TEXT] = "'mine'", shard[TEXT], priority[TEXT];
    write_word(key, "order ", "n");
    write_cycle(number, kind->handler);
    if (kind->handler.of) write_word(handler, "h", number);
    write_cycle(shard, kind->shard);
    write_cycle(priority, kind->priority);
    snprintf(values, sizeof values, "%s, %s, '{\"order\": 4711}', %s, %s, '%s', 0, %lld + n, %lld, %lld",
             handler, key, shard, priority, kind->state, (long long)kind->due, (long long)PAST,
             (long long)PAST);
    put("tp_pending",
        "id, handler, biz_key, params, shard, priority, state, failures, due_at, created_at, modified_at",
        values, count);
}

static void put_settled(const char *table, const char *state, int64_t count) {
    char values[2 * TEXT], key[TEXT];
    write_word(key, "order ", "n");
    snprintf(values, sizeof values,
             "'mine', %.99s, '{\"order\": 4711}', 0, 0, '%s', 1, %lld, %lld, %lld, %lld + n", key, state,
             (long long)PAST, (long long)PAST, (long long)PAST, (long long)PAST);
    put(table,
        "id, handler, biz_key, params, shard, priority, state, failures, due_at, created_at, modified_at, "
        "settled_at",
        values, count);
}

static void put_history(int64_t count) {
    char values[2 * TEXT], task[TEXT], key[TEXT], number[TEXT];
    write_id(task);
    snprintf(values, sizeof values, "%s, 'mine', 'failed', 1, 'measure', %lld + n", task, (long long)PAST);
    put("tp_history", "id, task_id, handler, event, attempt, who, created_at", values, count);
    snprintf(number, sizeof number, "n + %lld", (long long)ids);
    write_word(key, "key", number);
    snprintf(values, sizeof values, "%s, %lld + n", key, (long long)PAST);
    put("tp_once", "owner, once_key, created_at", values, count);
    write_id(task);
    snprintf(values, sizeof values, "'charge', %lld + n, %s, %lld + n", (long long)PAST, task,
             (long long)PAST);
    put("tp_step", "task_id, step, task_created_at, owner, created_at", values, count);
    snprintf(values, sizeof values, "%lld + n, %lld", (long long)FUTURE, (long long)PAST);
    put("tp_cancel", "task_id, due_at, created_at", values, 4 * count);
}

/* ---- Scenes -------------------------------------------------------------------------------------------- */

static void put_finished(int64_t count) {
    put_settled("tp_finished", "done", count);
    put_settled("tp_failed", "failed", count);
    put_history(count);
}

/* How the scenes' tasks differ from pending ones of handler "mine", shard and priority 0, due in the past. */
static const struct kind bases[SCENE_COUNT] = {
    [SCENE_handlers] = {.handler = {1, 3}},
    [SCENE_behind] = {.shard = {1, 0}, .due = LATER},
};
static const struct kind burdens[SCENE_COUNT] = {
    [SCENE_future] = {.priority = {-1, 2}, .due = FUTURE},
    [SCENE_retry] = {.state = "failed", .due = FUTURE},
    [SCENE_handlers] = {.handler = {1, 200}},
    [SCENE_shards] = {.shard = {1, 10}},
    [SCENE_behind] = {.shard = {2, 9}},
    [SCENE_mixed] = {.shard = {1, 10}, .priority = {0, 50}},
};

static void put_tasks(const struct kind *as, int64_t count) {
    struct kind kind = *as;
    if (!kind.state) kind.state = "pending";
    if (!kind.due) kind.due = PAST;
    put_pending(&kind, count);
}

/* An index that nothing was ever put into has no root: PostgreSQL looks for it whenever it makes a plan, so
 * that the smallest pool, where each statement is new, would cost more than its trees are high. */
static void root_indexes(void) {
    put("tp_pending",
        "id, handler, biz_key, dedup_key, shard, priority, state, failures, owner, due_at, created_at, "
        "modified_at",
        "'z', 'z', 'z', 1, 0, 'pending', 0, 'ffffffff-ffff-7fff-bfff-ffffffffffff', 0, 0, 0", 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = 'z'");
}

void fill_begin(enum scene_id scene) {
    static const char *const tables[] = {"pending", "finished", "failed", "history",
                                         "once",    "step",     "cancel"};
    if (pool_on_mysql()) sql_run(pool.eye, "SET SESSION cte_max_recursion_depth = 100000000");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        sql_run(pool.eye, pool_on_sqlite() ? "DELETE FROM tp_%s" : "TRUNCATE TABLE tp_%s", tables[i]);
    root_indexes();
    put_tasks(&bases[scene], scene == SCENE_finished ? SETTLED_BASE : scenes[scene].base);
}

const char *const look_up_names[LOOK_UPS] = {"look-up-id", "look-up-lane", "look-up-key", "look-up-owner"};

/* Places where there is nothing, so that no row is read. */
void fill_look_up(tp_conn *conn, enum scene_id scene, enum look_up which) {
    static const char *const places[LOOK_UPS] = {
        [LOOK_UP_ID] = "id = 'ffffffff-ffff-7fff-bfff-ffffffffffff'",
        [LOOK_UP_LANE] = "handler = 'z' AND priority = 0 AND due_at = 0",
        [LOOK_UP_KEY] = "biz_key = 'z'",
        [LOOK_UP_OWNER] = "owner = 'ffffffff-ffff-7fff-bfff-ffffffffffff'",
    };
    bool finished = scene == SCENE_finished && which == LOOK_UP_ID;
    sql_number(conn, "SELECT COUNT(*) FROM %s WHERE %s", finished ? "tp_finished" : "tp_pending",
               places[which]);
}

void fill_burden(enum scene_id scene, int64_t count) {
    if (scene == SCENE_finished)
        put_finished(count);
    else
        put_tasks(&burdens[scene], count);
}
