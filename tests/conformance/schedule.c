/* Schedules: kept, fired once in the cluster, with what is said about times that were missed. */
#include "base/uuid.h"
#include "odbc/link.h"
#include "suite.h"

THEME(schedule, ONCE);

enum { MINUTE = 60000, HOUR = 60 * MINUTE };

/* schedule_with("every 1h", .shard = 3): this test's, with some fields set. */
#define schedule_with(when, ...)                                                                             \
    ((tp_schedule){.size = sizeof(tp_schedule),                                                              \
                   .name = pool.handler,                                                                     \
                   .rule = (when),                                                                           \
                   .handler = pool.handler,                                                                  \
                   __VA_ARGS__})

/* This test's schedule; its tasks have this test's handler. */
static tp_schedule a_schedule(const char *rule) {
    return schedule_with(rule, .missed = TP_MISSED_ONCE);
}

#define add_with(when, ...) must(tp_schedule_add(pool.a, &schedule_with(when, __VA_ARGS__)))

static void add(const char *rule, tp_missed missed) {
    add_with(rule, .missed = missed);
}

static void pass(int64_t ms) {
    must(tp_test_advance(pool.eye, ms));
}

static size_t fire(tp_conn *conn) {
    size_t fired = 99;
    must(tp_schedule_fire(conn, &fired, NULL));
    return fired;
}

/* Lets time pass; then so many tasks are due. */
#define expect_fired(conn, ms, tasks)                                                                        \
    do {                                                                                                     \
        pass(ms);                                                                                            \
        expect_number(fire(conn), (tasks));                                                                  \
    } while (0)

static int64_t wait_of(tp_conn *conn) {
    int64_t wait = -99;
    must(tp_schedule_fire(conn, NULL, &wait));
    return wait;
}

/* This test's schedule as the library shows it. */
struct shown {
    int count;
    tp_schedule schedule;
    char name[80], rule[220], zone[80], handler[80], biz_key[140], last_task[ID];
    size_t params_length;
    char params_begin[20];
};

static void see(const tp_schedule *schedule, void *arg) {
    struct shown *shown = arg;
    shown->count++;
    if (strcmp(schedule->name, pool.handler) != 0) return;
    shown->schedule = *schedule;
    snprintf(shown->name, sizeof shown->name, "%s", schedule->name);
    snprintf(shown->rule, sizeof shown->rule, "%s", schedule->rule);
    snprintf(shown->zone, sizeof shown->zone, "%s", schedule->time_zone);
    snprintf(shown->handler, sizeof shown->handler, "%s", schedule->handler);
    snprintf(shown->biz_key, sizeof shown->biz_key, "%s", schedule->biz_key);
    snprintf(shown->last_task, sizeof shown->last_task, "%s", schedule->last_task);
    snprintf(shown->params_begin, sizeof shown->params_begin, "%s", schedule->params);
    shown->params_length = strlen(schedule->params);
}

static struct shown show(void) {
    struct shown shown = {0};
    must(tp_schedule_each(pool.b, see, &shown));
    return shown;
}

/* Tasks of this test in the pending pool. */
static int64_t made(void) {
    return rows_in("pending", pool.handler);
}

static void expect_even(int64_t period) {
    struct sql_row row;
    assert_true(sql_row(pool.eye, &row,
                        "SELECT COUNT(*), COUNT(DISTINCT due_at), MAX(due_at) - MIN(due_at) FROM tp_pending "
                        "WHERE handler = '%s'",
                        pool.handler));
    assert_string_equal(row.cell[0], row.cell[1]);
    expect_number(strtoll(row.cell[2], NULL, 10), (strtoll(row.cell[0], NULL, 10) - 1) * period);
}

static void finish(const char *id) {
    const tp_task *task = claim_this(pool.a, id);
    must(tp_complete(pool.a, task));
}

/* ---- Keeping ----------------------------------------------------------------------------------------- */

TEST(test_schedule__comes_back_as_it_was_added) {
    static char params[50001];
    memset(params, 'p', sizeof params - 1);
    memcpy(params, "gr\303\274n'\"", 7);
    tp_schedule schedule = schedule_with("0 30 2 ? * MON-FRI", .time_zone = "Europe/Berlin", .params = params,
                                         .biz_key = "order 7", .shard = 3, .priority = -4, .max_failures = 5,
                                         .missed = TP_MISSED_ALL, .missed_max = 6, .alone = 1);
    must(tp_schedule_add(pool.a, &schedule));
    struct shown shown = show();
    assert_string_equal(shown.name, pool.handler);
    assert_string_equal(shown.rule, schedule.rule);
    assert_string_equal(shown.zone, "Europe/Berlin");
    assert_string_equal(shown.handler, pool.handler);
    assert_string_equal(shown.biz_key, "order 7");
    assert_memory_equal(shown.params_begin, "gr\303\274n'\"", 7);
    expect_number(shown.params_length, sizeof params - 1);
    expect_number(shown.schedule.shard, 3);
    expect_number(shown.schedule.priority, -4);
    expect_number(shown.schedule.max_failures, 5);
    expect_number(shown.schedule.missed, TP_MISSED_ALL);
    expect_number(shown.schedule.missed_max, 6);
    expect_number(shown.schedule.alone, 1);
    expect_number(shown.schedule.paused, 0);
    expect_number(shown.schedule.last_at, 0);
    assert_string_equal(shown.last_task, "");
    int64_t next = 0;
    must(tp_schedule_next(schedule.rule, schedule.time_zone, shown.schedule.next_at - 1, &next));
    expect_number(shown.schedule.next_at, next);
}

TEST(test_schedule__of_one_name_is_there_once) {
    tp_schedule schedule = a_schedule("every 1h");
    struct shown shown = {0};
    expect(TP_NONE, tp_schedule_each(pool.a, see, &shown));
    must(tp_schedule_add(pool.a, &schedule));
    schedule.rule = "every 2h";
    expect(TP_EXISTS, tp_schedule_add(pool.b, &schedule));
    assert_string_equal(show().rule, "every 1h");
    must(tp_schedule_remove(pool.b, pool.handler));
    expect(TP_NONE, tp_schedule_remove(pool.b, pool.handler));
    expect(TP_NONE, tp_schedule_pause(pool.b, pool.handler, 1));
    must(tp_schedule_add(pool.a, &schedule));
    assert_string_equal(show().rule, "every 2h");
}

TEST(test_schedule__what_cannot_fire_is_refused) {
    static const char *const rules[] = {"61 * * * *", "0 0 30 2 *", "0 0 0 1 1 ? 1999", "every 0s", "", NULL};
    char long_name[TP_HANDLER_MAX + 2];
    for (size_t i = 0; i < LENGTH(rules); i++) {
        tp_schedule schedule = a_schedule(rules[i]);
        expect(TP_MISUSE, tp_schedule_add(pool.a, &schedule));
    }
    tp_schedule good = a_schedule("every 1h");
    with(good, time_zone, "Mars/Olympus", expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    expect_text("Mars/Olympus");
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    with(good, name, "two words", expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, name, long_name, expect(TP_TOOBIG, tp_schedule_add(pool.a, &given)));
    with(good, handler, NULL, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, missed_max, 1001, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    with(good, size, 1, expect(TP_MISUSE, tp_schedule_add(pool.a, &given)));
    expect_number(count_of("tp_schedule"), 0);
}

TEST(test_schedule__is_added_in_the_callers_transaction) {
    tp_schedule schedule = a_schedule("every 1h");
    must(tp_begin(pool.a));
    must(tp_schedule_add(pool.a, &schedule));
    expect(TP_EXISTS, tp_schedule_add(pool.a, &schedule));
    expect(TP_MISUSE, tp_schedule_fire(pool.a, NULL, NULL));
    must(tp_rollback(pool.a));
    expect_number(count_of("tp_schedule"), 0);
}

/* ---- Firing ----------------------------------------------------------------------------------------- */

TEST(test_schedule__nothing_fires_before_its_time) {
    expect_number(wait_of(pool.a), -1);
    add("every 1h", TP_MISSED_ONCE);
    expect_number(fire(pool.a), 0);
    int64_t wait = wait_of(pool.a);
    assert_in_range(wait, HOUR - 2 * MINUTE, HOUR);
    pass(30 * MINUTE);
    assert_in_range(wait_of(pool.a), HOUR / 2 - 2 * MINUTE, HOUR / 2);
    expect_number(made(), 0);
}

/* What a worker asks every five seconds. */
TEST(test_schedule__while_none_is_due_or_waits_for_its_task_one_statement_says_so) {
    add("every 1h", TP_MISSED_ONCE);
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) { /* now and then one more says what the time is */
        uint64_t before = tp_conn_counters(pool.a)->statements;
        must(tp_schedule_fire(pool.a, NULL, NULL));
        uint64_t cost = tp_conn_counters(pool.a)->statements - before;
        if (cost < least) least = cost;
    }
    expect_number(least, 1);
}

TEST(test_schedule__fires_a_task_with_all_that_was_said) {
    struct sql_row row;
    add_with("every 1h", .params = "{\"a\":1}", .biz_key = "b", .shard = 3, .priority = -4,
             .max_failures = 5);
    pass(HOUR + MINUTE);
    int64_t planned = show().schedule.next_at;
    expect_number(fire(pool.b), 1);
    struct shown shown = show();
    expect_number(shown.schedule.last_at, planned);
    expect_number(shown.schedule.next_at, planned + HOUR);
    expect_row(shown.last_task, "pending", "pending", 0);
    assert_true(sql_row(pool.eye, &row,
                        "SELECT params, biz_key, shard, priority, max_failures, due_at FROM tp_pending "
                        "WHERE id = '%s'",
                        shown.last_task));
    assert_string_equal(row.cell[0], "{\"a\":1}");
    assert_string_equal(row.cell[1], "b");
    assert_string_equal(row.cell[2], "3");
    assert_string_equal(row.cell[3], "-4");
    assert_string_equal(row.cell[4], "5");
    expect_number(strtoll(row.cell[5], NULL, 10), planned);
    expect_number(fire(pool.a), 0);
    expect_number(made(), 1);
    finish(shown.last_task);
}

TEST(test_schedule__of_cron_goes_on_with_the_calendar) {
    int64_t next = 0;
    tp_schedule schedule = schedule_with("30 2 * * *", .time_zone = "America/New_York");
    must(tp_schedule_add(pool.a, &schedule));
    int64_t first = show().schedule.next_at;
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = next_at - %d", 48 * HOUR);
    expect_number(fire(pool.a), 1);
    must(tp_schedule_next(schedule.rule, schedule.time_zone, first - 1, &next));
    expect_number(show().schedule.next_at, next);
}

TEST(test_schedule__that_has_no_time_left_stays_without_one) {
    add("0 0 0 1 1 ? 2099", TP_MISSED_ONCE);
    sql_run(pool.eye, "UPDATE tp_schedule SET rule = '0 0 0 1 1 ? 2020', next_at = 1577836800000");
    expect_number(fire(pool.a), 1);
    expect_number(show().schedule.next_at, 0);
    expect_number(wait_of(pool.a), -1);
    expect_number(made(), 1);
}

TEST(test_schedule__a_planned_time_put_back_by_hand_fires_no_more) {
    add("every 1h", TP_MISSED_ONCE);
    expect_fired(pool.a, HOUR + MINUTE, 1);
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = last_at");
    expect_number(fire(pool.a), 0);
    finish(show().last_task);
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = last_at");
    expect_number(fire(pool.a), 0);
    expect_number(made(), 0);
    expect_fired(pool.a, HOUR, 1);
}

/* ---- Missed times ----------------------------------------------------------------------------------- */

TEST(test_missed__once_makes_one_task_for_all) {
    add("every 1m", TP_MISSED_ONCE);
    int64_t first = show().schedule.next_at;
    expect_fired(pool.a, 10 * MINUTE + MINUTE / 2, 1);
    expect_number(show().schedule.last_at, first + 9 * MINUTE - 10 * MINUTE - MINUTE / 2);
    expect_number(show().schedule.next_at, show().schedule.last_at + MINUTE);
    expect_number(fire(pool.a), 0);
    expect_number(made(), 1);
}

TEST(test_missed__skip_passes_over_what_is_older_than_a_minute) {
    add("every 1h", TP_MISSED_SKIP);
    expect_fired(pool.a, 3 * HOUR + 10 * MINUTE, 0);
    assert_in_range(wait_of(pool.a), 48 * MINUTE, 50 * MINUTE);
    expect_number(show().schedule.last_at, 0);
    expect_fired(pool.a, 50 * MINUTE, 1);
    expect_number(made(), 1);
}

TEST(test_missed__all_makes_one_for_each_up_to_the_bound) {
    add_with("every 1m", .missed = TP_MISSED_ALL);
    expect_fired(pool.a, 10 * MINUTE + MINUTE / 2, 10);
    expect_number(made(), 10);
    expect_even(MINUTE);
    int64_t latest = show().schedule.last_at;
    sql_run(pool.eye, "UPDATE tp_schedule SET missed_max = 3");
    expect_fired(pool.a, 10 * MINUTE, 3);
    expect_number(show().schedule.last_at, latest);
    expect_number(
        count_of("tp_pending WHERE handler = '%s' AND due_at > %" PRId64, pool.handler, latest - 3 * MINUTE),
        3);
}

/* ---- Alone, and after the last ---------------------------------------------------------------------- */

TEST(test_alone__passes_over_while_the_last_task_is_open) {
    char first[ID];
    add_with("every 1m", .alone = 1, .missed = TP_MISSED_ALL);
    expect_fired(pool.a, 5 * MINUTE + 1000, 1);
    struct shown before = show();
    snprintf(first, sizeof first, "%s", before.last_task);
    expect_fired(pool.a, MINUTE, 0);
    struct shown after = show();
    assert_string_equal(after.last_task, first);
    expect_number(after.schedule.next_at, before.schedule.next_at);
    assert_true(after.schedule.next_at > after.schedule.last_at + MINUTE);
    finish(first);
    expect_number(fire(pool.a), 0); /* the time is passed over, not put off */
    expect_fired(pool.a, MINUTE, 1);
    assert_string_not_equal(show().last_task, first);
}

TEST(test_after__counts_from_the_end_of_the_last_task) {
    char id[ID];
    add("after 5m", TP_MISSED_ONCE);
    expect_fired(pool.a, 5 * MINUTE + 1000, 1);
    expect_number(show().schedule.next_at, 0);
    snprintf(id, sizeof id, "%s", show().last_task);
    expect_fired(pool.b, HOUR, 0);
    expect_number(wait_of(pool.b), 5 * MINUTE);
    finish(id);
    expect_number(fire(pool.b), 0);
    expect_number(show().schedule.next_at, row_of(id).settled_at + 5 * MINUTE);
    expect_fired(pool.a, 4 * MINUTE, 0);
    expect_fired(pool.a, MINUTE + 1000, 1);
    assert_string_not_equal(show().last_task, id);
    expect_number(made(), 1);
}

TEST(test_after__a_task_that_is_gone_has_ended) {
    add("after 5m", TP_MISSED_ONCE);
    expect_fired(pool.a, 5 * MINUTE + 1000, 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    expect_number(fire(pool.a), 0);
    assert_in_range(wait_of(pool.a), 3 * MINUTE, 5 * MINUTE);
    expect_fired(pool.a, 5 * MINUTE, 1);
}

TEST(test_after__a_task_put_back_by_an_operator_is_waited_for) {
    char id[ID];
    add("after 5m", TP_MISSED_ONCE);
    expect_fired(pool.a, 6 * MINUTE, 1);
    snprintf(id, sizeof id, "%s", show().last_task);
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = %" PRId64, LONG_AGO);
    expect_number(fire(pool.a), 0);
    expect_number(show().schedule.next_at, 0);
    assert_string_equal(show().last_task, id);
    expect_number(made(), 1);
}

/* ---- By hand ----------------------------------------------------------------------------------------- */

static tp_status by_hand(tp_conn *conn, const char *id) {
    return tp_schedule_fire_one(conn, pool.handler, id, 0);
}

static void expect_last(const char *id) {
    assert_string_equal(show().last_task, id);
}

TEST(test_by_hand__one_that_is_alone_has_one_task_open) {
    static const struct {
        const char *rule;
        int alone;
    } rules[] = {{"every 5m", 1}, {"after 5m", 0}};
    tp_actor ann = {.size = sizeof ann, .who = "ann"};
    must(tp_conn_actor(pool.a, &ann));
    for (size_t i = 0; i < LENGTH(rules); i++) {
        char one[ID], other[ID];
        empty_pool();
        tpi_uuid_ordered(one);
        tpi_uuid_ordered(other);
        add_with(rules[i].rule, .alone = rules[i].alone);
        int64_t planned = show().schedule.next_at;
        expect(TP_OK, tp_schedule_fire_one(pool.a, pool.handler, NULL, 1));
        expect_number(made(), 0);
        expect(TP_OK, by_hand(pool.a, one));
        expect(TP_OK, by_hand(pool.b, one)); /* asked again */
        expect(TP_CONFLICT, by_hand(pool.b, other));
        expect(TP_CONFLICT, tp_schedule_fire_one(pool.b, pool.handler, NULL, 1));
        expect_last(one);
        expect_number(show().schedule.next_at, planned);
        expect_number(show().schedule.last_at, 0);
        expect_fired(pool.a, 6 * MINUTE, 0); /* its time is passed over */
        expect_number(made(), 1);
        finish(one);
        expect(TP_OK, by_hand(pool.a, one)); /* and again */
        expect_number(made(), 0);
        expect(TP_OK, by_hand(pool.b, other));
        expect(TP_OK, by_hand(pool.a, one)); /* while another is open, too */
        expect_last(other);
        expect_number(made(), 1);
    }
    must(tp_conn_actor(pool.a, NULL));
}

TEST(test_by_hand__another_that_wants_company_gets_it) {
    char one[ID], other[ID];
    tpi_uuid_ordered(one);
    tpi_uuid_ordered(other);
    add("every 5m", TP_MISSED_ONCE);
    expect(TP_OK, by_hand(pool.a, one));
    expect(TP_OK, by_hand(pool.a, other));
    expect_number(made(), 2);
    tp_new_task like = TP_NEW_TASK_INIT;
    like.handler = pool.handler;
    must(tp_enqueue(pool.b, &like));
    expect(TP_EXISTS, by_hand(pool.a, like.id));
    expect(TP_MISUSE, by_hand(pool.a, put_one()));
    expect(TP_NONE, tp_schedule_fire_one(pool.a, "nothing", one, 0));
    expect(TP_MISUSE, by_hand(pool.a, "no uuid"));
    expect(TP_MISUSE, by_hand(pool.a, NULL));
    expect_last(other);
}

static int calls_before_rival;
static char of_rival[ID];

/* Somebody else fires it just before the statement that writes. */
static enum tpi_fault fire_first(struct tpi_link *link, const char *function) {
    (void)link;
    if (strncmp(function, "SQLExec", 7) != 0 || calls_before_rival--) return TPI_FAULT_NONE;
    tpi_link_fault = NULL;
    must(by_hand(pool.b, of_rival));
    return TPI_FAULT_NONE;
}

TEST(test_by_hand__of_two_at_once_one_fires) {
    for (int by_time = 0; by_time < 2; by_time++) {
        char id[ID];
        empty_pool();
        tpi_uuid_ordered(id);
        tpi_uuid_ordered(of_rival);
        add_with("every 5m", .alone = 1);
        if (by_time) pass(6 * MINUTE);
        calls_before_rival = by_time ? 3 : 1; /* those that read the schedule */
        tpi_link_fault = fire_first;
        tp_status status = by_time ? tp_schedule_fire(pool.a, NULL, NULL) : by_hand(pool.a, id);
        assert_true(tpi_link_fault == NULL);
        tpi_link_fault = NULL;
        expect(by_time ? TP_OK : TP_CONFLICT, status);
        expect_number(made(), 1);
        expect_last(of_rival);
    }
}

/* One click that comes twice. */
TEST(test_by_hand__the_same_asked_twice_at_once_is_fired_once) {
    for (int alone = 0; alone < 2; alone++) {
        empty_pool();
        tpi_uuid_ordered(of_rival);
        add_with("every 5m", .alone = alone);
        calls_before_rival = 1;
        tpi_link_fault = fire_first;
        expect(TP_OK, by_hand(pool.a, of_rival));
        assert_true(tpi_link_fault == NULL);
        expect_number(made(), 1);
        expect_last(of_rival);
    }
}

/* ---- Pausing ---------------------------------------------------------------------------------------- */

TEST(test_pause__nothing_fires_and_resuming_continues_from_now) {
    add("every 1h", TP_MISSED_ALL);
    must(tp_schedule_pause(pool.a, pool.handler, 1));
    must(tp_schedule_pause(pool.a, pool.handler, 1));
    expect_number(show().schedule.paused, 1);
    expect_number(show().schedule.next_at, 0);
    pass(5 * HOUR);
    expect_number(wait_of(pool.b), -1);
    must(tp_schedule_pause(pool.b, pool.handler, 0));
    must(tp_schedule_pause(pool.b, pool.handler, 0));
    expect_number(fire(pool.b), 0);
    assert_in_range(wait_of(pool.b), 58 * MINUTE, HOUR);
    expect_number(show().schedule.paused, 0);
    expect_fired(pool.b, HOUR, 1);
}

TEST(test_pause__after_the_last_task_it_still_waits_for_its_end) {
    add("after 5m", TP_MISSED_ONCE);
    expect_fired(pool.a, 6 * MINUTE, 1);
    must(tp_schedule_pause(pool.a, pool.handler, 1));
    expect_number(wait_of(pool.a), -1);
    must(tp_schedule_pause(pool.a, pool.handler, 0));
    expect_number(show().schedule.next_at, 0);
    expect_number(wait_of(pool.a), 5 * MINUTE);
    must(tp_schedule_pause(pool.a, pool.handler, 1));
    finish(show().last_task);
    must(tp_schedule_pause(pool.a, pool.handler, 0));
    assert_in_range(wait_of(pool.a), 3 * MINUTE, 5 * MINUTE);
}

/* Somebody else pauses it just before the third statement, the one that writes. */
static enum tpi_fault pause_first(struct tpi_link *link, const char *function) {
    (void)link;
    if (strncmp(function, "SQLExec", 7) != 0 || calls_before_rival--) return TPI_FAULT_NONE;
    tpi_link_fault = NULL;
    must(tp_schedule_pause(pool.b, pool.handler, 1));
    return TPI_FAULT_NONE;
}

TEST(test_pause__of_two_at_once_both_are_right) {
    add("every 5m", TP_MISSED_ONCE);
    calls_before_rival = 2;
    tpi_link_fault = pause_first;
    tp_status status = tp_schedule_pause(pool.a, pool.handler, 1);
    assert_true(tpi_link_fault == NULL);
    tpi_link_fault = NULL;
    expect(TP_OK, status);
    assert_true(show().schedule.paused);
}

/* ---- Rows that cannot be read ----------------------------------------------------------------------- */

static void break_one(const char *name, const char *column, const char *value) {
    tp_schedule schedule = hourly(name, NULL);
    must(tp_schedule_add(pool.a, &schedule));
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = %" PRId64 " WHERE name = '%s'", LONG_AGO, name);
    sql_run(pool.eye, "UPDATE tp_schedule SET %s = '%s' WHERE name = '%s'", column, value, name);
}

TEST(test_broken__rows_are_told_and_do_not_stop_the_others) {
    static const struct {
        const char *column, *value, *words;
    } cases[] = {{"rule", "61 * * * *", "schedule a-bad: the minute \"61\""},
                 {"time_zone", "Mars/Olympus", "schedule a-bad: there is no time zone 'Mars/Olympus'"},
                 {"missed", "never", "schedule a-bad: missed is none of"},
                 {"handler", "two words", "schedule a-bad: a handler name"},
                 {"next_at", "-9223372036854775807", "schedule a-bad: next_at is no time"},
                 {"next_at", "-1", "schedule a-bad: next_at is no time"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t fired = 99;
        int64_t wait = -99;
        empty_pool(); /* two of one name, added within a millisecond, would make the same task */
        add("every 1h", TP_MISSED_ONCE);
        pass(2 * HOUR);
        break_one("a-bad", cases[i].column, cases[i].value);
        expect(TP_MISUSE, tp_schedule_fire(pool.a, &fired, &wait));
        expect_text(cases[i].words);
        expect_number(fired, 1);
        expect_number(wait, 1000);
        expect_number(made(), 1);
        must(tp_schedule_remove(pool.a, "a-bad"));
        expect_number(fire(pool.a), 0);
    }
}

TEST(test_broken__a_rule_that_waits_is_told_too) {
    add("after 5m", TP_MISSED_ONCE);
    expect_fired(pool.a, 6 * MINUTE, 1);
    sql_run(pool.eye, "UPDATE tp_schedule SET rule = 'after lunch'");
    expect(TP_MISUSE, tp_schedule_fire(pool.a, NULL, NULL));
    expect_text("\"lunch\" is no period");
}

static int refusals;

/* The database refuses the first task. */
static enum tpi_fault refuse_task(struct tpi_link *link, const char *function) {
    if (strncmp(function, "SQLExec", 7) != 0 || !link->statement || strcmp(link->statement, "enqueue") != 0 ||
        refusals++)
        return TPI_FAULT_NONE;
    snprintf(link->diag.state, sizeof link->diag.state, "HY000");
    link->diag.native = 1526;
    snprintf(link->diag.text, sizeof link->diag.text, "no partition for this row");
    return TPI_FAULT_NOT_SENT;
}

TEST(test_broken__a_task_that_the_database_refuses_does_not_stop_the_others) {
    size_t fired = 99;
    int64_t wait = -99, before = made();
    break_one("a-first", "missed", "once");
    add("every 1h", TP_MISSED_ONCE);
    pass(2 * HOUR);
    refusals = 0;
    tpi_link_fault = refuse_task;
    tp_status status = tp_schedule_fire(pool.a, &fired, &wait);
    tpi_link_fault = NULL;
    expect(TP_DB, status);
    expect_text("schedule ");
    expect_number(fired, 1);
    expect_number(made(), before + 1);
    expect_number(wait, 1000);
    expect_number(fire(pool.a), 1);
    must(tp_schedule_remove(pool.a, "a-first"));
}

/* While another session has the row of a-locked locked; where locks can be passed nobody waits for it. */
static size_t fire_beside_lock(tp_conn *conn) {
    bool passes = pool_speaks("postgres") || pool_speaks("mysql") || pool_speaks("oracle");
    size_t fired = 99;
    int64_t wait = -99;
    must(tp_begin(pool.b));
    sql_run(pool.b, "UPDATE tp_schedule SET modified_at = modified_at + 1 WHERE name = 'a-locked'");
    tp_status status = tp_schedule_fire(conn, &fired, &wait);
    must(tp_rollback(pool.b));
    expect(passes ? TP_OK : TP_TIMEOUT, status);
    if (!passes) expect_text("schedule a-locked: ");
    assert_in_range(wait, 0, 1000); /* 0: another had moved, so the first look found that one still due */
    return fired;
}

TEST(test_broken__a_row_that_is_locked_does_not_stop_the_others) {
    if (pool_on_sqlite()) return; /* one writer: all is locked */
    tp_conn *conn = guest_session();
    tp_schedule locked = a_schedule("after 5m");
    locked.name = "a-locked";
    must(tp_schedule_add(pool.a, &locked));
    pass(1000);
    add("after 5m", TP_MISSED_ONCE);
    pass(6 * MINUTE);
    expect_number(fire_beside_lock(conn), 1);
    expect_number(show().schedule.next_at, 0);
    expect_number(fire(pool.a), 1);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    expect_number(fire_beside_lock(conn), 0);
    assert_true(show().schedule.next_at != 0);
    must(tp_schedule_remove(pool.a, "a-locked"));
}

/* A due row that nobody can fire must not make a worker ask without end. */
TEST(test_broken__a_time_that_is_none_is_not_asked_for_all_the_time) {
    size_t fired = 99;
    int64_t wait = -99;
    add("every 1h", TP_MISSED_ONCE);
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = 0");
    must(tp_schedule_fire(pool.a, &fired, &wait));
    expect_number(fired, 0);
    expect_number(wait, 1000);
}

/* ---- Rivals ----------------------------------------------------------------------------------------- */

static tp_status fire_aside(tp_conn *conn, void *arg) {
    return tp_schedule_fire(conn, arg, NULL);
}

TEST(test_rivals__one_that_was_overtaken_fires_nothing) {
    struct aside aside;
    size_t fired = 99;
    add("every 1h", TP_MISSED_ONCE);
    pass(HOUR + MINUTE);
    must(tp_begin(pool.b));
    expect_number(sql_run(pool.b, "UPDATE tp_schedule SET next_at = next_at + %d", HOUR), 1);
    start_blocked(&aside, pool.a, fire_aside, &fired);
    must(tp_commit(pool.b));
    must(aside_end(&aside));
    expect_number(fired, 0);
    expect_number(made(), 0);
}

static tp_status add_aside(tp_conn *conn, void *arg) {
    return tp_schedule_add(conn, arg);
}

TEST(test_rivals__of_two_who_add_one_name_the_second_is_told) {
    tp_schedule schedule = a_schedule("every 1h"), other = a_schedule("every 2h");
    struct aside aside;
    must(tp_begin(pool.b));
    must(tp_schedule_add(pool.b, &schedule));
    start_blocked(&aside, pool.a, add_aside, &other);
    must(tp_commit(pool.b));
    expect(TP_EXISTS, aside_end(&aside));
    assert_string_equal(show().rule, "every 1h");
}

/* Each round time passes, and all fire at once. */
enum { PROCESSES = 4, ROUNDS = 12, STEP = 7 };

TEST(test_rivals__processes_fire_each_planned_time_once) {
    struct child children[PROCESSES];
    int64_t fired = 0;
    add("every 1h", TP_MISSED_ALL);
    for (int i = 0; i < PROCESSES; i++)
        children[i] = child_start("fire", pool.handler, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        pass(STEP * HOUR);
        for (int i = 0; i < PROCESSES; i++)
            child_go(&children[i]);
        for (int i = 0; i < PROCESSES; i++)
            fired += child_number(&children[i]);
    }
    for (int i = 0; i < PROCESSES; i++)
        child_end(&children[i]);
    pass(HOUR);
    fired += (int64_t)fire(pool.a);
    expect_number(fired, made());
    assert_in_range(made(), ROUNDS * STEP, ROUNDS * STEP + 1);
    expect_even(HOUR);
}

TEST(test_rivals__a_killed_process_loses_and_doubles_nothing) {
    char line[CHILD_LINE];
    add("every 1m", TP_MISSED_ALL);
    for (int kill = 0; kill < 4; kill++) {
        struct child child = child_start("fire-on", pool.handler, NULL);
        for (int i = 0; i < 3 + kill; i++) {
            assert_true(child_listen(&child, line));
            sure(strncmp(line, "error", 5) != 0, "%s", line);
        }
        child_kill(&child);
    }
    fire(pool.a);
    assert_true(made() >= 18);
    expect_even(MINUTE);
}

/* ---- Lost answers ------------------------------------------------------------------------------------ */

/* False: no call was left to lose. */
static bool fire_and_lose(int at, bool made) {
    lose_nth_call(at, made);
    tp_status status = tp_schedule_fire(pool.a, NULL, NULL);
    bool lost = lost_nth_call();
    if (status < TP_OK) {
        expect(TP_DISCONNECTED, status);
        must(tp_conn_reopen(pool.a));
        must(tp_schedule_fire(pool.a, NULL, NULL));
    }
    return lost;
}

TEST(test_schedule__fires_once_whichever_call_is_lost) {
    int rounds = 0;
    bool more = true;
    add("every 1h", TP_MISSED_ALL);
    for (; more && rounds < 200; rounds++) {
        pass(2 * HOUR);
        more = fire_and_lose(rounds / 2, rounds % 2);
    }
    assert_false(more);
    assert_in_range(rounds, 14, 199);
    assert_in_range(made(), 2 * rounds - 1, 2 * rounds);
    expect_even(HOUR);
}
