/* The state machine over every pool, state, event and set of facts, against the rules of DESIGN section 5
 * said a second time: event by event, as a person would explain them. Read next: src/core/fsm.c. */
#include "core/fsm.h"
#include "support/test.h"

enum { FAILURES = 6, MAX_FAILURES = 5, LAPSES = TP_LAPSE_SKIP + 1 };

struct row {
    enum tpi_pool pool;
    enum tpi_state state;
    enum tpi_event event;
    struct tpi_facts facts;
};

static struct tpi_change nothing(const struct row *row, tp_status verdict) {
    return (struct tpi_change){
        .verdict = verdict, .pool = row->pool, .state = row->state, .failures = row->facts.failures};
}

static struct tpi_change go(const struct row *row, enum tpi_pool pool, enum tpi_state state,
                            enum tpi_due due) {
    return (struct tpi_change){.verdict = TP_OK,
                               .written = true,
                               .pool = pool,
                               .state = state,
                               .failures = row->facts.failures,
                               .due = due};
}

/* One failure more. The last one sends the row to the failed pool; before it, the row goes to state
 * otherwise. */
static struct tpi_change count_failure(const struct row *row, enum tpi_state otherwise, enum tpi_due due) {
    int32_t failures = row->facts.failures + 1;
    struct tpi_change change = go(row, TPI_POOL_PENDING, otherwise, due);
    if (failures >= row->facts.max_failures) {
        change = go(row, TPI_POOL_FAILED, TPI_STATE_FAILED, TPI_DUE_KEEP);
        change.verdict = TP_EXHAUSTED;
    }
    change.failures = failures;
    return change;
}

/* One failure more, and the last whatever the limit. */
static struct tpi_change give_up(const struct row *row) {
    struct tpi_change change = go(row, TPI_POOL_FAILED, TPI_STATE_FAILED, TPI_DUE_KEEP);
    change.verdict = TP_EXHAUSTED;
    change.failures = row->facts.failures + 1;
    return change;
}

static bool open_there(const struct row *row) {
    return row->state == TPI_STATE_PENDING || row->state == TPI_STATE_FAILED ||
           row->state == TPI_STATE_HANDLING;
}

/* Whoever meets it ends it, and counts the lapse of who had it in hand. */
static struct tpi_change skip_unwanted(const struct row *row) {
    struct tpi_change change = go(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP);
    change.lapsed = row->state == TPI_STATE_HANDLING;
    change.failures += change.lapsed;
    return change;
}

/* Whatever waits in the pending pool is taken when it is due. A row in handling is only due when its lease
 * lapsed. */
static struct tpi_change claim(const struct row *row) {
    if (row->pool != TPI_POOL_PENDING || !row->facts.due) return nothing(row, TP_NONE);
    if (row->facts.unwanted && open_there(row)) return skip_unwanted(row);
    if (row->state == TPI_STATE_PENDING || row->state == TPI_STATE_FAILED)
        return go(row, TPI_POOL_PENDING, TPI_STATE_HANDLING, TPI_DUE_LEASE);
    if (row->state != TPI_STATE_HANDLING) return nothing(row, TP_NONE);
    struct tpi_change change = count_failure(row, TPI_STATE_HANDLING, TPI_DUE_LEASE);
    if (row->facts.on_lapse == TP_LAPSE_FAIL) {
        change = go(row, TPI_POOL_FAILED, TPI_STATE_FAILED, TPI_DUE_KEEP);
        change.verdict = TP_EXHAUSTED;
    }
    if (row->facts.on_lapse == TP_LAPSE_SKIP)
        change = go(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP);
    change.failures = row->facts.failures + 1;
    change.lapsed = true;
    return change;
}

/* A lock is no mark: what waits stays as it is. A lapse is told as one told by a claim, and the row waits. */
static struct tpi_change hold(const struct row *row) {
    struct tpi_change change = claim(row);
    bool in_hand = change.pool == TPI_POOL_PENDING && change.state == TPI_STATE_HANDLING && change.written;
    if (!in_hand) return change;
    if (!change.lapsed) return nothing(row, TP_OK);
    change.state = TPI_STATE_FAILED;
    change.due = TPI_DUE_KEEP;
    return change;
}

static bool in_hand(const struct row *row) {
    return row->pool == TPI_POOL_PENDING && row->state == TPI_STATE_HANDLING;
}

static bool stands(const struct row *row, enum tpi_pool pool, enum tpi_state state) {
    return row->pool == pool && row->state == state;
}

static struct tpi_change settle(const struct row *row) {
    static const struct end {
        enum tpi_pool pool;
        enum tpi_state state;
        enum tpi_due due;
    } ends[] = {
        [TPI_EVENT_COMPLETE] = {TPI_POOL_FINISHED, TPI_STATE_DONE, TPI_DUE_KEEP},
        [TPI_EVENT_SKIP] = {TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP},
        [TPI_EVENT_FAIL] = {TPI_POOL_PENDING, TPI_STATE_FAILED, TPI_DUE_DELAY},
        [TPI_EVENT_GIVE_UP] = {TPI_POOL_FAILED, TPI_STATE_FAILED, TPI_DUE_KEEP},
        [TPI_EVENT_RELEASE] = {TPI_POOL_PENDING, TPI_STATE_PENDING, TPI_DUE_DELAY},
        [TPI_EVENT_EXTEND] = {TPI_POOL_PENDING, TPI_STATE_HANDLING, TPI_DUE_LEASE},
    };
    const struct end *end = &ends[row->event];
    bool fails = row->event == TPI_EVENT_FAIL || row->event == TPI_EVENT_GIVE_UP;
    if (!row->facts.holder) return nothing(row, TP_LOST);
    bool undone = fails || row->event == TPI_EVENT_RELEASE;
    if (in_hand(row) && undone && row->facts.unwanted)
        return go(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP);
    if (in_hand(row) && row->event == TPI_EVENT_FAIL) return count_failure(row, end->state, end->due);
    if (in_hand(row) && row->event == TPI_EVENT_GIVE_UP) return give_up(row);
    if (in_hand(row)) return go(row, end->pool, end->state, end->due);
    /* Asked again. */
    if (fails && stands(row, TPI_POOL_FAILED, TPI_STATE_FAILED)) return nothing(row, TP_EXHAUSTED);
    if (undone && row->facts.unwanted && stands(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED))
        return nothing(row, TP_OK);
    return nothing(row, stands(row, end->pool, end->state) ? TP_OK : TP_LOST);
}

/* A person may act on what is not in hand and not finished; what is in hand he may only take away from its
 * holder. */
static struct tpi_change person(const struct row *row) {
    if (row->event == TPI_EVENT_FREE)
        return in_hand(row) ? go(row, TPI_POOL_PENDING, TPI_STATE_PENDING, TPI_DUE_NOW)
                            : nothing(row, TP_NONE);
    bool waits = stands(row, TPI_POOL_PENDING, TPI_STATE_PENDING);
    bool retries = stands(row, TPI_POOL_PENDING, TPI_STATE_FAILED);
    if (row->event == TPI_EVENT_CANCEL) {
        if (waits || retries) return go(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP);
        return nothing(row, in_hand(row) ? TP_OK : TP_NONE);
    }
    bool failed = row->pool != TPI_POOL_FINISHED && row->state == TPI_STATE_FAILED;
    if (row->event == TPI_EVENT_EDIT && (waits || failed))
        return go(row, row->pool, row->state, TPI_DUE_KEEP);
    if (row->event == TPI_EVENT_DROP && (waits || failed))
        return go(row, TPI_POOL_FINISHED, TPI_STATE_SKIPPED, TPI_DUE_KEEP);
    if (row->event != TPI_EVENT_RETRY || !failed) return nothing(row, TP_NONE);
    struct tpi_change change = go(row, TPI_POOL_PENDING, TPI_STATE_PENDING, TPI_DUE_NOW);
    change.failures = 0;
    return change;
}

static struct tpi_change expected(const struct row *row) {
    if (row->event == TPI_EVENT_CLAIM) return claim(row);
    if (row->event == TPI_EVENT_HOLD) return hold(row);
    if (row->event >= TPI_EVENT_RETRY) return person(row);
    return settle(row);
}

static bool legal(enum tpi_pool pool, enum tpi_state state) {
    if (pool == TPI_POOL_FINISHED) return state == TPI_STATE_DONE || state == TPI_STATE_SKIPPED;
    if (pool == TPI_POOL_FAILED) return state == TPI_STATE_FAILED;
    return state == TPI_STATE_PENDING || state == TPI_STATE_HANDLING || state == TPI_STATE_FAILED;
}

typedef void see_fn(const struct row *row, const struct tpi_change *change);

static int for_facts(struct row *row, see_fn *see) {
    int cases = 0;
    for (int32_t failures = 0; failures < FAILURES; failures++)
        for (int32_t max = 1; max <= MAX_FAILURES; max++)
            for (int bits = 0; bits < 8 * LAPSES; bits++) {
                row->facts = (struct tpi_facts){
                    failures, max, (bits & 1) != 0, (bits & 2) != 0, (tp_lapse)(bits / 8), (bits & 4) != 0};
                struct tpi_change change = tpi_fsm_decide(row->pool, row->state, row->event, &row->facts);
                see(row, &change);
                cases++;
            }
    return cases;
}

static void for_all(see_fn *see) {
    int cases = 0;
    for (int pool = 0; pool < TPI_POOL_COUNT; pool++)
        for (int state = 0; state < TPI_STATE_COUNT; state++)
            for (int event = 0; event < TPI_EVENT_COUNT; event++) {
                struct row row = {(enum tpi_pool)pool, (enum tpi_state)state, (enum tpi_event)event, {0}};
                cases += for_facts(&row, see);
            }
    assert_int_equal(cases, 3 * 5 * TPI_EVENT_COUNT * FAILURES * MAX_FAILURES * 8 * LAPSES);
}

static void fail_case(const struct row *row, const char *what) {
    fail_msg("%s %s, event %s, failures %d of %d, due %d, holder %d, on lapse %d: %s",
             tpi_pool_name(row->pool), tpi_state_name(row->state), tpi_event_word(row->event),
             (int)row->facts.failures, (int)row->facts.max_failures, (int)row->facts.due,
             (int)row->facts.holder, (int)row->facts.on_lapse, what);
}

static void same_as_expected(const struct row *row, const struct tpi_change *change) {
    struct tpi_change want = expected(row);
    if (change->verdict != want.verdict) fail_case(row, "verdict");
    if (change->written != want.written) fail_case(row, "written");
    if (change->pool != want.pool) fail_case(row, "pool");
    if (change->state != want.state) fail_case(row, "state");
    if (change->failures != want.failures) fail_case(row, "failures");
    if (change->due != want.due) fail_case(row, "due");
    if (change->lapsed != want.lapsed) fail_case(row, "lapsed");
}

TEST(test_fsm__follows_the_rules_in_every_case) {
    for_all(same_as_expected);
}

static void leads_to_legal(const struct row *row, const struct tpi_change *change) {
    if (change->written && !legal(change->pool, change->state)) fail_case(row, "leads to an illegal place");
    if (change->written && !legal(row->pool, row->state)) fail_case(row, "starts from an illegal place");
}

TEST(test_fsm__writes_only_legal_states_from_legal_states) {
    for_all(leads_to_legal);
}

static void refused_changes_nothing(const struct row *row, const struct tpi_change *change) {
    bool answered = change->verdict == TP_OK || change->verdict == TP_EXHAUSTED;
    if (change->written && !answered) fail_case(row, "written in spite of its verdict");
    if (change->written) return;
    if (change->pool != row->pool || change->state != row->state || change->failures != row->facts.failures)
        fail_case(row, "not written, yet not as it was");
    if (change->due != TPI_DUE_KEEP || change->lapsed) fail_case(row, "not written, yet due or lapsed");
}

TEST(test_fsm__what_is_not_written_stays_as_it_was) {
    for_all(refused_changes_nothing);
}

static void failures_rise(const struct row *row, const struct tpi_change *change) {
    int32_t more = change->failures - row->facts.failures;
    if (row->event == TPI_EVENT_RETRY && change->written) {
        if (change->failures != 0) fail_case(row, "a retry starts from 0 failures");
    } else if (more != 0 && more != 1) {
        fail_case(row, "failures fall or jump");
    }
    bool may_count = row->event == TPI_EVENT_FAIL || row->event == TPI_EVENT_GIVE_UP ||
                     ((row->event == TPI_EVENT_CLAIM || row->event == TPI_EVENT_HOLD) && change->lapsed);
    if (more == 1 && !may_count) fail_case(row, "counts a failure");
}

TEST(test_fsm__failures_never_fall_except_by_retry) {
    for_all(failures_rise);
}

static void only_people_bring_back(const struct row *row, const struct tpi_change *change) {
    bool terminal = row->pool == TPI_POOL_FINISHED || row->pool == TPI_POOL_FAILED;
    bool by_person = row->event == TPI_EVENT_RETRY || row->event == TPI_EVENT_DROP;
    bool leaves = change->pool != row->pool || row->event != TPI_EVENT_EDIT;
    if (terminal && change->written && leaves && !by_person)
        fail_case(row, "leaves a terminal pool without a person");
    if (row->pool == TPI_POOL_FINISHED && change->written) fail_case(row, "leaves the finished pool");
}

TEST(test_fsm__only_a_person_takes_a_task_out_of_a_terminal_pool) {
    for_all(only_people_bring_back);
}

static void fenced(const struct row *row, const struct tpi_change *change) {
    static const bool holder_asks[] = {
#define HOLDER(id, name, holder) holder,
        TPI_EVENT_LIST(HOLDER)
#undef HOLDER
    };
    if (holder_asks[row->event] && !row->facts.holder && change->verdict != TP_LOST)
        fail_case(row, "a stale worker gets an answer");
    if (change->verdict == TP_LOST && !holder_asks[row->event]) fail_case(row, "lost without a claim");
}

TEST(test_fsm__a_worker_without_the_claim_is_told_that_it_is_lost) {
    for_all(fenced);
}

static void spent_is_the_failed_pool(const struct row *row, const struct tpi_change *change) {
    bool failed_pool =
        change->pool == TPI_POOL_FAILED && (change->written || change->verdict == TP_EXHAUSTED);
    if (row->event == TPI_EVENT_EDIT && row->pool == TPI_POOL_FAILED) failed_pool = false; /* it was there */
    if ((change->verdict == TP_EXHAUSTED) != failed_pool)
        fail_case(row, "TP_EXHAUSTED and the failed pool disagree");
}

TEST(test_fsm__exhausted_means_the_failed_pool) {
    for_all(spent_is_the_failed_pool);
}

/* A settle asked again, from where its first try left the row, writes nothing and says the same. */
static void repeats(const struct row *row, const struct tpi_change *change) {
    bool settles = row->event == TPI_EVENT_COMPLETE || row->event == TPI_EVENT_SKIP ||
                   row->event == TPI_EVENT_FAIL || row->event == TPI_EVENT_RELEASE;
    if (!settles || !change->written) return;
    struct tpi_facts facts = row->facts;
    facts.failures = change->failures;
    struct tpi_change again = tpi_fsm_decide(change->pool, change->state, row->event, &facts);
    if (again.written || again.verdict != change->verdict) fail_case(row, "cannot be asked again");
}

TEST(test_fsm__a_settle_can_be_asked_again) {
    for_all(repeats);
}

TEST(test_fsm__a_crashing_task_ends_in_the_failed_pool) {
    struct tpi_facts facts = {.max_failures = 4, .due = true};
    struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_PENDING, TPI_EVENT_CLAIM, &facts);
    int claims = 1;
    while (change.pool == TPI_POOL_PENDING && claims < 100) {
        facts.failures = change.failures;
        change = tpi_fsm_decide(change.pool, change.state, TPI_EVENT_CLAIM, &facts);
        claims++;
    }
    assert_int_equal(claims, 5);
    assert_int_equal(change.verdict, TP_EXHAUSTED);
    assert_int_equal(change.pool, TPI_POOL_FAILED);
    assert_int_equal(change.failures, 4);
}

TEST(test_fsm__the_count_of_failures_ends_at_the_largest_number) {
    static const enum tpi_event events[] = {TPI_EVENT_FAIL, TPI_EVENT_CLAIM};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct tpi_facts facts = {
            .failures = INT32_MAX, .max_failures = INT32_MAX, .due = true, .holder = true};
        struct tpi_change change = tpi_fsm_decide(TPI_POOL_PENDING, TPI_STATE_HANDLING, events[i], &facts);
        assert_int_equal(change.verdict, TP_EXHAUSTED);
        assert_int_equal(change.pool, TPI_POOL_FAILED);
        assert_int_equal(change.failures, INT32_MAX);
    }
}

TEST(test_fsm__names_are_those_of_the_tables_and_parse_back) {
    static const char *const pools[] = {"pending", "finished", "failed"};
    static const char *const states[] = {"pending", "handling", "failed", "done", "skipped"};
    for (int i = 0; i < TPI_POOL_COUNT; i++) {
        enum tpi_pool pool = TPI_POOL_COUNT;
        assert_string_equal(tpi_pool_name((enum tpi_pool)i), pools[i]);
        assert_true(tpi_pool_parse(pools[i], &pool));
        assert_int_equal(pool, i);
    }
    for (int i = 0; i < TPI_STATE_COUNT; i++) {
        enum tpi_state found = TPI_STATE_COUNT;
        assert_string_equal(tpi_state_name((enum tpi_state)i), states[i]);
        assert_true(strlen(states[i]) <= 8);
        assert_true(tpi_state_parse(states[i], &found));
        assert_int_equal(found, i);
    }
}

TEST(test_fsm__other_names_do_not_parse) {
    static const char *const wrong[] = {"",         "Pending",   "pendin", "pending ",
                                        "failed-1", "tp_failed", "doned"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        enum tpi_pool pool = TPI_POOL_FAILED;
        enum tpi_state found = TPI_STATE_DONE;
        assert_false(tpi_pool_parse(wrong[i], &pool));
        assert_false(tpi_state_parse(wrong[i], &found));
        assert_int_equal(pool, TPI_POOL_FAILED);
        assert_int_equal(found, TPI_STATE_DONE);
    }
    for (int i = 0; i < TPI_EVENT_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tpi_event_word((enum tpi_event)i), tpi_event_word((enum tpi_event)k));
}
