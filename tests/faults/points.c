/* See points.h. What a way does to a call: strike.h. */
#include "faults/points.h"

#include <inttypes.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/strike.h"
#include "ops/conn.h"
#include "ops/pause.h"

enum { CALLS_MAX = 400, AGAIN_MAX = 6, LINES_MAX = 240, COMPLAINTS_MAX = 12 };

/* One line of the table at the end. */
struct line {
    char name[64];
    int points[WAYS];
};

static struct {
    bool all;
    int step; /* from one call that fails to the next */
    struct line lines[LINES_MAX];
    size_t line_count;
    int wrongs;          /* of this test */
    bool told;           /* something is wrong in this run */
    const char *running; /* the operation of the run that is on */
    const char *plan;
    enum way way;
    int k;
} points = {.step = 1};

void points_every(int step) {
    sure(step >= 1, "--every takes a number from 1");
    points.step = step;
}

void points_all(bool all) {
    points.all = all;
    strike_all(all);
}

bool points_are_all(void) {
    return points.all;
}

/* ---- What is wrong ------------------------------------------------------------------------------------- */

static const char *way_name(enum way way) {
    static const char *const names[] = {
#define WAY_NAME(id, name) name,
        WAY_LIST(WAY_NAME)
#undef WAY_NAME
    };
    return names[way];
}

void wrong(const char *format, ...) {
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    points.wrongs++;
    points.told = true;
    if (points.wrongs > COMPLAINTS_MAX) return;
    print_error("%s %s, %s, call %d (%s): %s\n", points.running, points.plan ? points.plan : "",
                way_name(points.way), points.k, strike_where(), text);
}

bool way_is_anothers(void) {
    return points.way == WAY_LOCKED || points.way == WAY_DEADLOCK || points.way == WAY_SERIALIZATION;
}

bool way_is_permanent(void) {
    return points.way == WAY_KILLED && pool_on_sqlite();
}

/* ---- Connections --------------------------------------------------------------------------------------- */

static void open_loan(struct work *work) {
    work->loan = loan_open(SQL_AUTOCOMMIT_OFF);
    work->conn = work->loan.conn;
    strike_know_session(work->loan.raw.dbc);
}

static void close_loan(struct work *work) {
    long session = strike_session();
    loan_close(&work->loan);
    session_await_end(session);
}

static bool borrows(const struct operation *operation) {
    return operation->traits & TRAIT_BORROWED;
}

/* The work begins as on a connection that has prepared nothing, so that call k
 * is the same in every run. */
static void make_cold(tp_conn *conn) {
    tpi_pause_forget(conn);
    tpi_store_forget(&conn->store);
    conn->store.link.shared = false;
}

/* Locks of the old session would be somebody else's. */
static void reopen(struct work *work) {
    long session = strike_session();
    tp_status status = tp_conn_reopen(work->conn);
    if (status != TP_OK) wrong("tp_conn_reopen: %s", tp_last_error()->text);
    session_await_end(session);
    strike_know_session(work->conn->store.link.dbc);
}

/* A rollback reports success on a connection that the driver knows to be lost. */
static bool has_died(SQLHDBC dbc) {
    SQLUINTEGER dead = SQL_CD_FALSE;
    return SQL_SUCCEEDED(SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL)) &&
           dead == SQL_CD_TRUE;
}

/* After a failure, as an application would. */
static void recover(const struct operation *operation, struct work *work, tp_status status) {
    if (borrows(operation)) {
        bool lost = status == TP_DISCONNECTED || has_died(work->loan.raw.dbc);
        if (!lost) lost = !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, work->loan.raw.dbc, SQL_ROLLBACK));
        if (!lost) return;
        close_loan(work);
        open_loan(work);
        return;
    }
    if (status != TP_DISCONNECTED && work->conn->store.link.tx != TPI_TX_NONE) {
        tp_status rolled = tp_rollback(work->conn);
        if (rolled != TP_OK) wrong("tp_rollback: %s", tp_status_name(rolled));
    }
    if (status == TP_DISCONNECTED || status == TP_DB) reopen(work);
}

/* ---- One run ------------------------------------------------------------------------------------------- */

static void begin_run(const struct operation *operation, struct work *work, const char *plan) {
    static int number;
    *work = (struct work){.conn = pool.a, .plan = plan, .all = points.all, .request = claim_request(0)};
    snprintf(pool.handler, sizeof pool.handler, "h%d", ++number);
    snprintf(work->key, sizeof work->key, "key/%d", number);
    points.told = false;
    picture_wipe();
    /* A close that fails last is answered by nothing but the next call. */
    if (pool.a->store.link.dead) reopen(work);
    if (operation->prepare) operation->prepare(work);
    if (borrows(operation))
        open_loan(work);
    else
        make_cold(work->conn);
    if (operation->traits & TRAIT_CONNECTS) strike_forget_session();
    picture_read(&work->before);
}

/* Is a failure one that this way may lead to? */
static bool may_fail_so(enum way way, tp_status status) {
    if (status == TP_DISCONNECTED)
        return way != WAY_LOCKED && way != WAY_SERIALIZATION && way != WAY_DEADLOCK;
    if (status == TP_TIMEOUT) return way == WAY_LOCKED || way == WAY_SERIALIZATION;
    if (status == TP_DB) return way_is_permanent();
    return status == TP_CONFLICT;
}

static void judge_failure(const struct operation *operation, struct work *work) {
    tp_status status = work->answer;
    if (!may_fail_so(points.way, status))
        wrong("answered %s: %s", tp_status_name(status), tp_last_error()->text);
    if (operation->traits & TRAIT_PIECEMEAL) return;
    bool says_nothing_changed = status == TP_CONFLICT || status == TP_TIMEOUT;
    if (says_nothing_changed && work->calls == 1 && !picture_same(&work->before, &work->now))
        wrong("says that nothing was changed, and this was:\n%s", work->now.text);
}

/* Calls until there is an answer, with one failure at most. */
static void call_until_answered(const struct operation *operation, struct work *work) {
    tp_status wanted = operation->answer;
    bool answered = false;
    while (!answered && work->calls < AGAIN_MAX) {
        work->calls++;
        work->answer = operation->call(work);
        strike_end_call();
        answered = work->answer >= TP_OK;
        if (!answered) {
            picture_read(&work->now);
            judge_failure(operation, work);
            recover(operation, work, work->answer);
            picture_read(&work->now);
            if (operation->answer_again) wanted = operation->answer_again(work);
        }
    }
    if (work->answer != wanted)
        wrong("answered %s in the end, not %s%s%s", tp_status_name(work->answer), tp_status_name(wanted),
              answered ? "" : ": ", answered ? "" : tp_last_error()->text);
}

static void end_run(const struct operation *operation, struct work *work) {
    if (borrows(operation)) close_loan(work);
    if (!borrows(operation) && work->conn->store.link.tx != TPI_TX_NONE) {
        wrong("a transaction is still open");
        (void)!tp_rollback(work->conn);
    }
    if (operation->traits & TRAIT_CONNECTS) strike_know_session(work->conn->store.link.dbc);
    for (size_t i = 0; i < work->batch_count; i++)
        tp_batch_free(work->batches[i]);
}

/* False: no call was left that could fail. */
static bool run_point(const struct operation *operation, const char *plan) {
    static struct work work;
    begin_run(operation, &work, plan);
    strike_arm(points.way, points.k, &work.conn->store.link);
    call_until_answered(operation, &work);
    bool struck = strike_disarm();
    picture_read(&work.now);
    picture_judge(&work, operation->traits & TRAIT_LAPSES);
    operation->judge(&work);
    if (points.told && points.wrongs <= COMPLAINTS_MAX)
        print_error("before:\n%snow:\n%s", work.before.text, work.now.text);
    end_run(operation, &work);
    return struck;
}

/* ---- All points ---------------------------------------------------------------------------------------- */

int *points_line(const char *name) {
    sure(points.line_count < LINES_MAX, "too many lines");
    struct line *line = &points.lines[points.line_count++];
    snprintf(line->name, sizeof line->name, "%s", name);
    return line->points;
}

void points_now(const char *name, enum way way, int k) {
    points.running = name;
    points.plan = NULL;
    points.way = way;
    points.k = k;
}

static void run_operation(const struct operation *operation, const char *plan) {
    char name[sizeof points.lines[0].name];
    snprintf(name, sizeof name, "%s%s%s", operation->name, plan ? ", " : "", plan ? plan : "");
    int *line = points_line(name);
    points.running = operation->name;
    points.plan = plan;
    for (int way = 0; way < WAYS; way++) {
        points.way = (enum way)way;
        for (points.k = 1 + way % points.step; points.k < CALLS_MAX; points.k += points.step) {
            if (!run_point(operation, plan)) break;
            line[way]++;
        }
        sure(points.k < CALLS_MAX, "%s does not come to its end", operation->name);
    }
}

static bool is_for(const struct operation *operation, const char *plan) {
    if (operation->plan) return strcmp(operation->plan, plan) == 0;
    return !pool_plan_holds(plan);
}

static void say_finding(const tp_finding *finding, void *arg) {
    (void)arg;
    if (!finding->ok) print_error("%s: %s\n", finding->name, finding->text);
}

void points_begin(void) {
    points.wrongs = 0;
    strike_open();
}

void points_end(void) {
    int bad = 0;
    must(tp_check(pool.eye, say_finding, NULL, &bad));
    expect_number(points.wrongs, 0);
    expect_number(bad, 0);
}

void points_run(const struct operation *operations, size_t count) {
    points_begin();
    for (size_t o = 0; o < count; o++) {
        const struct operation *operation = &operations[o];
        if ((operation->traits & TRAIT_VARIANT) && !points.all) continue;
        if (!operation->plan && !(operation->traits & TRAIT_EACH_PLAN)) {
            run_operation(operation, NULL);
            continue;
        }
        for (int p = 0; p < PLANS; p++)
            if (pool_plan_possible(pool_plans[p]) && is_for(operation, pool_plans[p]))
                run_operation(operation, pool_plans[p]);
    }
    points_end();
}

/* ---- The table ----------------------------------------------------------------------------------------- */

static void print_line(const char *name, const int *numbers) {
    int total = 0;
    printf("%-34s", name);
    for (int way = 0; way < WAYS; way++) {
        printf(" %*d", (int)strlen(way_name((enum way)way)), numbers[way]);
        total += numbers[way];
    }
    printf(" %6d\n", total);
}

void points_print(void) {
    int totals[WAYS] = {0};
    printf("\nfault points tried on %s%s\n%-34s", pool.entry, points.all ? ", long form" : "",
           "operation, plan");
    for (int way = 0; way < WAYS; way++)
        printf(" %s", way_name((enum way)way));
    printf(" %6s\n", "all");
    for (size_t i = 0; i < points.line_count; i++) {
        print_line(points.lines[i].name, points.lines[i].points);
        for (int way = 0; way < WAYS; way++)
            totals[way] += points.lines[i].points[way];
    }
    print_line("all", totals);
}
