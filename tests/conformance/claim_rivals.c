/* Many claimers at once: no task goes to two of them, none is left. */
#include "base/uuid.h"
#include "ops/conn.h"
#include "suite.h"

THEME(claim_rivals, EACH_PLAN);

enum { RIVALS = 4, TASKS = 400 };

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The ids taken must be the ids put, each once. */
static void expect_union(char (*taken)[ID], size_t count, char (*put)[ID], size_t tasks) {
    qsort(taken, count, ID, by_text);
    for (size_t i = 1; i < count; i++)
        sure(strcmp(taken[i - 1], taken[i]) != 0, "task %s was claimed twice", taken[i]);
    expect_number(count, tasks);
    for (size_t i = 0; i < tasks; i++)
        assert_string_equal(taken[i], put[i]);
}

static void start_rivals(struct child *children, const char *role) {
    for (int i = 0; i < RIVALS; i++)
        children[i] = child_start(role, pool.plan, pool.handler, "7", NULL);
    for (int i = 0; i < RIVALS; i++)
        child_expect(&children[i], "ready");
    for (int i = 0; i < RIVALS; i++)
        child_go(&children[i]);
}

/* Hears the children out; the ids they said. */
static size_t gather(struct child *children, char (*taken)[ID], size_t most) {
    size_t count = 0;
    for (int i = 0; i < RIVALS; i++) {
        char line[CHILD_LINE];
        while (child_listen(&children[i], line)) {
            sure(strlen(line) == ID - 1, "a claimer failed: %s", line);
            sure(count < most, "more tasks were claimed than there are");
            memcpy(taken[count++], line, ID);
        }
        child_end(&children[i]);
    }
    return count;
}

TEST(test_claim_rivals__processes_never_get_one_task_twice) {
    static char put[TASKS][ID], taken[TASKS + 20][ID];
    struct child children[RIVALS];
    task_put_many(TASKS, put);
    start_rivals(children, "take");
    size_t count = gather(children, taken, TASKS + 20);
    expect_union(taken, count, put, TASKS);
    expect_number(
        count_of("tp_pending WHERE handler = '%s' AND state = 'handling' AND failures = 0", pool.handler),
        TASKS);
}

TEST(test_claim_rivals__working_processes_have_each_effect_once) {
    static char put[TASKS / 2][ID], taken[TASKS][ID];
    struct child children[RIVALS];
    task_put_many(TASKS / 2, put);
    start_rivals(children, "work");
    size_t count = gather(children, taken, TASKS);
    expect_union(taken, count, put, TASKS / 2);
    expect_number(rows_in("pending", pool.handler), 0);
    expect_number(rows_in("finished", pool.handler), TASKS / 2);
    expect_number(count_of("tp_fx WHERE note = '%s'", pool.handler), TASKS / 2);
    expect_number(
        sql_number(pool.eye, "SELECT COUNT(DISTINCT task_id) FROM tp_fx WHERE note = '%s'", pool.handler),
        TASKS / 2);
}

struct taker {
    struct aside aside;
    size_t count;
    char ids[TASKS][ID];
};

static atomic_size_t left; /* tasks nobody has taken */

static tp_status take(tp_conn *conn, void *arg) {
    struct taker *taker = arg;
    tp_claim_request request = claim_request(5);
    while (atomic_load(&left) > 0) {
        tp_batch *batch = NULL;
        tp_status status = tp_claim(conn, &request, &batch);
        if (status < TP_OK && !tp_status_may_retry(status)) return status;
        for (size_t i = 0; i < tp_batch_count(batch) && taker->count < TASKS; i++)
            memcpy(taker->ids[taker->count++], tp_batch_task(batch, i)->id, ID);
        size_t got = tp_batch_count(batch);
        atomic_fetch_sub(&left, got < atomic_load(&left) ? got : atomic_load(&left));
        tp_batch_free(batch);
    }
    return TP_OK;
}

TEST(test_claim_rivals__threads_never_get_one_task_twice) {
    enum { COUNT = 200 };
    static struct taker takers[RIVALS];
    static char put[COUNT][ID], taken[RIVALS * TASKS][ID];
    size_t count = 0;
    task_put_many(COUNT, put);
    atomic_store(&left, COUNT);
    memset(takers, 0, sizeof takers);
    for (int i = 0; i < RIVALS; i++)
        aside_start(&takers[i].aside, new_session(), take, &takers[i]);
    for (int i = 0; i < RIVALS; i++)
        must(aside_end(&takers[i].aside));
    for (int i = 0; i < RIVALS; i++) {
        memcpy(taken[count], takers[i].ids, takers[i].count * ID);
        count += takers[i].count;
    }
    expect_union(taken, count, put, COUNT);
}

enum { MANY = 600, PLENTY = 50 };

struct hungry {
    struct aside aside;
    const char *const *handlers;
    size_t empty; /* claims that got nothing while plenty was there */
};

static tp_status take_two_kinds(tp_conn *conn, void *arg) {
    struct hungry *hungry = arg;
    tp_status status = TP_OK;
    tp_claim_request request = request_with(.limit = 2, .handlers = hungry->handlers, .handler_count = 2);
    while (atomic_load(&left) > PLENTY && status >= TP_OK) {
        tp_batch *batch = NULL;
        status = tp_claim(conn, &request, &batch);
        if (status == TP_NONE && atomic_load(&left) > PLENTY) hungry->empty++;
        atomic_fetch_sub(&left, tp_batch_count(batch));
        tp_batch_free(batch);
    }
    return status;
}

/* A statement that locks all it sorts would leave the others with nothing, for as long as it runs. */
TEST(test_claim_rivals__claims_seldom_go_empty_while_many_of_several_handlers_are_due) {
    char name[TP_HANDLER_MAX];
    const char *handlers[] = {pool.handler, name};
    struct hungry takers[RIVALS] = {0};
    tp_new_task *tasks;
    size_t empty = 0;
    if (strcmp(pool.plan, "skip") != 0) return;
    snprintf(name, sizeof name, "%s.other", pool.handler);
    tasks = memory(MANY, sizeof *tasks);
    for (size_t i = 0; i < MANY; i++) {
        tasks[i] = task_new("x");
        tasks[i].handler = handlers[i % 2];
    }
    must(tp_enqueue_many(pool.eye, tasks, MANY, NULL));
    atomic_store(&left, MANY);
    for (int i = 0; i < RIVALS; i++) {
        takers[i].handlers = handlers;
        aside_start(&takers[i].aside, new_session(), take_two_kinds, &takers[i]);
    }
    for (int i = 0; i < RIVALS; i++) {
        assert_true(aside_end(&takers[i].aside) >= TP_OK);
        empty += takers[i].empty;
    }
    assert_in_range(empty, 0, RIVALS); /* a claim may lose every race, and does so seldom */
}

/* Two sessions, turn by turn: what one has, the other does not get. */
TEST(test_claim_rivals__two_sessions_share_the_tasks_out) {
    char put[20][ID], taken[20][ID];
    size_t count = 0;
    task_put_many(20, put);
    for (int turn = 0; count < 20 && turn < 20; turn++) {
        tp_batch *batch = claim_up_to(turn % 2 ? pool.a : pool.b, 3);
        for (size_t i = 0; i < tp_batch_count(batch); i++)
            memcpy(taken[count++], tp_batch_task(batch, i)->id, ID);
    }
    expect_union(taken, count, put, 20);
    expect_nothing(pool.a);
    expect_nothing(pool.b);
}

enum { SHARE = 5 };

/* In the middle of a claim: the one statement of plan skip, where there is one, before it commits. */
static void take_by_skip(tp_conn *conn) {
    struct tpi_args args = {0};
    struct tpi_stmt *rows = NULL;
    int64_t count = 0;
    char token[ID];
    tpi_uuid_random(token);
    tpi_args_text(&args, TPI_P_handler, pool.handler);
    tpi_args_text(&args, TPI_P_token, token);
    tpi_args_number(&args, TPI_P_limit, SHARE);
    tpi_args_number(&args, TPI_P_lease_ms, 60000);
    tpi_args_number(&args, TPI_P_priority, 0);
    tpi_args_number(&args, TPI_P_ahead, 0);
    tpi_args_number(&args, TPI_P_since, 0);
    if (conn->store.caps & TPI_CAP_SKIP_UPDATE) {
        must(tpi_store_change(&conn->store, TPI_S_claim_skip, &args, &count));
    } else {
        must(tpi_store_query(&conn->store, TPI_S_claim_skip, &args, &rows));
        for (; tpi_stmt_fetch(rows) == TP_OK; count++) {
        }
        tpi_stmt_close(rows);
    }
    expect_number(count, SHARE);
}

/* The same of plan hold. */
static void take_by_hold(tp_conn *conn) {
    tp_batch *batch = claim_with(conn, .limit = SHARE, .plan = "hold");
    expect_count(batch, SHARE);
}

static bool in_one_statement(void) {
    return strcmp(pool.plan, "skip") == 0 &&
           (pool.b->store.caps & (TPI_CAP_SKIP_UPDATE | TPI_CAP_SKIP_RETURNING));
}

static void expect_both_get_theirs(bool beside) {
    if (beside) must(tp_begin(pool.b));
    if (!beside)
        claim(pool.b, SHARE);
    else if (in_one_statement())
        take_by_skip(pool.b);
    else
        take_by_hold(pool.b);
    tp_batch *batch = claim(pool.a, SHARE);
    for (size_t i = 0; i < SHARE; i++)
        must(tp_release(pool.a, tp_batch_task(batch, i), 0));
    if (beside) must(tp_rollback(pool.b));
}

/* Databases choose their ways by what they know of the table, and may lock what they pass over. */
TEST(test_claim_rivals__a_second_claimer_gets_its_tasks_in_pools_of_any_size) {
    static const size_t sizes[] = {2 * SHARE, 60, 300, 10000};
    bool beside = !pool_on_sqlite() && strcmp(pool.plan, "batch") != 0 && strcmp(pool.plan, "cas") != 0;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        pool_empty();
        task_put_many(sizes[i], NULL);
        if (beside) pool_fail_waits(pool.a);
        for (int measured = 0; measured < 2; measured++) {
            if (measured) pool_measure();
            expect_both_get_theirs(beside);
            if (!beside) break;
        }
    }
    pool_empty();
}
