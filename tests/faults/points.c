/* See points.h. What a way does to a call: inject.h. What it counts is printed by table.c. */
#include "faults/points.h"

#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "faults/inject.h"
#include "faults/table.h"
#include "ops/conn.h"

enum { CALLS_MAX = 6, WRONGS_MAX = 12 };

struct points_options points_options;
char untouched_mark;

/* The run that is on. */
static struct {
    const struct operation *operation; /* NULL: none */
    const char *plan;
    enum way way;
    int k;      /* 0: nothing is made to fail */
    bool noted; /* something is wrong in it */
    int wrongs; /* of this test */
} run;

/* ---- What is wrong ------------------------------------------------------------------------------------- */

static void print_point(void) {
    print_error("%s%s%s, ", run.operation->name, run.plan ? ", " : "", run.plan ? run.plan : "");
    if (run.k)
        print_error("%s %d (%s): ", way_names[run.way], run.k, inject_where());
    else
        print_error("nothing fails: ");
}

void wrong(const char *format, ...) {
    char text[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    run.wrongs++;
    run.noted = true;
    if (run.wrongs > WRONGS_MAX) return;
    print_point();
    print_error("%s\n", text);
}

void judge_number(int64_t got, int64_t wanted, const char *what) {
    if (got != wanted) wrong("%s is %d, not %d", what, (int)got, (int)wanted);
}

void judge_untouched(tp_status status, bool untouched, const char *what) {
    if (status < TP_OK && !untouched) wrong("%s was touched by a failure", what);
}

bool way_is_anothers(void) {
    return run.k && (run.way == WAY_LOCKED || run.way == WAY_DEADLOCK || run.way == WAY_SERIALIZATION);
}

bool way_is_permanent(void) {
    return run.k && run.way == WAY_KILLED && pool_on_sqlite();
}

bool way_is_allocation(void) {
    return run.k && run.way == WAY_ALLOCATION;
}

bool has_failed(void) {
    return run.k && inject_has_hit();
}

static bool is(const struct operation *operation, enum trait trait) {
    return operation->traits & trait;
}

/* ---- Connections --------------------------------------------------------------------------------------- */

static void open_loan(struct work *work) {
    work->loan = loan_open(SQL_AUTOCOMMIT_OFF);
    work->conn = work->loan.conn;
    inject_set_session(work->loan.raw.dbc);
}

static void close_loan(struct work *work) {
    long session = inject_session();
    loan_close(&work->loan);
    session_await_end(session);
}

/* Locks of the old session would be somebody else's. */
static void reopen(struct work *work) {
    long session = inject_session();
    tp_status status = tp_conn_reopen(work->conn);
    if (status != TP_OK) wrong("tp_conn_reopen: %s", tp_last_error()->text);
    session_await_end(session);
    inject_set_session(work->conn->store.link.dbc);
}

/* A rollback reports success on a connection that the driver knows to be lost. */
static bool has_died(SQLHDBC dbc) {
    SQLUINTEGER dead = SQL_CD_FALSE;
    return SQL_SUCCEEDED(SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL)) &&
           dead == SQL_CD_TRUE;
}

static void recover_loan(struct work *work) {
    bool lost = work->answer == TP_DISCONNECTED || has_died(work->loan.raw.dbc);
    if (!lost) lost = !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, work->loan.raw.dbc, SQL_ROLLBACK));
    if (!lost) return;
    close_loan(work);
    open_loan(work);
}

/* When memory is there again at the commit, what is missing must not be stored without the rest. */
static void end_transaction(tp_conn *conn) {
    tp_status wanted = way_is_allocation() ? TP_CONFLICT : TP_OK;
    tp_status status = way_is_allocation() ? tp_commit(conn) : tp_rollback(conn);
    if (status != wanted) wrong("the transaction's end answered %s", tp_status_name(status));
}

/* After a failure, as an application would. */
static void recover(const struct operation *operation, struct work *work) {
    tp_status status = work->answer;
    if (is(operation, TRAIT_SESSIONS)) return;
    if (is(operation, TRAIT_BORROWED)) {
        recover_loan(work);
        return;
    }
    if (status != TP_DISCONNECTED && work->conn->store.link.tx != TPI_TX_NONE) end_transaction(work->conn);
    if (status == TP_DISCONNECTED || status == TP_DB) reopen(work);
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* After a commit without an answer. TP_NONE: nothing of the transaction is stored. */
static tp_status ask_settled(const struct operation *operation, struct work *work) {
    if (!work->unsure || !is(operation, TRAIT_SETTLES) || !work->tasks[0]) return TP_NONE;
    tp_status status = tp_settled(work->conn, work->tasks[0]);
    bool holds = operation->plan && pool_plan_holds(operation->plan);
    if (status == TP_LOST && holds) status = TP_NONE;
    if (status >= TP_OK) work->unsure = false;
    return status;
}

static tp_status call_in_transaction(const struct operation *operation, struct work *work) {
    bool borrowed = is(operation, TRAIT_BORROWED);
    tp_status status = ask_settled(operation, work);
    if (status != TP_NONE) return status;
    status = borrowed ? TP_OK : tp_begin(work->conn);
    if (status == TP_OK) status = operation->call(work);
    if (status < TP_OK) return status;
    tp_status committed = borrowed ? own_commit(work) : tp_commit(work->conn);
    work->unsure = borrowed ? committed != TP_OK : committed == TP_DISCONNECTED;
    return committed == TP_OK ? status : committed;
}

/* Is a failure one that this way may lead to? */
static bool may_fail_so(const struct operation *operation, enum way way, tp_status status) {
    if (way == WAY_ALLOCATION) {
        if (status == TP_CONFLICT) return is(operation, TRAIT_IGNORES_ANSWER);
        return status == TP_NOMEM && tp_last_error()->status == TP_NOMEM && *tp_last_error()->text;
    }
    if (status == TP_DISCONNECTED)
        return way != WAY_LOCKED && way != WAY_SERIALIZATION && way != WAY_DEADLOCK;
    if (status == TP_TIMEOUT) return way == WAY_LOCKED || way == WAY_SERIALIZATION;
    if (status == TP_DB) return way_is_permanent();
    return status == TP_CONFLICT;
}

static void judge_failure(const struct operation *operation, struct work *work) {
    tp_status status = work->answer;
    if (!has_failed() || !may_fail_so(operation, run.way, status))
        wrong("answered %s: %s", tp_status_name(status), tp_last_error()->text);
    if (is(operation, TRAIT_PIECEMEAL) || is(operation, TRAIT_NO_TABLES)) return;
    bool says_nothing_changed = status == TP_CONFLICT || status == TP_TIMEOUT;
    if (says_nothing_changed && work->calls == 1 && !snapshot_same(&work->before, &work->now))
        wrong("says that nothing was changed, and this was:\n%s", work->now.text);
}

static void read_tables(const struct operation *operation, struct snapshot *snapshot) {
    if (!is(operation, TRAIT_NO_TABLES)) snapshot_read(snapshot);
}

/* Calls until there is an answer, with one failure at most. */
static void call_until_answered(const struct operation *operation, struct work *work) {
    bool inside = is(operation, TRAIT_TRANSACTION) || is(operation, TRAIT_BORROWED);
    tp_status wanted = operation->answer;
    bool answered = false;
    while (!answered && work->calls < CALLS_MAX) {
        work->calls++;
        work->answer = inside ? call_in_transaction(operation, work) : operation->call(work);
        inject_end_call();
        answered = work->answer >= TP_OK;
        if (!answered) {
            read_tables(operation, &work->now);
            judge_failure(operation, work);
            recover(operation, work);
            read_tables(operation, &work->now);
            if (operation->answer_again) wanted = operation->answer_again(work);
        }
    }
    if (work->answer != wanted)
        wrong("answered %s in the end, not %s%s%s", tp_status_name(work->answer), tp_status_name(wanted),
              answered ? "" : ": ", answered ? "" : tp_last_error()->text);
}

/* ---- One run ------------------------------------------------------------------------------------------- */

static void begin_run(const struct operation *operation, struct work *work) {
    static int number;
    memset(work, 0, sizeof *work);
    work->conn = pool.a;
    work->plan = run.plan;
    work->request = claim_request(10);
    snprintf(pool.handler, sizeof pool.handler, "h%d", ++number);
    snprintf(work->key, sizeof work->key, "key.%d", number);
    run.noted = false;
    snapshot_wipe();
    /* A close that fails last is answered by nothing but the next call. */
    if (pool.a->store.link.dead) reopen(work);
    if (operation->prepare) operation->prepare(work);
    if (is(operation, TRAIT_BORROWED))
        open_loan(work);
    else
        forget_all(work->conn);
    if (is(operation, TRAIT_CONNECTS)) inject_forget_session();
    if (is(operation, TRAIT_SHARED)) (void)tp_conn_dbc(work->conn);
    read_tables(operation, &work->before);
}

/* What the way has done to the session may not have been noticed yet. */
static void mend_session(const struct operation *operation, struct work *work) {
    if (is(operation, TRAIT_BORROWED) || is(operation, TRAIT_SESSIONS)) return;
    if (work->conn->store.link.tx != TPI_TX_NONE) {
        wrong("a transaction is still open");
        (void)!tp_rollback(work->conn);
    }
    if (is(operation, TRAIT_CONNECTS)) inject_set_session(work->conn->store.link.dbc);
    bool killed = has_failed() && run.way == WAY_KILLED;
    if (has_failed() && run.way == WAY_FORGOTTEN) inject_set_session(work->conn->store.link.dbc);
    if (killed || work->conn->store.link.dead) reopen(work);
}

static void judge_run(const struct operation *operation, struct work *work) {
    if (operation->finish && work->answer >= TP_OK) operation->finish(work);
    snapshot_read(&work->now);
    snapshot_judge(work);
    operation->judge(work);
    if (run.noted && run.wrongs <= WRONGS_MAX)
        print_error("before:\n%snow:\n%s", work->before.text, work->now.text);
}

static void end_run(const struct operation *operation, struct work *work) {
    if (is(operation, TRAIT_BORROWED)) close_loan(work);
    for (size_t i = 0; i < work->batch_count; i++)
        tp_batch_free(work->batches[i]);
    tp_worker_close(work->worker);
    tp_conn_close(work->other);
    tp_env_close(work->env);
    if (work->raw.dbc) pool_raw_close(&work->raw);
    if (operation->clear) operation->clear(work);
}

static const struct tpi_link *link_of(const struct operation *operation, const struct work *work) {
    return is(operation, TRAIT_SESSIONS) ? NULL : &work->conn->store.link;
}

static struct work work;

/* points: nothing is made to fail, and they are counted; NULL: the k-th fails. False: that one was not met.
 */
static bool run_once(const struct operation *operation, enum way way, int k, int *points) {
    bool hit = false;
    run.way = way;
    run.k = k;
    begin_run(operation, &work);
    if (points)
        inject_count(link_of(operation, &work));
    else
        inject_arm(way, k, link_of(operation, &work));
    call_until_answered(operation, &work);
    if (points)
        inject_end_count(points);
    else
        hit = inject_disarm();
    mend_session(operation, &work);
    judge_run(operation, &work);
    end_run(operation, &work);
    return hit;
}

/* ---- All points ---------------------------------------------------------------------------------------- */

static int step_of(const struct operation *operation) {
    if (points_options.all) return 1;
    return points_options.every * (is(operation, TRAIT_EXPENSIVE) ? EXPENSIVE : 1);
}

static int letters(const char *name) {
    int sum = 0;
    for (; name && *name; name++)
        sum += *name;
    return sum;
}

/* Clocks and other threads may change the count from run to run, so a point may not be met. Where none was,
 * earlier ones are tried. */
static void run_way(const struct operation *operation, enum way way, int count, int *tried) {
    int step = step_of(operation), within = step < count ? step : count;
    if (count == 0) return;
    int first = 1 + (letters(operation->name) + letters(run.plan) + (int)way) % within;
    for (int k = first; k <= count; k += step)
        *tried += run_once(operation, way, k, NULL);
    for (int k = first / 2; k && !*tried; k /= 2)
        *tried += run_once(operation, way, k, NULL);
}

static void run_plan(const struct operation *operation, const char *plan, bool calls) {
    int counts[WAYS], counted = 0, tried = 0;
    run.operation = operation;
    run.plan = plan;
    int *line = table_line(operation->name, plan);
    (void)run_once(operation, WAY_UNSENT, 0, counts);
    for (int way = 0; way < WAYS; way++) {
        if ((way != WAY_ALLOCATION) != calls || !points_options.ways[way]) continue;
        run_way(operation, (enum way)way, counts[way], &line[way]);
        counted += counts[way];
        tried += line[way];
    }
    if (counted && !tried) wrong("none of %d points was met", counted);
}

static void note_finding(const tp_finding *finding, void *arg) {
    (void)arg;
    if (!finding->ok) print_error("%s: %s\n", finding->name, finding->text);
}

static void run_operation(const struct operation *operation, bool calls) {
    int bad = 0;
    run.wrongs = 0;
    inject_open(points_options.all);
    if (!is(operation, TRAIT_EACH_PLAN)) run_plan(operation, operation->plan, calls);
    if (is(operation, TRAIT_ALSO_HOLD) && pool_plan_possible("hold")) run_plan(operation, "hold", calls);
    for (int p = 0; p < PLANS && is(operation, TRAIT_EACH_PLAN); p++)
        if (pool_plan_possible(pool_plans[p]) && !pool_plan_holds(pool_plans[p]))
            run_plan(operation, pool_plans[p], calls);
    must(tp_check(pool.eye, note_finding, NULL, &bad));
    run.operation = NULL;
    expect_number(run.wrongs, 0);
    expect_number(bad, 0);
}

void points_of_calls(const struct operation *operation) {
    run_operation(operation, true);
}

void points_of_allocations(const struct operation *operation) {
    run_operation(operation, false);
}

int points_end_test(void **state) {
    (void)state;
    if (run.operation) {
        print_point();
        print_error("the test ended here\n");
    }
    (void)inject_disarm();
    run.operation = NULL;
    return 0;
}
