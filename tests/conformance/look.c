/* Reading the pools: stats, list and show agree with the rows. */
#include "base/uuid.h"
#include "ops/for_workers.h"
#include "store/render.h"
#include "suite.h"

THEME(look, ONCE);

/* ---- Stats ------------------------------------------------------------------------------------------ */

struct tally {
    int64_t count[8], due[8];
    int lines;
    bool strange;
};
static const char *const places[] = {"pending pending", "pending handling", "pending failed",
                                     "failed failed",   "finished done",    "finished skipped"};
enum { PLACES = LENGTH(places) };

static void see(const tp_stat *stat, void *arg) {
    struct tally *tally = arg;
    char place[40];
    if (strcmp(stat->handler, pool.handler) != 0) return;
    snprintf(place, sizeof place, "%s %s", stat->pool, stat->state);
    tally->lines++;
    for (int i = 0; i < PLACES; i++) {
        if (strcmp(place, places[i]) != 0) continue;
        tally->count[i] += stat->count;
        tally->due[i] += stat->due;
        if (stat->oldest <= LONG_AGO) tally->strange = true;
        if (!stat->due != !stat->oldest_due) tally->strange = true;
        return;
    }
    tally->strange = true;
}

static struct tally tally_up(int with_finished) {
    struct tally tally;
    memset(&tally, 0, sizeof tally);
    must(tp_stats(pool.a, with_finished, see, &tally));
    assert_false(tally.strange);
    return tally;
}

/* 2 pending due, 1 pending later, 3 handling, 1 failed-1, 1 failed for good, 2 done, 1 skipped. */
static void put_one_of_each(char handled[10][ID]) {
    task_put_many(10, handled);
    enqueue(pool.a, .delay_ms = 3600000);
    tp_batch *batch = claim(pool.a, 8);
    must(tp_fail(pool.a, tp_batch_task(batch, 0), "no", NULL));
    expect(TP_EXHAUSTED, tp_fail(pool.a, tp_batch_task(batch, 1), "no", &never));
    must(tp_complete(pool.a, tp_batch_task(batch, 2)));
    must(tp_complete(pool.a, tp_batch_task(batch, 3)));
    must(tp_skip(pool.a, tp_batch_task(batch, 4), "no"));
}

TEST(test_look__stats_count_what_is_there) {
    static const int64_t wanted[PLACES] = {3, 3, 1, 1, 2, 1}, due[PLACES] = {2, 0, 0, 0, 0, 0};
    char ids[10][ID];
    put_one_of_each(ids);
    for (int with_finished = 0; with_finished < 2; with_finished++) {
        struct tally tally = tally_up(with_finished);
        for (int i = 0; i < PLACES; i++) {
            bool counted = i < 4 || with_finished;
            expect_number(tally.count[i], counted ? wanted[i] : 0);
            expect_number(tally.due[i], counted ? due[i] : 0);
        }
        expect_number(tally.lines, with_finished ? 6 : 4);
    }
}

TEST(test_look__a_lapsed_lease_is_due) {
    const tp_task *task = put_and_claim(pool.a);
    expect_number(tally_up(0).due[1], 0);
    row_make_due(task->id);
    expect_number(tally_up(0).due[1], 1);
}

/* Of enqueued, done, skipped, failed. */
static void add_recent(const tp_recent *recent, void *arg) {
    static const char *const events[] = {"enqueued", "done", "skipped", "failed"};
    if (strcmp(recent->handler, pool.handler) != 0) return;
    for (size_t i = 0; i < LENGTH(events); i++)
        if (strcmp(recent->event, events[i]) == 0) ((int64_t *)arg)[i] += recent->count;
}

TEST(test_look__what_came_and_went_lately_is_counted_in_all_pools) {
    static const int64_t wanted[] = {11, 2, 1, 1};
    char ids[10][ID];
    int64_t now = 0, count[4] = {0};
    put_one_of_each(ids);
    put_row(pool.a, .id = "00000000-0001-7000-8000-000000000001");
    must(tp_recent_each(pool.a, 3600000, add_recent, count));
    for (size_t i = 0; i < LENGTH(wanted); i++)
        expect_number(count[i], wanted[i]);
    expect(TP_MISUSE, tp_recent_each(pool.a, 0, add_recent, count));
    expect(TP_MISUSE, tp_recent_each(pool.a, 3600001, add_recent, count));
    must(tp_now(pool.a, &now));
    assert_true(now > LONG_AGO);
}

/* ---- List ------------------------------------------------------------------------------------------- */

static size_t listed(const char *in, const char *state, const char *biz_key) {
    tp_batch *batch = NULL;
    tp_list_request request = {
        .size = sizeof request, .pool = in, .handler = pool.handler, .state = state, .biz_key = biz_key};
    tp_status status = list_into(pool.a, &request, &batch);
    size_t count = tp_batch_count(batch);
    expect(count ? TP_OK : TP_NONE, status);
    for (size_t i = 0; i < count; i++) {
        const tp_task *task = tp_batch_task(batch, i);
        struct row row = row_of(task->id);
        assert_string_equal(task->handler, pool.handler);
        assert_string_equal(task->pool, in ? in : "pending");
        assert_string_equal(task->pool, row.pool);
        assert_string_equal(task->state, row.state);
        assert_string_equal(task->owner, row.owner);
        assert_string_equal(task->reason, row.reason);
        expect_number(task->failures, row.failures);
        expect_number(task->due_at, row.due_at);
        expect_number(task->modified_at, row.modified_at);
        expect_number(task->settled_at, row.settled_at);
    }
    return count;
}

TEST(test_look__lists_show_each_pool_and_state) {
    char ids[10][ID];
    put_one_of_each(ids);
    expect_number(listed(NULL, NULL, NULL), 7);
    expect_number(listed("pending", NULL, NULL), 7);
    expect_number(listed("finished", NULL, NULL), 3);
    expect_number(listed("failed", NULL, NULL), 1);
    expect_number(listed("pending", "pending", NULL), 3);
    expect_number(listed("pending", "handling", NULL), 3);
    expect_number(listed("pending", "failed", NULL), 1);
    expect_number(listed("finished", "done", NULL), 2);
    expect_number(listed("finished", "skipped", NULL), 1);
    expect_number(listed("finished", "failed", NULL), 0);
    expect_number(listed("failed", NULL, "nobody"), 0);
}

TEST(test_look__lists_filter_by_business_key) {
    for (int i = 0; i < 6; i++)
        enqueue(pool.a, .biz_key = i % 3 == 0 ? NULL : i % 3 == 1 ? "one" : "two");
    expect_number(listed(NULL, NULL, NULL), 6);
    expect_number(listed(NULL, NULL, "one"), 2);
    expect_number(listed(NULL, NULL, "two"), 2);
    expect_number(listed(NULL, NULL, "three"), 0);
}

/* The statement as the library sends it, with values where it has parameters. */
static void list_by_key_text(char *out, size_t size) {
    const struct tpi_dialect *dialect = tpi_dialect_by_name(tp_conn_about(pool.a)->dialect);
    const struct tpi_sql *sql = &dialect->sql[TPI_S_list_pending_by_key];
    struct tpi_buf text = {0};
    size_t length = 0, param = 0;
    tpi_render(sql, "tp_", (struct tpi_repeats){.rows = 1}, &text);
    for (const char *at = tpi_buf_str(&text); *at && length + 80 < size; at++) {
        if (*at != '?') {
            out[length++] = *at;
            continue;
        }
        int name = sql->params[param++];
        const char *value = name == TPI_P_biz_key    ? "'order-7'"
                            : name == TPI_P_after_id ? "'00000000-0000-0000-0000-000000000000'"
                            : name == TPI_P_limit    ? "100"
                            : name == TPI_P_until_id ? "'ffffffff-ffff-ffff-ffff-ffffffffffff'"
                            : name == TPI_P_since    ? "0"
                            : name == TPI_P_until    ? "9000000000000"
                                                     : "NULL";
        length += (size_t)snprintf(out + length, size - length, "%s", value);
    }
    out[length] = '\0';
    tpi_buf_free(&text);
}

struct sought {
    const char *index;
    bool found;
};

static void see_line(const struct sql_row *row, void *arg) {
    struct sought *sought = arg;
    if (strcasestr(row->cell[0], sought->index)) sought->found = true;
}

/* Oracle's plan is rows of a table. */
static void expect_in_plan(const char *query, const char *index) {
    struct sought sought = {index, false};
    if (!sql_try(pool.eye, "EXPLAIN PLAN FOR %s", query)) {
        not_tried("a statement's plan: EXPLAIN PLAN FOR is refused");
        return;
    }
    sure(sql_raw_each(tp_conn_dbc(pool.eye), see_line, &sought, "SELECT * FROM TABLE(DBMS_XPLAN.DISPLAY)"),
         "%s", sql_reason());
    sure(sought.found, "%s does not go by %s", query, index);
}

TEST(test_look__lists_by_business_key_go_by_its_index) {
    char text[2000], index[40];
    struct sql_row plan;
    task_put_many(2000, NULL);
    for (int i = 0; i < 2; i++)
        enqueue(pool.a, .biz_key = "order-7");
    pool_measure();
    list_by_key_text(text, sizeof text);
    char *query = text, *end = strrchr(text, ')');
    if (strncmp(text, "SELECT * FROM (", 15) == 0 && end) { /* what is inside ROWNUM */
        query = text + 15;
        *end = '\0';
    }
    const char *dialect = tp_conn_about(pool.a)->dialect;
    bool partial = strcmp(dialect, "postgres") == 0 || strcmp(dialect, "sqlite") == 0;
    snprintf(index, sizeof index, "%spending_%s", pool.prefix, partial ? "key" : "biz");
    if (!engine->explain) {
        expect_in_plan(query, index);
        return;
    }
    assert_true(sql_row(pool.eye, &plan, "%s %s", engine->explain, query));
    for (int i = engine->used_index; i < plan.columns; i++)
        if (strstr(plan.cell[i], index)) return;
    for (int i = 0; i < plan.columns; i++)
        print_error("%s\n", plan.cell[i]);
    fail_msg("%s does not go by %s", text, index);
}

TEST(test_look__lists_go_page_by_page) {
    enum { TASKS = 25, PAGE = 10 };
    char ids[TASKS][ID], after[ID] = "";
    size_t seen = 0;
    task_put_many(TASKS, ids);
    for (;;) {
        tp_batch *batch = NULL;
        tp_list_request request = {.size = sizeof request,
                                   .handler = pool.handler,
                                   .limit = PAGE,
                                   .after_id = *after ? after : NULL};
        tp_status status = list_into(pool.a, &request, &batch);
        if (status == TP_NONE) break;
        must(status);
        expect_count(batch, TASKS - seen < PAGE ? TASKS - seen : PAGE);
        for (size_t i = 0; i < tp_batch_count(batch); i++, seen++) {
            assert_string_equal(tp_batch_task(batch, i)->id, ids[seen]);
            memcpy(after, ids[seen], ID);
        }
    }
    expect_number(seen, TASKS);
}

/* Between two pages each task moves on to another pool. */
TEST(test_look__pages_of_all_pools_have_a_task_once_that_moves) {
    enum { TASKS = 6 };
    tp_list_request request = TP_LIST_INIT;
    tp_selection skip = TP_SELECTION_INIT;
    tp_batch *batch = NULL;
    size_t seen = 0;
    char last[TP_ID_SIZE] = "";
    for (int i = 0; i < TASKS; i++)
        enqueue(pool.a, .biz_key = NULL);
    request.pool = "all";
    request.handler = skip.handler = pool.handler;
    request.limit = 2;
    skip.who = "tester@desk";
    skip.limit = 3;
    while (tp_list(pool.a, &request, &batch) == TP_OK) {
        for (size_t i = 0; i < tp_batch_count(batch); i++, seen++) {
            const char *id = tp_batch_task(batch, i)->id;
            assert_true(strcmp(last, id) < 0);
            snprintf(last, sizeof last, "%s", id);
        }
        must(tp_operate(pool.b, TP_ACTION_SKIP, &skip, NULL));
        bool more = tp_list_next(batch, &request) == TP_OK;
        request.after_id = more ? last : NULL;
        tp_batch_free(batch);
        if (!more) break;
    }
    expect_number((int64_t)seen, TASKS);
}

TEST(test_look__lists_refuse_what_they_do_not_know) {
    tp_list_request good = TP_LIST_INIT;
    with(good, pool, "lost", expect(TP_MISUSE, try_list(pool.a, &given)));
    with(good, state, "tired", expect(TP_MISUSE, try_list(pool.a, &given)));
    with(good, limit, 1001, expect(TP_TOOBIG, try_list(pool.a, &given)));
    with(good, after_id, "first", expect(TP_MISUSE, try_list(pool.a, &given)));
    with(good, biz_key, "", expect(TP_MISUSE, try_list(pool.a, &given)));
    expect_text("NULL means any");
}

/* ---- Show ------------------------------------------------------------------------------------------- */

TEST(test_look__show_finds_a_task_in_any_pool) {
    char ids[10][ID];
    put_one_of_each(ids);
    for (int i = 0; i < 10; i++) {
        struct row row = row_of(ids[i]);
        const tp_task *there = task_shown(pool.a, ids[i]);
        const tp_task *task = there;
        assert_string_equal(task->id, ids[i]);
        assert_string_equal(task->pool, row.pool);
        assert_string_equal(task->state, row.state);
        assert_string_equal(task->owner, row.owner);
        expect_number(task->failures, row.failures);
        expect_number(task->settled_at, row.settled_at);
    }
}

TEST(test_look__show_says_none_for_an_unknown_id) {
    char id[ID];
    tp_batch *batch = NULL;
    tpi_uuid_random(id);
    expect(TP_NONE, tp_show(pool.a, id, &batch));
    expect(TP_MISUSE, tp_show(pool.a, "17", &batch));
    assert_null(batch);
}

/* ---- Is there anything? ------------------------------------------------------------------------------ */

#define expect_there(due, open) check_there(&request, (due), (open), __FILE__, __LINE__)
static void check_there(const tp_claim_request *request, tp_status due, tp_status open, const char *file,
                        int line) {
    check_status(due, tpi_any_due(pool.a, request, NULL), "tpi_any_due", file, line);
    check_status(open, tpi_any_open(pool.a, request), "tpi_any_open", file, line);
}

TEST(test_look__any_due_and_any_open_follow_a_task_through_its_life) {
    tp_claim_request request = claim_request(1);
    expect_there(TP_NONE, TP_NONE);
    tp_new_task later = enqueue(pool.a, .delay_ms = 3600000);
    expect_there(TP_NONE, TP_OK);
    row_make_due(later.id);
    expect_there(TP_OK, TP_OK);
    claim(pool.b, 1);
    expect_there(TP_NONE, TP_OK);
    row_make_due(later.id); /* its lease lapses */
    expect_there(TP_OK, TP_OK);
    must(tp_complete(pool.b, claim_one(pool.b)));
    expect_there(TP_NONE, TP_NONE);
}

TEST(test_look__any_due_and_any_open_see_chosen_shards_only) {
    static const int32_t one[] = {1}, others[] = {0, 2, -1};
    enqueue(pool.a, .shard = 1);
    tp_claim_request request = request_with(.limit = 1, .shards = one, .shard_count = 1);
    expect_there(TP_OK, TP_OK);
    request.shards = others;
    request.shard_count = 3;
    expect_there(TP_NONE, TP_NONE);
    request.shards = NULL;
    expect(TP_MISUSE, tpi_any_due(pool.a, &request, NULL));
    expect(TP_MISUSE, tpi_any_open(pool.a, &request));
    expect(TP_MISUSE, tpi_any_due(pool.a, NULL, NULL));
    expect(TP_MISUSE, tpi_any_open(NULL, &request));
}

TEST(test_look__tasks_of_a_paused_handler_are_open_and_not_due) {
    tp_claim_request request = claim_request(1);
    put_one();
    must(tp_pause(pool.a, pool.handler, "ann", NULL));
    expect_there(TP_NONE, TP_OK);
    must(tp_resume(pool.a, pool.handler, "ann"));
    expect_there(TP_OK, TP_OK);
}

TEST(test_look__any_due_and_any_open_may_be_asked_inside_a_transaction) {
    tp_claim_request request = claim_request(1);
    tp_new_task task = task_new("x");
    must(tp_begin(pool.a));
    must(tp_enqueue(pool.a, &task));
    expect_there(TP_OK, TP_OK);
    must(tp_rollback(pool.a));
    expect_there(TP_NONE, TP_NONE);
}
