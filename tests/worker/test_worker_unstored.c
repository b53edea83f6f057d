/* What a handler has done and the worker cannot store: because the database refuses it, or is gone for longer
 * than the lease. The handler is not called again by this process, and nothing is begun that could not be
 * stored, or that may be another's. */
#include "worker/rig.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/engine.h"
#include "support/session.h"

/* The statement is not run and fails, the first times. */
static size_t refuse(const char *statement, enum faults_kind kind, int times) {
    return faults_add((struct faults_aim){
        .statement = statement, .fault = TPI_FAULT_NOT_SENT, .kind = kind, .times = times});
}

static bool runs(const struct tpi_link *link, const char *function, const char *statement) {
    return faults_executes(statement, function) && link->statement && strcmp(link->statement, statement) == 0;
}

/* ---- Refused ------------------------------------------------------------------------------------------ */

static void test_settle__that_is_refused_for_a_while_is_asked_again(void **state) {
    (void)state;
    rig_put(1, "x");
    size_t aim = refuse("move_finished", FAULTS_PERMANENT, 4);
    rig_run(rig_done);
    expect_number(faults_hits(aim), 4);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_ERROR), 0);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

/* An index of the application's own that every completion of this handler meets. */
static void refuse_completions(const char *plan) {
    tp_worker_options o = rig_options();
    o.plan = plan;
    rig_put(2, "x");
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "CREATE UNIQUE INDEX tp_own_i ON tp_finished (handler)");
    rig_finish(rig_start(&o, rig_done));
    (void)(sql_try(pool.eye, "DROP INDEX tp_own_i") ||
           sql_try(pool.eye, "DROP INDEX tp_own_i ON tp_finished"));
    expect_number(atomic_load(&rig.runs), 2);
    rig_expect(0, 1, 1);
    expect_number(rig_failures("failed"), 1);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 1);
    expect_number(rig_told(TP_EVENT_ERROR), 1);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    const char *reason = rig.watch.texts[TP_EVENT_GAVE_UP];
    assert_ptr_equal(strstr(reason, "done, but the database refuses to store that: "), reason);
}

static void test_settle__a_completion_that_is_always_refused_is_not_done_again(void **state) {
    (void)state;
    refuse_completions(NULL);
}

static void needs_hold(void) {
    if (pool_plan_possible("hold")) return;
    print_message("SKIPPED: plan hold is not possible here\n");
    skip();
}

static void needs_sessions(void) {
    needs_hold();
    if (engine_ends_sessions()) return;
    print_message("SKIPPED: there are no sessions here that could be ended\n");
    skip();
}

static void test_hold__a_completion_that_is_always_refused_is_not_done_again(void **state) {
    (void)state;
    needs_hold();
    refuse_completions("hold");
}

/* Neither as done nor as failed: the lease is extended, and both are asked until one is taken. */
static void test_settle__that_cannot_be_written_at_all_is_kept_until_it_can(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    rig_put(1, "x");
    size_t done = refuse("move_finished", FAULTS_PERMANENT, 6),
           failed = refuse("move_failed", FAULTS_PERMANENT, 1);
    rig_finish(rig_start(&o, rig_done));
    expect_number(faults_hits(done), 6);
    expect_number(faults_hits(failed), 1);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_CLAIMED), 1);
    rig_expect(0, 1, 0);
    expect_number(rig_failures("finished"), 0);
}

/* Left to the lease it would be called again before the ladder says so. */
static void test_settle__a_failure_that_cannot_be_written_is_kept_until_it_can(void **state) {
    (void)state;
    const tp_retry slow = {.size = sizeof(tp_retry), .delays_ms = (const int64_t[]){3600000}, .count = 1};
    tp_worker_options o = rig_options();
    o.retry = &slow;
    o.drain = 0;
    rig_put(1, "x");
    size_t aim = refuse("settle_retry", FAULTS_PERMANENT, 6);
    tp_worker *worker = rig_open(&o, rig_fail, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_RETRY;
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(faults_hits(aim), 6);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_CLAIMED), 1);
    rig_expect(1, 0, 0);
    expect_number(rig_failures("pending"), 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

/* The failed pool has it, but nobody heard so: asked as done again, the claim would seem lost. */
static void test_settle__that_was_written_otherwise_unheard_is_not_told_as_lost(void **state) {
    (void)state;
    struct faults_aim failed = rig_aim_at_settle("move_failed");
    failed.fault = TPI_FAULT_ANSWER_LOST;
    failed.times = 1;
    rig_put(1, "x");
    refuse("move_finished", FAULTS_PERMANENT, 6);
    size_t aim = faults_add(failed);
    rig_run(rig_done);
    expect_number(faults_hits(aim), 1);
    expect_number(rig_told(TP_EVENT_GAVE_UP), 1);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    rig_expect(0, 0, 1);
}

static tp_verdict fail_for_good(tp_run *run, void *arg) {
    tp_run_no_retry(run);
    return rig_fail(run, arg);
}

static void test_no_retry__that_is_refused_becomes_no_retry(void **state) {
    (void)state;
    rig_put(1, "x");
    size_t aim = refuse("move_failed", FAULTS_PERMANENT, 6);
    rig_run(fail_for_good);
    expect_number(faults_hits(aim), 6);
    expect_number(atomic_load(&rig.runs), 1);
    rig_expect(0, 0, 1);
}

/* What waits for its next try, however long, is tried for as long as any other settle. */
static void test_stop__is_not_waited_for_by_what_is_refused(void **state) {
    (void)state;
    tp_worker_options o = rig_undrained();
    rig_put(1, "x");
    size_t aim = refuse("move_failed", FAULTS_PERMANENT, 1000);
    refuse("move_finished", FAULTS_PERMANENT, 1000);
    tp_worker *worker = rig_start(&o, rig_done);
    assert_true(faults_wait_seen(aim, 3));
    tp_worker_stop(worker);
    rig_finish(worker);
    if (faults_seen(aim) < 8) fail_msg("tried %d times", faults_seen(aim));
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_ERROR], "it is done, but that could not be stored"));
    expect_number(rig_count_state("pending", "handling"), 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

/* ---- Out of reach ------------------------------------------------------------------------------------- */

static atomic_bool away, keeper_away;

/* For all but the claimer. */
static bool is_away(const struct tpi_link *link, const char *function) {
    return (runs(link, function, "move_finished") && atomic_load(&away)) ||
           (runs(link, function, "settle_extend") && atomic_load(&keeper_away));
}

static size_t set_away(enum faults_kind kind) {
    atomic_store(&away, true);
    atomic_store(&keeper_away, true);
    return faults_add(
        (struct faults_aim){.fits = is_away, .fault = TPI_FAULT_NOT_SENT, .kind = kind, .times = 1000000});
}

static void come_back(void) {
    atomic_store(&keeper_away, false);
    atomic_store(&away, false);
}

static atomic_bool lapsing; /* the first claim's lease is made to lapse */

/* Comes back when the handler has ended and that could not be stored, under the last of so many claims. */
static void go_away(tp_worker *worker, int claims, enum faults_kind kind) {
    size_t aim = set_away(kind);
    must(tp_worker_start(worker));
    assert_true(faults_wait_seen(aim, 2));
    for (int i = 2; i <= claims; i++) {
        atomic_store(&lapsing, true);
        must(tp_test_advance(pool.a, 61000));
        assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, i));
    }
}

static void test_flight__what_is_done_here_is_not_done_again_when_its_lease_has_lapsed(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    go_away(worker, 3, FAULTS_DEAD);
    come_back();
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_CLAIMED), 3);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_DONE), 1);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    rig_expect(0, 1, 0);
}

static size_t asked;    /* an aim: what the test below waits for */
static atomic_bool met; /* the claim: once is enough */

static void pause_10_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Until so many more of it were seen, or the claim was told as lost. */
static void await_asked(int more) {
    int before = faults_seen(asked);
    for (int i = 0; i < 3000 && !rig_told(TP_EVENT_LOST) && faults_seen(asked) < before + more; i++)
        pause_10_ms();
}

/* The claim is in the database, and the settle under the old one learns that first. */
static void settle_before_claim(struct tpi_link *link, void *arg) {
    const int *looks = arg;
    (void)link;
    if (!atomic_load(&lapsing) || atomic_exchange(&met, true)) return;
    come_back();
    await_asked(*looks);
}

/* What read what was claimed. */
static bool reads_claim(const struct tpi_link *link, const char *function) {
    return runs(link, function, "claim_read") ||
           (link->statement && strcmp(link->statement, "claim_skip") == 0 &&
            strcmp(function, "SQLFetch") == 0);
}

static bool asks_settle(const struct tpi_link *link, const char *function) {
    return runs(link, function, "move_finished");
}

static bool asks_extend(const struct tpi_link *link, const char *function) {
    return runs(link, function, "settle_extend");
}

static void needs_read_claims(void) {
    const char *claim = rig_claim_statement();
    if (strcmp(claim, "claim_skip") == 0 || strcmp(claim, "claim_batch") == 0) return;
    print_message("SKIPPED: what is claimed here is read before\n");
    skip();
}

/* In a claim after the first, before it is read. */
static void meet_claim(void (*meet)(struct tpi_link *link, void *arg), void *arg) {
    atomic_store(&met, false);
    atomic_store(&lapsing, false);
    faults_add((struct faults_aim){.fits = reads_claim, .times = 1000, .meet = meet, .arg = arg});
}

static void is_settled_under_the_second_claim(void) {
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_told(TP_EVENT_CLAIMED), 2);
    expect_number(rig_told(TP_EVENT_DONE), 1);
    rig_expect(0, 1, 0);
}

static void settle_learns_first(int looks) {
    tp_worker_options o = rig_options();
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    asked = faults_add((struct faults_aim){.fits = asks_settle});
    meet_claim(settle_before_claim, &looks);
    go_away(worker, 2, FAULTS_DEAD);
    come_back();
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    is_settled_under_the_second_claim();
}

static void test_flight__nor_when_the_settle_learns_of_the_new_claim_first(void **state) {
    (void)state;
    settle_learns_first(4);
}

/* As one that brings many does, or one whose thread has other work. */
static void test_flight__nor_when_the_new_claim_takes_long(void **state) {
    (void)state;
    settle_learns_first(53);
}

static void extend_before_claim(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    if (!atomic_load(&lapsing) || atomic_exchange(&met, true)) return;
    atomic_store(&keeper_away, false);
    await_asked(3);
}

static void test_flight__nor_when_its_extension_is_refused_before_the_new_claim_is_here(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    asked = faults_add((struct faults_aim){.fits = asks_extend});
    meet_claim(extend_before_claim, NULL);
    go_away(worker, 2, FAULTS_LOCKED);
    come_back();
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_LOST), 0);
    is_settled_under_the_second_claim();
}

/* The handler goes on until its claim was told as lost, and ends before the next one is here. */
static void end_before_claim(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    if (!atomic_load(&lapsing) || atomic_exchange(&met, true)) return;
    come_back();
    (void)watch_wait(&rig.watch, TP_EVENT_LOST, 1);
    int before = faults_seen(asked);
    gate_open(&rig.gate);
    for (int i = 0; i < 300 && faults_seen(asked) < before + 2; i++)
        pause_10_ms();
}

static void test_flight__nor_when_it_ends_after_that_and_before_the_new_claim_is_here(void **state) {
    (void)state;
    needs_read_claims();
    tp_worker_options o = rig_options();
    o.lease_ms = 6000;
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_wait, NULL);
    asked = faults_add((struct faults_aim){.fits = asks_settle});
    meet_claim(end_before_claim, NULL);
    (void)set_away(FAULTS_LOCKED);
    must(tp_worker_start(worker));
    assert_true(gate_wait_arrived(&rig.gate, 1));
    atomic_store(&lapsing, true);
    must(tp_test_advance(pool.a, 7000));
    assert_true(watch_wait(&rig.watch, TP_EVENT_CLAIMED, 2));
    rig_finish(worker);
    is_settled_under_the_second_claim();
}

#define ANOTHER "00000000-0000-7000-8000-00000000beef"

/* Once it was claimed so many times here. */
static void is_taken_by_another(int claims) {
    tp_worker_options o = rig_undrained();
    rig_put(1, "x");
    tp_worker *worker = rig_open(&o, rig_done, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_LOST;
    go_away(worker, claims, FAULTS_DEAD);
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "' WHERE handler = '%s'", pool.handler);
    come_back();
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_LOST), 1);
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_LOST], "was called here"));
    expect_number(rig_told(TP_EVENT_DONE), 0);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(sql_number(pool.eye,
                             "SELECT COUNT(*) FROM tp_pending WHERE handler = '%s' AND state = 'handling' "
                             "AND owner = '" ANOTHER "'",
                             pool.handler),
                  1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

static void test_settle__of_what_another_has_taken_is_told_as_lost(void **state) {
    (void)state;
    is_taken_by_another(1);
}

static void test_flight__what_is_done_here_and_then_taken_is_told_as_lost(void **state) {
    (void)state;
    is_taken_by_another(2);
}

/* ---- Nothing is begun --------------------------------------------------------------------------------- */

/* Extensions, and every claim after the first. */
static bool extends_or_claims(const struct tpi_link *link, const char *function) {
    bool extends = runs(link, function, "settle_extend") || runs(link, function, "settle_extend_many");
    bool claims = atomic_load(&rig.runs) > 0 && runs(link, function, rig_claim_statement());
    return (extends || claims) && !rig_told(TP_EVENT_LOST);
}

/* Outlasts the lease; the other task goes to somebody else meanwhile. */
static tp_verdict outlast_lease(tp_run *run, void *arg) {
    (void)arg;
    if (atomic_fetch_add(&rig.runs, 1)) return TP_RUN_DONE;
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
    (void)sql_try(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "' WHERE handler = '%s' AND id <> '%s'",
                  pool.handler, tp_run_task(run)->id);
    return TP_RUN_DONE;
}

static void test_queue__a_task_whose_lease_is_over_is_not_begun(void **state) {
    (void)state;
    tp_worker_options o = rig_options();
    o.threads = 1;
    o.lease_ms = 1000;
    o.drain = 0;
    rig_put(2, "x");
    faults_add((struct faults_aim){
        .fits = extends_or_claims, .fault = TPI_FAULT_NOT_SENT, .kind = FAULTS_LOCKED, .times = 1000000});
    tp_worker *worker = rig_open(&o, outlast_lease, NULL);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_LOST;
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(rig_told(TP_EVENT_LOST), 1);
    expect_number(atomic_load(&rig.runs), 1);
    assert_non_null(strstr(rig.watch.texts[TP_EVENT_LOST], "was not called here"));
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
}

static size_t settles;      /* the aim of the test below */
static int settle_calls;    /* under the lock of faults.c */
static int failing;         /* settles that fail */
static atomic_int begun_at; /* handlers called when the last of them came */

static bool settle_fails(const struct tpi_link *link, const char *function) {
    bool done = runs(link, function, "move_finished") || runs(link, function, "hold_finish");
    if (!done && !runs(link, function, "move_failed")) return false;
    if (settle_calls++ < failing) atomic_store(&begun_at, atomic_load(&rig.runs));
    return true;
}

/* The second is called before the first settle has failed, perhaps; it ends after that. */
static tp_verdict await_second_settle(tp_run *run, void *arg) {
    (void)run;
    (void)arg;
    if (atomic_fetch_add(&rig.runs, 1) == 1) (void)faults_wait_seen(settles, 2);
    return TP_RUN_DONE;
}

static void few_are_begun_while(enum faults_kind kind, int times, const char *plan, int few) {
    tp_worker_options o = rig_options();
    if (plan) needs_hold();
    o.plan = plan;
    o.threads = 1;
    o.settle_count = 1;
    settle_calls = 0;
    failing = times;
    rig_put(12, "x");
    settles = faults_add((struct faults_aim){
        .fits = settle_fails, .fault = TPI_FAULT_NOT_SENT, .kind = kind, .times = failing});
    rig_finish(rig_start(&o, plan ? rig_done : await_second_settle));
    if (atomic_load(&begun_at) > few) fail_msg("%d were begun", atomic_load(&begun_at));
    expect_number(atomic_load(&rig.runs), 12);
    /* One that met five of the refusals is in the failed pool. */
    expect_number(rig_count("finished") + rig_count("failed"), 12);
    expect_number(rig_failures("finished"), 0);
}

static void test_queue__nothing_is_begun_while_no_settle_gets_an_answer(void **state) {
    (void)state;
    few_are_begun_while(FAULTS_DEAD, 6, NULL, 2);
}

static void test_queue__nothing_is_begun_while_no_settle_can_be_written(void **state) {
    (void)state;
    few_are_begun_while(FAULTS_FULL, 6, NULL, 2);
}

static void test_hold__nothing_is_begun_while_no_settle_can_be_written(void **state) {
    (void)state;
    few_are_begun_while(FAULTS_FULL, 12, "hold", 3);
}

/* What one group of settles leaves room for. */
static void test_hold__few_are_begun_while_every_settle_is_refused(void **state) {
    (void)state;
    few_are_begun_while(FAULTS_PERMANENT, 12, "hold", 4);
}

/* ---- Plan hold: the transaction is lost --------------------------------------------------------------- */

static struct {
    size_t commits; /* an aim */
    int commits_before;
    char before[TP_ID_SIZE]; /* the task of the call before, until the session was ended */
    bool ended;
    atomic_int calls; /* of its handler */
} group;

/* The second of a group: the first is done by then, and its lock is gone while this one goes on. */
static tp_verdict end_session_in_group(tp_run *run, void *arg) {
    const char *id = tp_run_task(run)->id;
    tp_conn *conn = NULL;
    (void)arg;
    atomic_fetch_add(&rig.runs, 1);
    if (group.ended) {
        if (strcmp(id, group.before) == 0) atomic_fetch_add(&group.calls, 1);
        return TP_RUN_DONE;
    }
    int commits = faults_seen(group.commits);
    bool second = group.before[0] && commits == group.commits_before;
    group.commits_before = commits;
    if (!second) {
        snprintf(group.before, sizeof group.before, "%s", id);
        return TP_RUN_DONE;
    }
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    session_kill(session_number(conn));
    group.ended = true;
    gate_pass(&rig.gate);
    return TP_RUN_FAILED;
}

static void test_hold__what_is_done_is_not_done_again_when_its_session_is_lost(void **state) {
    (void)state;
    needs_sessions();
    tp_worker_options o = rig_options();
    o.plan = "hold";
    o.threads = 1;
    rig_put(20, "x");
    memset(&group, 0, sizeof group);
    group.commits = faults_add((struct faults_aim){.statement = "commit"});
    tp_worker *first = rig_start(&o, end_session_in_group);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    tp_worker *second = rig_start(&o, end_session_in_group);
    assert_true(watch_wait(&rig.watch, TP_EVENT_DONE, 19)); /* all but what runs */
    gate_open(&rig.gate);
    rig_finish(first);
    rig_finish(second);
    expect_number(atomic_load(&group.calls), 0);
    rig_expect(0, 20, 0);
}

/* ---- Plan hold: two threads ---------------------------------------------------------------------------- */

static atomic_int inside, most_inside;

/* The first call loses its session, and goes on until the other thread has looked some times. */
static tp_verdict lose_session_alone(tp_run *run, void *arg) {
    tp_conn *conn = NULL;
    (void)arg;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most_inside)) atomic_store(&most_inside, now);
    if (atomic_fetch_add(&rig.runs, 1) == 0 && tp_run_conn(run, &conn) == TP_OK) {
        session_kill(session_number(conn));
        int begins = faults_seen(group.commits);
        for (int i = 0; i < 1000 && atomic_load(&rig.runs) < 2 && faults_seen(group.commits) < begins + 3;
             i++)
            pause_10_ms();
    }
    atomic_fetch_sub(&inside, 1);
    return TP_RUN_DONE;
}

static bool looks_to_hold(const struct tpi_link *link, const char *function) {
    return runs(link, function, "hold_take") || runs(link, function, "hold_take_one") ||
           runs(link, function, "claim_pick");
}

static void test_hold__a_task_whose_lock_was_lost_is_not_run_beside_itself(void **state) {
    (void)state;
    needs_sessions();
    tp_worker_options o = rig_options();
    o.plan = "hold";
    o.threads = 2;
    rig_put(1, "x");
    atomic_store(&inside, 0);
    atomic_store(&most_inside, 0);
    group.commits = faults_add((struct faults_aim){.fits = looks_to_hold});
    rig_finish(rig_start(&o, lose_session_alone));
    expect_number(atomic_load(&most_inside), 1);
    expect_number(atomic_load(&rig.runs), 2);
    rig_expect(0, 1, 0);
}

/* By then the one that held has written its group apart, as far as it can. */
static void hold_ends_before_claim(struct tpi_link *link, void *arg) {
    (void)link;
    (void)arg;
    if (!group.ended || atomic_exchange(&met, true)) return;
    gate_open(&rig.gate);
    (void)watch_wait(&rig.watch, TP_EVENT_LOST, 1);
    int before = faults_seen(asked);
    for (int i = 0; i < 300 && faults_seen(asked) < before + 2; i++)
        pause_10_ms();
}

static void test_hold__nor_when_a_claim_by_leases_has_it_that_is_not_here_yet(void **state) {
    (void)state;
    needs_read_claims();
    needs_sessions();
    tp_worker_options o = rig_options();
    o.threads = 1;
    tp_worker *leases = rig_open(&o, end_session_in_group, NULL);
    o.plan = "hold";
    rig_put(4, "x");
    memset(&group, 0, sizeof group);
    group.commits = faults_add((struct faults_aim){.statement = "commit"});
    asked = faults_add((struct faults_aim){.fits = asks_settle});
    tp_worker *holds = rig_start(&o, end_session_in_group);
    assert_true(gate_wait_arrived(&rig.gate, 1));
    meet_claim(hold_ends_before_claim, NULL);
    must(tp_worker_start(leases));
    rig_finish(leases);
    rig_finish(holds);
    expect_number(atomic_load(&group.calls), 0);
    rig_expect(0, 4, 0);
    expect_number(rig_told(TP_EVENT_LOST), 1);
}

/* ---- Plan hold: what a handler asked for failed ------------------------------------------------------- */

static tp_verdict overlook(tp_run *run, void *arg) {
    const char *params = NULL;
    (void)!tp_run_params(run, &params, NULL);
    return arg ? rig_pay(run, NULL) : rig_done(run, NULL);
}

static void run_overlooking(enum faults_kind kind, void *pays) {
    static char params[20001];
    tp_worker_options o = rig_options();
    needs_hold();
    o.plan = "hold";
    o.threads = 1; /* no other takes the task after a rollback */
    memset(params, 'p', sizeof params - 1);
    rig_put(1, params);
    size_t aim = faults_add((struct faults_aim){
        .statement = "hold_params", .times = 1, .fault = TPI_FAULT_NOT_SENT, .kind = kind});
    tp_worker *worker = rig_open(&o, overlook, pays);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_number(faults_hits(aim), 1);
    rig_expect(0, 1, 0);
}

static void test_hold__what_cannot_be_committed_is_not_taken_for_done(void **state) {
    (void)state;
    run_overlooking(FAULTS_PERMANENT, &rig);
    expect_number(rig_effects(), 1);
    expect_number(atomic_load(&rig.runs), 2);
    expect_number(rig_failures("finished"), 1);
}

static void test_hold__what_is_done_outside_is_not_done_again_though_reading_failed(void **state) {
    (void)state;
    run_overlooking(FAULTS_LOCKED, NULL);
    expect_number(atomic_load(&rig.runs), 1);
    expect_number(rig_failures("finished"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_settle__that_is_refused_for_a_while_is_asked_again),
        RIG_TEST(test_settle__a_completion_that_is_always_refused_is_not_done_again),
        RIG_TEST(test_hold__a_completion_that_is_always_refused_is_not_done_again),
        RIG_TEST(test_settle__that_cannot_be_written_at_all_is_kept_until_it_can),
        RIG_TEST(test_settle__a_failure_that_cannot_be_written_is_kept_until_it_can),
        RIG_TEST(test_settle__that_was_written_otherwise_unheard_is_not_told_as_lost),
        RIG_TEST(test_no_retry__that_is_refused_becomes_no_retry),
        RIG_TEST(test_stop__is_not_waited_for_by_what_is_refused),
        RIG_TEST(test_flight__what_is_done_here_is_not_done_again_when_its_lease_has_lapsed),
        RIG_TEST(test_flight__nor_when_the_settle_learns_of_the_new_claim_first),
        RIG_TEST(test_flight__nor_when_the_new_claim_takes_long),
        RIG_TEST(test_flight__nor_when_its_extension_is_refused_before_the_new_claim_is_here),
        RIG_TEST(test_flight__nor_when_it_ends_after_that_and_before_the_new_claim_is_here),
        RIG_TEST(test_settle__of_what_another_has_taken_is_told_as_lost),
        RIG_TEST(test_flight__what_is_done_here_and_then_taken_is_told_as_lost),
        RIG_TEST(test_queue__a_task_whose_lease_is_over_is_not_begun),
        RIG_TEST(test_queue__nothing_is_begun_while_no_settle_gets_an_answer),
        RIG_TEST(test_queue__nothing_is_begun_while_no_settle_can_be_written),
        RIG_TEST(test_hold__nothing_is_begun_while_no_settle_can_be_written),
        RIG_TEST(test_hold__few_are_begun_while_every_settle_is_refused),
        RIG_TEST(test_hold__what_is_done_is_not_done_again_when_its_session_is_lost),
        RIG_TEST(test_hold__a_task_whose_lock_was_lost_is_not_run_beside_itself),
        RIG_TEST(test_hold__nor_when_a_claim_by_leases_has_it_that_is_not_here_yet),
        RIG_TEST(test_hold__what_cannot_be_committed_is_not_taken_for_done),
        RIG_TEST(test_hold__what_is_done_outside_is_not_done_again_though_reading_failed),
    };
    rig_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_end();
    return failed;
}
