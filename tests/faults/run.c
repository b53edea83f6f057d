/* See run.h. What a way does to a call: inject.h. How the application asks again: loop.h. */
#include "faults/run.h"

#include <stdio.h>
#include <string.h>

#include "faults/inject.h"
#include "ops/conn.h"

enum { CALLS_MAX = 8, WRONGS_MAX = 12 };

char untouched_mark;

/* The run that is on. */
static struct {
    const struct operation *operation; /* NULL: none */
    const char *plan;
    struct point first;  /* 0: nothing is made to fail */
    struct point second; /* counted from the next try on */
    enum loop loop;
    bool first_hit, second_armed;
    char first_where[100];
    bool noted; /* something is wrong in it */
    int wrongs; /* of this operation */
} run;

/* ---- What is wrong ------------------------------------------------------------------------------------- */

static void print_point(void) {
    const char *first = run.second_armed ? run.first_where : inject_where();
    print_error("%s%s%s, ", run.operation->name, run.plan ? ", " : "", run.plan ? run.plan : "");
    if (run.first.k)
        print_error("%s %d (%s)", way_names[run.first.way], run.first.k, first);
    else
        print_error("nothing fails");
    if (run.second.k)
        print_error(", then, %s, %s %d (%s)", loop_name(run.loop), way_names[run.second.way], run.second.k,
                    run.second_armed ? inject_where() : "not come to");
    print_error(": ");
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

/* Has a call failed, or may one yet, in this way? */
static bool has_way(enum way way) {
    return (run.first.k && run.first.way == way) || (run.second_armed && run.second.way == way);
}

bool way_is_anothers(void) {
    return has_way(WAY_LOCKED) || has_way(WAY_DEADLOCK) || has_way(WAY_SERIALIZATION);
}

bool way_is_permanent(void) {
    return has_way(WAY_KILLED) && !engine_ends_sessions();
}

bool way_is_allocation(void) {
    return has_way(WAY_ALLOCATION);
}

bool has_failed(void) {
    return run.first.k && (run.first_hit || inject_has_hit());
}

/* ---- The call ------------------------------------------------------------------------------------------ */

/* After a commit without an answer. TP_NONE: nothing of the transaction is stored. */
static tp_status ask_settled(const struct operation *operation, struct work *work) {
    if (!work->unsure || !operation_is(operation, TRAIT_SETTLES) || !work->tasks[0]) return TP_NONE;
    tp_status status = tp_settled(work->conn, work->tasks[0]);
    bool holds = operation->plan && pool_plan_holds(operation->plan);
    if (status == TP_LOST && holds) status = TP_NONE;
    if (status >= TP_OK) work->unsure = false;
    return status;
}

/* undone: it was answered, and rolled back instead of committed. */
static tp_status call_in_transaction(const struct operation *operation, struct work *work, bool *undone) {
    bool borrowed = operation_is(operation, TRAIT_BORROWED);
    tp_status status = ask_settled(operation, work);
    if (status != TP_NONE) return status;
    status = borrowed ? TP_OK : tp_begin(work->conn);
    if (status == TP_OK) status = operation->call(work);
    if (status < TP_OK) return status;
    *undone = run.loop == LOOP_ROLLED_BACK && work->calls == 2;
    if (*undone) return loop_roll_back(work);
    tp_status committed = borrowed ? own_commit(work) : tp_commit(work->conn);
    work->unsure = borrowed ? committed != TP_OK : committed == TP_DISCONNECTED;
    return committed == TP_OK ? status : committed;
}

/* Is a failure one that this way may lead to? */
static bool way_may_fail_so(const struct operation *operation, enum way way, tp_status status) {
    if (way == WAY_ALLOCATION) {
        if (status == TP_CONFLICT) return operation_is(operation, TRAIT_IGNORES_ANSWER);
        return status == TP_NOMEM && tp_last_error()->status == TP_NOMEM && *tp_last_error()->text;
    }
    if (status == TP_DISCONNECTED)
        return way != WAY_LOCKED && way != WAY_SERIALIZATION && way != WAY_DEADLOCK;
    if (status == TP_TIMEOUT) return way == WAY_LOCKED || way == WAY_SERIALIZATION;
    if (status == TP_DB) return way_is_permanent();
    return status == TP_CONFLICT;
}

/* What is committed is not to be told as undone, whatever was asked for afterwards. */
static bool is_after_commit(void) {
    return strstr(inject_where(), "catch_up") != NULL;
}

/* What the first failure has done to a session may be met by the next try. */
static bool may_fail_so(const struct operation *operation, tp_status status) {
    if (status == TP_DISCONNECTED && is_after_commit()) return true;
    return way_may_fail_so(operation, run.first.way, status) ||
           (run.second_armed && way_may_fail_so(operation, run.second.way, status));
}

static void judge_failure(const struct operation *operation, struct work *work) {
    tp_status status = work->answer;
    if (!has_failed() || !may_fail_so(operation, status))
        wrong("answered %s: %s", tp_status_name(status), tp_last_error()->text);
    if (operation_is(operation, TRAIT_PIECEMEAL) || operation_is(operation, TRAIT_NO_TABLES)) return;
    bool says_nothing_changed = status == TP_CONFLICT || status == TP_TIMEOUT;
    if (says_nothing_changed && work->calls == 1 && !snapshot_same(&work->before, &work->now))
        wrong("says that nothing was changed, and this was:\n%s", work->now.text);
}

static void read_tables(const struct operation *operation, struct snapshot *snapshot) {
    if (!operation_is(operation, TRAIT_NO_TABLES)) snapshot_read(snapshot);
}

static const struct tpi_link *link_of(const struct operation *operation, const struct work *work) {
    return operation_is(operation, TRAIT_SESSIONS) ? NULL : &work->conn->store.link;
}

static void arm_second(const struct operation *operation, const struct work *work) {
    if (!run.second.k || run.second_armed || !inject_has_hit()) return;
    snprintf(run.first_where, sizeof run.first_where, "%s", inject_where());
    (void)inject_disarm();
    run.first_hit = run.second_armed = true;
    inject_arm(run.second.way, run.second.k, link_of(operation, work));
}

/* Calls until there is an answer that stays. */
static void call_until_answered(const struct operation *operation, struct work *work) {
    bool inside = operation_is(operation, TRAIT_TRANSACTION) || operation_is(operation, TRAIT_BORROWED);
    tp_status wanted = operation->answer;
    bool answered = false;
    while (!answered && work->calls < CALLS_MAX) {
        bool undone = false;
        work->calls++;
        work->answer = inside ? call_in_transaction(operation, work, &undone) : operation->call(work);
        inject_end_call();
        answered = work->answer >= TP_OK && !undone;
        if (!answered) {
            read_tables(operation, &work->now);
            if (work->answer < TP_OK) judge_failure(operation, work);
            loop_recover(run.loop, operation, work);
            arm_second(operation, work);
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
    if (pool.a->store.link.dead) loop_reopen(work);
    if (operation->prepare) operation->prepare(work);
    loop_begin(work);
    if (operation_is(operation, TRAIT_BORROWED))
        loop_open_loan(work);
    else
        forget_all(work->conn);
    if (operation_is(operation, TRAIT_CONNECTS)) inject_forget_session();
    if (operation_is(operation, TRAIT_SHARED)) (void)tp_conn_dbc(work->conn);
    read_tables(operation, &work->before);
}

/* What the way has done to the session may not have been noticed yet. */
static void mend_session(const struct operation *operation, struct work *work) {
    if (operation_is(operation, TRAIT_BORROWED) || operation_is(operation, TRAIT_SESSIONS)) return;
    if (work->conn->store.link.tx != TPI_TX_NONE) {
        wrong("a transaction is still open");
        (void)!tp_rollback(work->conn);
    }
    if (operation_is(operation, TRAIT_CONNECTS)) inject_set_session(work->conn->store.link.dbc);
    bool killed = has_failed() && has_way(WAY_KILLED);
    if (has_failed() && has_way(WAY_FORGOTTEN)) inject_set_session(work->conn->store.link.dbc);
    if (killed || work->conn->store.link.dead) loop_reopen(work);
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
    if (operation_is(operation, TRAIT_BORROWED)) loop_close_loan(work);
    for (size_t i = 0; i < work->batch_count; i++)
        tp_batch_free(work->batches[i]);
    tp_worker_close(work->worker);
    tp_conn_close(work->other);
    tp_env_close(work->env);
    if (work->raw.dbc) pool_raw_close(&work->raw);
    if (operation->clear) operation->clear(work);
}

static struct work work;

static void run_it(const struct operation *operation, int *points) {
    run.first_hit = run.second_armed = false;
    begin_run(operation, &work);
    if (points)
        inject_count(link_of(operation, &work));
    else
        inject_arm(run.first.way, run.first.k, link_of(operation, &work));
    call_until_answered(operation, &work);
    if (points)
        inject_end_count(points);
    else
        (void)inject_disarm();
    mend_session(operation, &work);
    judge_run(operation, &work);
    end_run(operation, &work);
}

void run_begin(const struct operation *operation) {
    run.operation = operation;
    run.wrongs = 0;
}

int run_end(void) {
    run.operation = NULL;
    return run.wrongs;
}

void run_give_up(void) {
    if (run.operation) {
        print_point();
        print_error("the test ended here\n");
    }
    (void)inject_disarm();
    run.operation = NULL;
}

void run_count(const char *plan, int points[WAYS]) {
    run.plan = plan;
    run.first = run.second = (struct point){WAY_UNSENT, 0};
    run.loop = LOOP_SAME;
    run_it(run.operation, points);
}

enum run_result run_once(const char *plan, struct point first, struct point second, enum loop loop) {
    run.plan = plan;
    run.first = first;
    run.second = second;
    run.loop = loop;
    run_it(run.operation, NULL);
    if (run.second_armed) return inject_has_hit() ? RUN_BOTH_FAILED : RUN_ASKED_AGAIN;
    return inject_has_hit() ? RUN_FIRST_FAILED : RUN_NOTHING_FAILED;
}
