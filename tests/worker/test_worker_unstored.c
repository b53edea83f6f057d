/* What a handler has done and the worker cannot store: because the database refuses it, or is gone for longer
 * than the lease. The handler is not called again by this process, and nothing is begun that could not be
 * stored, or that may be another's. */
#include "worker/rig.h"

#include "ops/conn.h"
#include "support/engine.h"
#include "support/session.h"
#include "worker/worker.h"

static bool runs(const struct tpi_link *link, const char *function, const char *statement) {
    return faults_executes(statement, function) && link->statement && strcmp(link->statement, statement) == 0;
}

TEST(test_settle__that_is_refused_for_a_while_is_asked_again) {
    faults_refuse("move_finished", FAULTS_PERMANENT, 0, 4);
    rig_run(1, rig_done);
    rig_expect(0, 1, 0, .failures = 0, .runs = 1, .errors = 0, .hits = 4);
}

/* An index of the application's own that every completion of this handler meets. */
static void refuse_completions(const char *plan) {
    rig_put(2, "x");
    sql_run(pool.eye, "DELETE FROM tp_finished");
    sql_run(pool.eye, "CREATE UNIQUE INDEX tp_own_i ON tp_finished (handler)");
    rig_run_with(0, rig_done, .plan = plan);
    (void)(sql_try(pool.eye, "DROP INDEX tp_own_i") ||
           sql_try(pool.eye, "DROP INDEX tp_own_i ON tp_finished"));
    rig_expect(0, 1, 1, .failures = 1, .runs = 2, .gave_up = 1, .lost = 0, .errors = 1);
    const char *reason = rig.watch.texts[TP_EVENT_GAVE_UP];
    assert_ptr_equal(strstr(reason, "done, but the database refuses to store that: "), reason);
}

TEST_AS(test_settle__a_completion_that_is_always_refused_is_not_done_again, refuse_completions(NULL))

TEST(test_hold__a_completion_that_is_always_refused_is_not_done_again) {
    rig_needs_hold();
    refuse_completions("hold");
}

/* Neither as done nor as failed: the lease is extended, and both are asked until one is taken. */
TEST(test_settle__that_cannot_be_written_at_all_is_kept_until_it_can) {
    size_t done = faults_refuse("move_finished", FAULTS_PERMANENT, 0, 6);
    size_t failed = faults_refuse("move_failed", FAULTS_PERMANENT, 0, 1);
    rig_run(1, rig_done);
    expect_number(faults_hits(done), 6);
    expect_number(faults_hits(failed), 1);
    rig_expect(0, 1, 0, .failures = 0, .runs = 1, .claimed = 1);
}

/* Left to the lease it would be called again before the ladder says so. */
TEST(test_settle__a_failure_that_cannot_be_written_is_kept_until_it_can) {
    faults_refuse("settle_retry", FAULTS_PERMANENT, 0, 6);
    rig_run_until(TP_EVENT_RETRY, 1, rig_fail, .retry = RIG_DELAYS(3600000));
    rig_expect(1, 0, 0, .failures = 1, .runs = 1, .claimed = 1, .hits = 6);
    rig_delete_pending();
}

/* The failed pool has it, but nobody heard so: asked as done again, the claim would seem lost. */
TEST(test_settle__that_was_written_otherwise_unheard_is_not_told_as_lost) {
    faults_refuse("move_finished", FAULTS_PERMANENT, 0, 6);
    size_t aim = faults_lose(rig_aim_at_settle("move_failed"), TPI_FAULT_ANSWER_LOST, 0, 1);
    rig_run(1, rig_done);
    expect_number(faults_hits(aim), 1);
    rig_expect(0, 0, 1, .gave_up = 1, .lost = 0);
}

TEST(test_no_retry__that_is_refused_becomes_no_retry) {
    faults_refuse("move_failed", FAULTS_PERMANENT, 0, 6);
    rig_run(1, rig_fail_for_good);
    rig_expect(0, 0, 1, .runs = 1, .hits = 6);
}

/* What waits for its next try, however long, is tried for as long as any other settle. */
TEST(test_stop__is_not_waited_for_by_what_is_refused) {
    int tried = 0;
    size_t aim = faults_refuse("move_failed", FAULTS_PERMANENT, 0, 1000);
    faults_refuse("move_finished", FAULTS_PERMANENT, 0, 1000);
    for (int tries = 0; tried < 8 && tries < 5; tries++) { /* on a busy machine it tries less often */
        int before = faults_seen(aim);
        tp_worker *worker = rig_start(1, rig_done);
        rig_await_seen(aim, before + 3);
        rig_stop(worker);
        tried = faults_seen(aim) - before;
        rig_expect_told(TP_EVENT_ERROR,
                        "it is done, but no answer says that this is stored, so it may be done again");
        expect_number(rig_count_state("pending", "handling"), 1);
        rig_delete_pending();
    }
    if (tried < 8) fail_msg("tried %d times", tried);
}

static atomic_bool away, renewer_away;
static _Atomic pthread_t stepping; /* for this thread nothing is away */

/* For all but the claimer. */
MEANS(is_away) {
    if (pthread_equal(pthread_self(), atomic_load(&stepping))) return false;
    return (runs(link, function, "move_finished") && atomic_load(&away)) ||
           (runs(link, function, "settle_extend") && atomic_load(&renewer_away));
}

static size_t set_away(enum faults_kind kind) {
    atomic_store(&away, true);
    atomic_store(&renewer_away, true);
    return faults_refuse_at((struct faults_aim){.fits = is_away}, kind, 0, 1000000);
}

static void come_back(void) {
    atomic_store(&renewer_away, false);
    atomic_store(&away, false);
}

static atomic_bool lapsing; /* the first claim's lease is made to lapse */

/* Comes back when the handler has ended and that could not be stored, under the last of so many claims. */
static void go_away(tp_worker *worker, int claims, enum faults_kind kind) {
    size_t aim = set_away(kind);
    must(tp_worker_start(worker));
    rig_await_seen(aim, 2);
    for (int i = 2; i <= claims; i++) {
        atomic_store(&lapsing, true);
        must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
        rig_await(TP_EVENT_CLAIMED, i);
    }
}

/* Whichever claim stores it: what the call gave back goes with it. */
HANDLER(give_back) {
    return tp_run_result(run, "done") == TP_OK ? rig_done(run, arg) : TP_RUN_FAILED;
}

static void expect_given_back(void) {
    expect_number(rig_count_where("finished", "result IS NOT NULL"), 1);
}

TEST(test_in_flight__what_is_done_here_is_not_done_again_when_its_lease_has_lapsed) {
    rig_put(1, "x");
    tp_worker *worker = rig_open_with(give_back, .drain = 1);
    go_away(worker, 3, FAULTS_DEAD);
    come_back();
    rig_finish(worker);
    expect_given_back();
    rig_expect(0, 1, 0, .runs = 1, .claimed = 3, .done = 1, .lost = 0);
}

/* By the second claim it is known to nobody but this process that it was done. */
static void done_here_though(const tp_retry *retry, bool cancelled) {
    tp_cancelled answer = TP_CANCELLED_INIT;
    char id[TP_ID_SIZE];
    tp_new_task task = {.size = sizeof task, .handler = pool.handler};
    must(tp_enqueue(pool.a, &task));
    memcpy(id, task.id, sizeof id);
    tp_worker *worker = rig_open_with(give_back, .drain = 1, .retry = retry);
    size_t aim = set_away(FAULTS_DEAD);
    must(tp_worker_start(worker));
    rig_await_seen(aim, 2);
    if (cancelled) must(tp_cancel(pool.b, id, "ann", "wrong amount", &answer));
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    rig_await(TP_EVENT_CLAIMED, 2);
    come_back();
    rig_finish(worker);
    expect_given_back();
    rig_expect(0, 1, 0, .runs = 1, .claimed = 2, .done = 1, .lost = 0);
}

TEST(test_in_flight__what_is_done_here_is_done_though_it_was_cancelled_meanwhile) {
    done_here_though(&rig_quick_retries, true);
}

static const tp_retry lapse_fails = {.size = sizeof lapse_fails, .on_lapse = TP_LAPSE_FAIL};
static const tp_retry lapse_skips = {.size = sizeof lapse_skips, .on_lapse = TP_LAPSE_SKIP};

TEST_AS(test_in_flight__what_is_done_here_is_done_though_a_lapse_fails, done_here_though(&lapse_fails, false))
TEST_AS(test_in_flight__what_is_done_here_is_done_though_a_lapse_skips, done_here_though(&lapse_skips, false))
TEST_AS(test_in_flight__what_is_done_here_is_done_though_it_was_the_last_try,
        done_here_though(&rig_no_retries, false))

static char seen_content; /* the first letter of what was handled last */

HANDLER(read_content) {
    const char *params = NULL;
    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    seen_content = *params;
    return rig_done(run, arg);
}

/* One task whose params begin so, and are of that length. */
static void put_params(const char *beginning, size_t length) {
    char *params = calloc(length + 1, 1);
    assert_non_null(params);
    memset(params, '.', length);
    memcpy(params, beginning, strlen(beginning));
    rig_put(1, params);
    free(params);
}

/* What was done cannot be stored; meanwhile the task is released, and its params are replaced, or as they
 * were. */
static void released_here(size_t length, const char *before, const char *after) {
    bool replaced = strcmp(before, after) != 0;
    put_params(before, length);
    tp_worker *worker = rig_open_with(read_content, .drain = 1, .threads = 1);
    size_t aim = set_away(FAULTS_DEAD);
    must(tp_worker_start(worker));
    rig_await_seen(aim, 2);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'pending', owner = NULL, due_at = 0, params = REPLACE(params, "
            "'%s', '%s') WHERE handler = '%s'",
            before, after, pool.handler);
    rig_await(TP_EVENT_CLAIMED, 2);
    come_back();
    rig_finish(worker);
    expect_number(seen_content, *after);
    rig_expect(0, 1, 0, .runs = replaced ? 2 : 1, .done = 1, .lost = replaced);
}

/* Of the same 64-bit hash FNV-1a. */
#define ALIKE   "8yn0iYCKYHlIj4-BwPqk"
#define ALIKE_2 "GReLUrM4wMqfg9yzV3KQ"

TEST_AS(test_in_flight__content_that_replaced_what_is_done_here_is_run, released_here(10, "pay", "not"))
TEST_AS(test_in_flight__long_content_that_replaced_what_is_done_here_is_run,
        released_here(20000, ALIKE, ALIKE_2))
TEST_AS(test_in_flight__the_same_long_content_is_not_run_again, released_here(20000, "pay", "pay"))

static size_t asked;    /* an aim: what the test below waits for */
static atomic_bool met; /* the claim: once is enough */

/* Until so many of it were seen in all; gives up after so many tries, or when the claim was told as lost. */
static void await_asked(int count, int tries) {
    int lost = rig_told(TP_EVENT_LOST);
    while (tries-- > 0 && rig_told(TP_EVENT_LOST) == lost && faults_seen(asked) < count)
        rig_pause_10_ms();
}

/* In the first claim after the one that is made to lapse, once. */
static bool meets_second_claim(void) {
    return atomic_load(&lapsing) && !atomic_exchange(&met, true);
}

/* The claim is in the database, and the settle under the old one learns that first. */
MEET(settle_before_claim) {
    const int *polls = arg;
    if (!meets_second_claim()) return;
    come_back();
    await_asked(faults_seen(asked) + *polls, 3000);
}

/* What read what was claimed. */
MEANS(reads_claim) {
    return runs(link, function, "claim_read") ||
           (link->statement && strcmp(link->statement, "claim_skip") == 0 &&
            strcmp(function, "SQLFetch") == 0);
}

static void needs_read_claims(void) {
    const char *claim = rig_claim_statement();
    if (strcmp(claim, "claim_skip") == 0 || strcmp(claim, "claim_batch") == 0) return;
    print_message("SKIPPED: what is claimed here is read before\n");
    skip();
}

MEET(stop_it) {
    tp_worker *worker = arg;
    tp_worker_stop(worker);
}

/* The claim has taken tasks, and what reads them is refused in a session that lives on. */
static void refuse_the_read_and_stop(tp_worker *worker) {
    needs_read_claims();
    struct faults_aim read = {.fits = reads_claim, .meet = stop_it, .arg = worker};
    faults_refuse_at(read, FAULTS_LOCKED, 0, 1);
}

static void expect_released(void) {
    rig_expect(4, 0, 0, .failures = 0, .runs = 0, .hits = 1);
    expect_number(rig_count_state("pending", "pending"), 4);
}

TEST(test_stop__finds_what_a_refused_claim_took_and_releases_it) {
    tp_worker *worker = rig_open(rig_done);
    rig_put(4, "x");
    refuse_the_read_and_stop(worker);
    must(tp_worker_start(worker));
    rig_finish(worker);
    expect_released();
}

TEST(test_step__closed_after_a_refused_claim_releases_what_it_took) {
    tp_worker *worker = rig_open(rig_done);
    rig_put(4, "x");
    refuse_the_read_and_stop(worker);
    expect(TP_TIMEOUT, tp_worker_step(worker, NULL));
    rig_close(worker);
    expect_released();
}

/* In a claim after the first, before it is read. */
static void meet_claim(void (*meet)(struct tpi_link *link, void *arg), void *arg) {
    atomic_store(&met, false);
    atomic_store(&lapsing, false);
    faults_at(.fits = reads_claim, .times = 1000, .meet = meet, .arg = arg);
}

static void done_once_though_the_claim_meets(void (*meet)(struct tpi_link *link, void *arg), void *arg,
                                             enum faults_kind kind) {
    rig_put(1, "x");
    tp_worker *worker = rig_open_with(give_back, .drain = 1);
    meet_claim(meet, arg);
    go_away(worker, 2, kind);
    come_back();
    rig_finish(worker);
    expect_given_back();
    rig_expect(0, 1, 0, .runs = 1, .claimed = 2, .done = 1, .lost = 0);
}

static void settle_learns_first(int polls) {
    asked = faults_count("move_finished");
    done_once_though_the_claim_meets(settle_before_claim, &polls, FAULTS_DEAD);
}

TEST_AS(test_in_flight__nor_when_the_settle_learns_of_the_new_claim_first, settle_learns_first(4))

/* As one that brings many does, or one whose thread has other work. */
TEST_AS(test_in_flight__nor_when_the_new_claim_takes_long, settle_learns_first(53))

MEET(extend_before_claim) {
    if (!meets_second_claim()) return;
    atomic_store(&renewer_away, false);
    await_asked(faults_seen(asked) + 3, 3000);
}

TEST(test_in_flight__nor_when_its_extension_is_refused_before_the_new_claim_is_here) {
    asked = faults_count("settle_extend");
    done_once_though_the_claim_meets(extend_before_claim, NULL, FAULTS_LOCKED);
}

/* The handler goes on until its claim was told as lost, and ends before the next one is here. */
MEET(end_before_claim) {
    if (!meets_second_claim()) return;
    come_back();
    (void)watch_wait(&rig.watch, TP_EVENT_LOST, 1);
    int enough = faults_seen(asked) + 2;
    gate_open(&rig.gate);
    await_asked(enough, 300);
}

TEST(test_in_flight__nor_when_it_ends_after_that_and_before_the_new_claim_is_here) {
    needs_read_claims();
    rig_put(1, "x");
    rig_extend_often();
    tp_worker *worker = rig_open_with(rig_wait, .drain = 1);
    asked = faults_count("move_finished");
    meet_claim(end_before_claim, NULL);
    (void)set_away(FAULTS_LOCKED);
    must(tp_worker_start(worker));
    rig_await_arrived(1);
    atomic_store(&lapsing, true);
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    rig_await(TP_EVENT_CLAIMED, 2);
    rig_finish(worker);
    rig_expect(0, 1, 0, .runs = 1, .claimed = 2, .done = 1);
}

#define ANOTHER "00000000-0000-7000-8000-00000000beef"

static pthread_mutex_t *kept; /* a lock that a test has which may fail */

static int let_go(void **state) {
    if (kept) pthread_mutex_unlock(kept);
    kept = NULL;
    return rig_tear_down(state);
}

/* It claims no more, and asks for its settles again for as long as the test takes. */
static void stop_and_go_on(tp_worker *worker) {
    tp_worker_stop(worker);
    while (!atomic_load(&worker->life.stopped_at))
        rig_pause_10_ms();
    atomic_fetch_add(&worker->life.stopped_at, 3600000);
    while (!atomic_load(&worker->life.claims_ended))
        rig_pause_10_ms();
}

/* To the second worker's lease renewer its claim seems lost before it is known that the first has done it. */
TEST_BETWEEN(test_in_flight__nor_by_another_worker_of_the_process, rig_set_up, let_go) {
    char owner[TP_ID_SIZE];
    rig_put(1, "x");
    rig_extend_often();
    tp_worker *first = rig_open(rig_done), *second = rig_open(rig_done);
    size_t aim = set_away(FAULTS_LOCKED);
    must(tp_worker_start(first));
    rig_await_seen(aim, 2);
    atomic_store(&renewer_away, false);
    stop_and_go_on(first);
    asked = faults_count("settle_extend");
    kept = &first->jobs.lock;
    pthread_mutex_lock(kept);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'pending', owner = NULL, due_at = 0 WHERE handler = '%s'",
            pool.handler);
    int seen = faults_seen(asked);
    must(tp_worker_start(second));
    rig_await(TP_EVENT_CLAIMED, 2);
    sql_text(pool.eye, owner, sizeof owner, "SELECT owner FROM tp_pending WHERE handler = '%s'",
             pool.handler);
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "' WHERE handler = '%s'", pool.handler);
    rig_await_seen(asked, seen + 1);
    for (int i = 0; i < 20; i++)
        rig_pause_10_ms(); /* nothing that its lease renewer does is waited for */
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '%s' WHERE handler = '%s'", owner, pool.handler);
    kept = NULL;
    pthread_mutex_unlock(&first->jobs.lock);
    come_back();
    rig_await(TP_EVENT_DONE, 1);
    rig_stop(second);
    rig_finish(first);
    rig_expect(0, 1, 0, .runs = 1, .claimed = 2, .done = 1);
}

/* Whose content cannot be read, so that nobody can say whether it is done. */
TEST(test_hold__what_is_done_here_and_cannot_be_compared_holds_up_no_others) {
    rig_needs_hold();
    put_params("pay", 20000);
    tp_worker *first = rig_open_with(read_content, .threads = 1);
    size_t aim = set_away(FAULTS_DEAD);
    must(tp_worker_start(first));
    rig_await_seen(aim, 2);
    stop_and_go_on(first);
    sql_run(pool.eye,
            "UPDATE tp_pending SET state = 'pending', owner = NULL, due_at = 0 WHERE handler = '%s'",
            pool.handler);
    rig_put(3, "x");
    size_t reads = faults_refuse("hold_params", FAULTS_PERMANENT, 0, 1000000);
    tp_worker *second = rig_start_with(0, rig_done, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_DONE, 3);
    if (faults_hits(reads) < 1) fail_msg("nobody looked at it");
    come_back();
    rig_stop(second);
    rig_finish(first);
    rig_expect(1, 3, 0, .runs = 4, .lost = 1);
    rig_delete_pending();
}

/* Once it was claimed so many times here. */
static void is_taken_by_another(int claims) {
    rig_put(1, "x");
    tp_worker *worker = rig_open(rig_done);
    rig.watch.stop_at = worker;
    rig.watch.stop_on = TP_EVENT_LOST;
    go_away(worker, claims, FAULTS_DEAD);
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "' WHERE handler = '%s'", pool.handler);
    come_back();
    rig_finish(worker);
    rig_expect(.runs = 1, .done = 0, .lost = 1);
    rig_expect_told(TP_EVENT_LOST, "was called here");
    expect_number(rig_count_where("pending", "state = 'handling' AND owner = '" ANOTHER "'"), 1);
    rig_delete_pending();
}

TEST_AS(test_settle__of_what_another_has_taken_is_told_as_lost, is_taken_by_another(1))
TEST_AS(test_in_flight__what_is_done_here_and_then_taken_is_told_as_lost, is_taken_by_another(2))

/* Extensions, and every claim after the first. */
MEANS(extends_or_claims) {
    bool extends = runs(link, function, "settle_extend") || runs(link, function, "settle_extend_many");
    bool claims = atomic_load(&rig.runs) > 0 && runs(link, function, rig_claim_statement());
    return (extends || claims) && !rig_told(TP_EVENT_LOST);
}

/* Until the leases are over; the other task goes to somebody else meanwhile. */
HANDLER(outlast_lease) {
    if (atomic_fetch_add(&rig.runs, 1)) return TP_RUN_DONE;
    rig_let_leases_run_out(2);
    (void)sql_try(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "' WHERE handler = '%s' AND id <> '%s'",
                  pool.handler, tp_run_task(run)->id);
    return TP_RUN_DONE;
}

TEST(test_queue__a_task_whose_lease_is_over_is_not_begun) {
    faults_refuse_at((struct faults_aim){.fits = extends_or_claims}, FAULTS_LOCKED, 0, 1000000);
    rig_run_until(TP_EVENT_LOST, 2, outlast_lease, .threads = 1);
    rig_expect(.runs = 1, .lost = 1);
    rig_expect_told(TP_EVENT_LOST, "was not called here");
    rig_delete_pending();
}

static _Thread_local bool given; /* the last task was given back by this thread, whose commit is next */

HANDLER(give_last_back) {
    if (atomic_fetch_add(&rig.runs, 1) + 1 < 40) return TP_RUN_DONE;
    given = true;
    tp_run_delay(run, 3600000); /* nobody takes it again meanwhile */
    return TP_RUN_LATER;
}

MEANS(commits_the_last) {
    return given && runs(link, function, "commit");
}

MEET(take_the_last) {
    (void)arg;
    sql_run(pool.eye, "UPDATE tp_pending SET owner = '" ANOTHER "', state = 'handling' WHERE handler = '%s'",
            pool.handler);
}

/* Of a group whose commit was stored without an answer one task at most is told as lost: the one that it gave
 * back, when it is alone in it. */
TEST(test_hold__what_was_stored_beside_a_task_that_another_has_taken_is_not_told_as_lost) {
    rig_needs_hold();
    faults_lose((struct faults_aim){.fits = commits_the_last}, TPI_FAULT_ANSWER_LOST, 0, 1);
    faults_at(.statement = "settled", .times = 1, .meet = take_the_last);
    rig_put(40, "x");
    tp_worker *worker = rig_start_with(0, give_last_back, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_DONE, 39);
    rig_stop(worker);
    rig_expect(1, 39, 0, .runs = 40, .done = 39, .hits = 2);
    assert_in_range(rig_told(TP_EVENT_LOST), 0, 1);
    rig_delete_pending();
}

HANDLER(be_done_once) {
    atomic_fetch_add(&rig.runs, 1);
    given = true;
    tp_run_delay(run, 3600000); /* of one that is put back */
    return arg ? (tp_verdict)(intptr_t)arg : TP_RUN_DONE;
}

/* Nobody could find out at once: the server may be at the commit still. Where standbys are waited for before
 * that is told, the session is lost meanwhile. */
static void committed_unheard(tp_verdict verdict) {
    rig_needs_hold();
    bool waits = pool.eye->store.link.driver->catch_up;
    rig.arg = (void *)(intptr_t)verdict;
    faults_lose((struct faults_aim){.fits = commits_the_last}, TPI_FAULT_ANSWER_LOST, 0, 1);
    faults_refuse("settled", FAULTS_PERMANENT, 0, 1);
    if (waits) faults_lose((struct faults_aim){.statement = "catch_up"}, TPI_FAULT_ANSWER_LOST, 0, 1);
    tp_worker *worker =
        rig_start_with(1, be_done_once, .plan = "hold", .threads = 1, .retry = RIG_DELAYS(3600000));
    rig_await(verdict == TP_RUN_DONE    ? TP_EVENT_DONE
              : verdict == TP_RUN_LATER ? TP_EVENT_RELEASED
                                        : TP_EVENT_RETRY,
              1);
    rig_stop(worker);
    rig_expect(.runs = 1, .lost = 0, .errors = 0, .hits = waits ? 3 : 2);
}

TEST(test_hold__what_was_committed_unheard_is_not_told_as_lost) {
    committed_unheard(TP_RUN_DONE);
    rig_expect(0, 1, 0, .done = 1);
}

TEST(test_hold__nor_is_a_failure_that_was) {
    committed_unheard(TP_RUN_FAILED);
    rig_expect(1, 0, 0, .failures = 1, .retried = 1);
    rig_delete_pending();
}

TEST(test_hold__nor_is_one_that_was_put_back) {
    committed_unheard(TP_RUN_LATER);
    rig_expect(1, 0, 0, .failures = 0, .released = 1);
    rig_delete_pending();
}

static atomic_bool no_leases;

MEANS(claims_by_lease) {
    return atomic_load(&no_leases) && !pthread_equal(pthread_self(), atomic_load(&stepping)) &&
           runs(link, function, rig_claim_statement());
}

HANDLER(pay_first_be_done_else) {
    const char *params = NULL;
    if (tp_run_params(run, &params, NULL) != TP_OK) return TP_RUN_FAILED;
    return strcmp(params, "first") == 0 ? rig_pay(run, arg) : rig_done(run, arg);
}

/* By a group whose first asks for the connection, so that the next is not run there. The commit may have
 * begun the next transaction. */
TEST(test_hold__what_was_done_by_a_lease_before_is_settled_behind_the_commit) {
    rig_needs_hold();
    tp_worker *holds = rig_open_with(pay_first_be_done_else, .plan = "hold");
    tp_worker *leases = rig_open_with(pay_first_be_done_else, .threads = 1);
    rig_put(1, "x");
    rig_step(holds, 1);
    holds->step.group = 2;
    atomic_store(&stepping, pthread_self());
    rig_put(1, "second");
    size_t aim = set_away(FAULTS_DEAD);
    must(tp_worker_start(leases));
    rig_await_seen(aim, 2);
    atomic_store(&no_leases, true);
    faults_refuse_at((struct faults_aim){.fits = claims_by_lease}, FAULTS_LOCKED, 0, 1000000);
    rig_put(1, "first");
    must(rig_advance(pool.a, RIG_LEASE_OVER_MS));
    rig_step(holds, 1);
    atomic_store(&stepping, (pthread_t){0});
    atomic_store(&no_leases, false);
    come_back();
    rig_stop(leases);
    rig_close(holds);
    rig_expect(0, 3, 0, .runs = 3, .effects = 1);
}

static size_t settles;      /* the aim of the test below */
static int settle_calls;    /* under the lock of faults.c */
static int failing;         /* settles that fail */
static atomic_int begun_at; /* handlers called when the last of them came */

MEANS(settle_fails) {
    bool done = runs(link, function, "move_finished") || runs(link, function, "hold_finish");
    if (!done && !runs(link, function, "move_failed")) return false;
    if (settle_calls++ < failing) atomic_store(&begun_at, atomic_load(&rig.runs));
    return true;
}

/* The second is called before the first settle has failed, perhaps; it ends after that. */
HANDLER(await_second_settle) {
    if (atomic_fetch_add(&rig.runs, 1) == 1) faults_wait_seen(settles, 2);
    return TP_RUN_DONE;
}

static void few_are_begun_while(enum faults_kind kind, int times, const char *plan, int few) {
    if (plan) rig_needs_hold();
    settle_calls = 0;
    failing = times;
    settles = faults_refuse_at((struct faults_aim){.fits = settle_fails}, kind, 0, failing);
    rig_run_with(12, plan ? rig_done : await_second_settle, .plan = plan, .threads = 1, .settle_count = 1);
    if (atomic_load(&begun_at) > few) fail_msg("%d were begun", atomic_load(&begun_at));
    rig_expect(.runs = 12);
    /* One that met five of the refusals is in the failed pool. */
    expect_number(rig_count("finished") + rig_count("failed"), 12);
    expect_number(rig_failures("finished"), 0);
}

TEST_AS(test_queue__nothing_is_begun_while_no_settle_gets_an_answer,
        few_are_begun_while(FAULTS_DEAD, 6, NULL, 2))
TEST_AS(test_queue__nothing_is_begun_while_no_settle_can_be_written,
        few_are_begun_while(FAULTS_FULL, 6, NULL, 2))
TEST_AS(test_hold__nothing_is_begun_while_no_settle_can_be_written,
        few_are_begun_while(FAULTS_FULL, 12, "hold", 3))

/* What one group of settles leaves room for. */
TEST_AS(test_hold__few_are_begun_while_every_settle_is_refused,
        few_are_begun_while(FAULTS_PERMANENT, 12, "hold", 4))

static _Thread_local int commits; /* of this thread */

MEANS(counts_commits) {
    commits += runs(link, function, "commit");
    return false;
}

static struct {
    size_t polls; /* an aim */
    int commits_before;
    char before[TP_ID_SIZE]; /* the task of the call before, until the session was ended */
    bool ended;
    atomic_int calls; /* of its handler */
} group;

/* The second of a group: the first is done by then, and its lock is gone while this one goes on. */
HANDLER(end_session_in_group) {
    const char *id = tp_run_task(run)->id;
    tp_conn *conn = NULL;
    atomic_fetch_add(&rig.runs, 1);
    if (group.ended) {
        if (strcmp(id, group.before) == 0) atomic_fetch_add(&group.calls, 1);
        return TP_RUN_DONE;
    }
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

TEST(test_hold__what_is_done_is_not_done_again_when_its_session_is_lost) {
    rig_needs_hold();
    rig_needs_sessions_that_can_be_ended();
    memset(&group, 0, sizeof group);
    faults_at(.fits = counts_commits);
    tp_worker *first = rig_start_with(20, end_session_in_group, .drain = 1, .plan = "hold", .threads = 1);
    rig_await_arrived(1);
    tp_worker *second = rig_start_with(0, end_session_in_group, .drain = 1, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_DONE, 19); /* all but what runs */
    rig_let_finish(first);
    rig_finish(second);
    expect_number(atomic_load(&group.calls), 0);
    rig_expect(0, 20, 0);
}

/* The session's end frees the task's lock, for who waits to replace it. */
TEST(test_hold__content_that_replaced_what_is_done_is_run_when_its_session_is_lost) {
    rig_needs_hold();
    rig_needs_sessions_that_can_be_ended();
    memset(&group, 0, sizeof group);
    faults_at(.fits = counts_commits);
    tp_worker *first = rig_start_with(20, end_session_in_group, .drain = 1, .plan = "hold", .threads = 1);
    rig_await_arrived(1);
    sql_run(pool.eye, "UPDATE tp_pending SET params = 'y', modified_at = modified_at + 1 WHERE id = '%s'",
            group.before);
    tp_worker *second = rig_start_with(0, end_session_in_group, .drain = 1, .plan = "hold", .threads = 1);
    rig_await(TP_EVENT_DONE, 19); /* all but what runs */
    rig_let_finish(first);
    rig_finish(second);
    expect_number(atomic_load(&group.calls), 1);
    rig_expect(0, 20, 0);
}

static atomic_int inside, most_inside;

/* The first call loses its session, and goes on until the other thread has polled some times. */
HANDLER(lose_session_alone) {
    tp_conn *conn = NULL;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most_inside)) atomic_store(&most_inside, now);
    if (atomic_fetch_add(&rig.runs, 1) == 0 && tp_run_conn(run, &conn) == TP_OK) {
        session_kill(session_number(conn));
        int polls = faults_seen(group.polls);
        for (int i = 0; i < 1000 && atomic_load(&rig.runs) < 2 && faults_seen(group.polls) < polls + 3; i++)
            rig_pause_10_ms();
    }
    atomic_fetch_sub(&inside, 1);
    return TP_RUN_DONE;
}

MEANS(polls_to_hold) {
    return runs(link, function, "hold_take") || runs(link, function, "hold_take_one") ||
           runs(link, function, "claim_pick");
}

TEST(test_hold__a_task_whose_lock_was_lost_is_not_run_beside_itself) {
    rig_needs_hold();
    rig_needs_sessions_that_can_be_ended();
    atomic_store(&inside, 0);
    atomic_store(&most_inside, 0);
    group.polls = faults_at(.fits = polls_to_hold);
    rig_run_with(1, lose_session_alone, .plan = "hold", .threads = 2);
    expect_number(atomic_load(&most_inside), 1);
    rig_expect(0, 1, 0, .runs = 2);
}

/* By then the one that held has written its group apart, as far as it can. */
MEET(hold_ends_before_claim) {
    if (!group.ended || atomic_exchange(&met, true)) return;
    gate_open(&rig.gate);
    (void)watch_wait(&rig.watch, TP_EVENT_LOST, 1);
    await_asked(faults_seen(asked) + 2, 300);
}

TEST(test_hold__nor_when_a_claim_by_leases_has_it_that_is_not_here_yet) {
    needs_read_claims();
    rig_needs_hold();
    rig_needs_sessions_that_can_be_ended();
    tp_worker *leases = rig_open_with(end_session_in_group, .drain = 1, .threads = 1);
    memset(&group, 0, sizeof group);
    faults_at(.fits = counts_commits);
    asked = faults_count("move_finished");
    tp_worker *holds = rig_start_with(8, end_session_in_group, .drain = 1, .plan = "hold", .threads = 1);
    rig_await_arrived(1);
    meet_claim(hold_ends_before_claim, NULL);
    must(tp_worker_start(leases));
    rig_finish(leases);
    rig_finish(holds);
    expect_number(atomic_load(&group.calls), 0);
    rig_expect(0, 8, 0, .lost = 1);
}

HANDLER(overlook) {
    const char *params = NULL;
    (void)!tp_run_params(run, &params, NULL);
    return arg ? rig_pay(run, NULL) : rig_done(run, NULL);
}

static void run_overlooking(enum faults_kind kind, void *pays) {
    static char params[20001];
    rig_needs_hold();
    memset(params, 'p', sizeof params - 1);
    rig_put(1, params);
    faults_refuse("hold_params", kind, 0, 1);
    rig.arg = pays;
    rig_run_with(0, overlook, .plan = "hold", .threads = 1 /* no other takes the task after a rollback */);
    rig_expect(0, 1, 0, .hits = 1);
}

TEST(test_hold__what_cannot_be_committed_is_not_taken_for_done) {
    run_overlooking(FAULTS_PERMANENT, &rig);
    rig_expect(.failures = 1, .effects = 1, .runs = 2);
}

TEST(test_hold__what_is_done_outside_is_not_done_again_though_reading_failed) {
    run_overlooking(FAULTS_LOCKED, NULL);
    rig_expect(.failures = 0, .runs = 1);
}
