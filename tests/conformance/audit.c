/* The audit: each act is one row of the chain, written with it, once; and whoever changes, inserts or deletes
 * a row is found. */
#include <pthread.h>
#include <strings.h>

#include "ops/audit.h"
#include "store/render.h"
#include "suite.h"

THEME(audit, ONCE);

/* ---- A chain of this test's own ------------------------------------------------------------------------ */

/* What hinders the owner; his own users have grants. */
static void drop_triggers(void) {
    if (pool_speaks("postgres")) sql_run(pool.eye, "DROP TRIGGER tp_audit_keep ON tp_audit");
    if (pool_speaks("postgres") || pool_speaks("generic")) return;
    sql_run(pool.eye, "DROP TRIGGER tp_audit_update");
    sql_run(pool.eye, "DROP TRIGGER tp_audit_delete");
}

static void make_triggers(void) {
    for (const struct tpi_script *script = pool.eye->store.dialect->scripts; script->file; script++)
        for (size_t i = 0; script->version == 4 && i < script->statement_count; i++) {
            struct tpi_buf sql = {0};
            if (!strstr(script->statements[i], " TRIGGER ")) continue;
            tpi_render_script(script->statements[i], pool.prefix, NULL, NULL, &sql);
            sql_run(pool.eye, "%s", sql.data);
            tpi_buf_free(&sql);
        }
}

static void end_chain(void *none) {
    (void)none;
    sql_run(pool.eye, "DELETE FROM tp_audit");
    sql_run(pool.eye, "UPDATE tp_audit_head SET seq = 0");
    make_triggers();
}

static void new_chain(void) {
    drop_triggers();
    sql_run(pool.eye, "DELETE FROM tp_audit");
    sql_run(pool.eye, "UPDATE tp_audit_head SET seq = 0");
    at_end(end_chain, NULL);
}

/* ---- What is read of it -------------------------------------------------------------------------------- */

static int64_t acts(void) {
    return count_of("tp_audit");
}

struct last {
    int64_t seq, at, changed;
    char act[ID], who[129], action[17], subject[129], detail[513], ids_hash[65], request_id[ID], why[513];
};

static void keep_row(const tp_audit *row, void *arg) {
    struct last *last = arg;
    *last = (struct last){.seq = row->seq, .at = row->at, .changed = row->changed};
    snprintf(last->act, sizeof last->act, "%s", row->act);
    snprintf(last->who, sizeof last->who, "%s", row->who);
    snprintf(last->action, sizeof last->action, "%s", row->action);
    snprintf(last->subject, sizeof last->subject, "%s", row->subject);
    snprintf(last->detail, sizeof last->detail, "%s", row->detail);
    snprintf(last->ids_hash, sizeof last->ids_hash, "%s", row->ids_hash);
    snprintf(last->request_id, sizeof last->request_id, "%s", row->request_id);
    snprintf(last->why, sizeof last->why, "%s", row->why);
}

static struct last last_act(void) {
    tp_audit_request request = TP_AUDIT_INIT;
    struct last last = {.seq = 0};
    request.limit = 1;
    must(tp_audit_each(pool.b, &request, keep_row, &last));
    return last;
}

/* The last act, and how many there are by now. */
#define expect_act(count, action, who, subject, detail, changed, why)                                        \
    check_act((count), (action), (who), (subject), (detail), (changed), (why), __LINE__)
static void check_act(int64_t count, const char *action, const char *who, const char *subject,
                      const char *detail, int64_t changed, const char *why, int line) {
    struct last last = last_act();
    bool fits = acts() == count && last.seq == count && last.changed == changed &&
                strcmp(last.action, action) == 0 && strcmp(last.who, who) == 0 &&
                strcmp(last.subject, subject) == 0 && strcmp(last.detail, detail) == 0 &&
                strcmp(last.why, why) == 0;
    if (!fits)
        fail_msg("line %d: %" PRId64 " acts, the last is %" PRId64 ": %s by %s, %s, '%s', %" PRId64 ", '%s'",
                 line, acts(), last.seq, last.action, last.who, last.subject, last.detail, last.changed,
                 last.why);
}

struct told {
    char text[4000];
    int bad;
};

static void note_finding(const tp_finding *finding, void *arg) {
    struct told *told = arg;
    size_t used = strlen(told->text);
    if (!finding->ok && strcmp(finding->name, "append-only") != 0)
        snprintf(told->text + used, sizeof told->text - used, "%s: %s\n", finding->name, finding->text);
}

static struct told checked(const char *anchor) {
    struct told told = {.bad = -1};
    must(tp_audit_check(pool.b, anchor, note_finding, &told, &told.bad));
    return told;
}

#define expect_whole(anchor) check_whole((anchor), __LINE__)
static void check_whole(const char *anchor, int line) {
    struct told told = checked(anchor);
    if (*told.text) fail_msg("line %d: %s", line, told.text);
}

#define expect_told(anchor, words) check_told((anchor), (words), __LINE__)
static void check_told(const char *anchor, const char *words, int line) {
    struct told told = checked(anchor);
    if (!strstr(told.text, words)) fail_msg("line %d: '%s' is not in '%s'", line, words, told.text);
    assert_true(told.bad > 0);
}

/* ---- What is recorded ---------------------------------------------------------------------------------- */

static tp_status pause_it(const char *why) {
    return tp_pause(pool.a, pool.handler, "ann", why);
}

TEST(test_audit__pausing_and_resuming_are_acts_and_doing_nothing_is_none) {
    tp_actor actor = TP_ACTOR_INIT;
    new_chain();
    must(pause_it("bank closed"));
    expect_act(1, "paused", "ann", pool.handler, "", 1, "bank closed");
    expect(TP_EXISTS, pause_it("again"));
    expect_number(acts(), 1);
    actor.why = "bank open";
    must(tp_conn_actor(pool.a, &actor));
    must(tp_resume(pool.a, pool.handler, "bob"));
    expect_act(2, "resumed", "bob", pool.handler, "", 1, "bank open");
    assert_string_equal(text_of("reason FROM tp_history WHERE event = 'resumed'"), "bank open");
    expect(TP_NONE, tp_resume(pool.a, pool.handler, "bob"));
    expect_number(acts(), 2);
    must(tp_conn_actor(pool.a, NULL));
    expect_whole(NULL);
}

static void put_failed(size_t count) {
    for (size_t i = 0; i < count; i++) {
        char id[ID];
        tpi_uuid_ordered(id);
        put_row(pool.eye, .in = "failed", .id = id, .state = "failed", .failures = 1,
                .biz_key = "ann-born-1970", .reason = "no money of Ann", .created_at = 1, .settled_at = 2);
    }
}

TEST(test_audit__an_act_on_many_is_one_row_a_transaction_with_a_digest_of_the_ids) {
    tp_selection selection = selection_with(.pool = "failed", .why = "paid by hand", .reason = "Ann");
    tp_operated result = TP_OPERATED_INIT;
    char detail[200], first[ID];
    new_chain();
    put_failed(501);
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    expect_number(result.done, 501);
    snprintf(detail, sizeof detail, "pool failed, handler %s, by reason", pool.handler);
    struct last last = last_act();
    expect_act(2, "skipped", "tester@desk", last.subject, detail, 1, "paid by hand");
    expect_number(strlen(last.subject), 36); /* the one task */
    memcpy(first, last.act, sizeof first);
    assert_int_equal(strcasecmp(text_of("act FROM tp_audit WHERE seq = 1"), first), 0);
    expect_number(sql_number(pool.eye, "SELECT changed FROM tp_audit WHERE seq = 1"), 500);
    expect_number(count_of("tp_audit WHERE subject IS NULL"), 1);
    must(tp_operate(pool.a, TP_ACTION_SKIP, &selection, &result));
    expect_number(acts(), 2);
    expect_whole(NULL);
}

/* echo 00000000-0000-4000-8000-00000000000{1,2} | tr ' ' '\n' | sha256sum. The second is older, so it is
 * deleted first. */
TEST(test_audit__the_digest_of_ids_is_that_of_sha256sum) {
    static const char *const ids[] = {"00000000-0000-4000-8000-000000000002",
                                      "00000000-0000-4000-8000-000000000001"};
    tp_selection selection = selection_with(.pool = "failed");
    new_chain();
    for (int i = 0; i < 2; i++)
        put_row(pool.eye, .in = "failed", .id = ids[i], .state = "failed", .failures = 1, .created_at = 1,
                .settled_at = 2 + i);
    must(tp_operate(pool.a, TP_ACTION_PURGE, &selection, NULL));
    assert_string_equal(last_act().ids_hash,
                        "d7c3edbc6845b7b42ab45e96b21182315e503144e9659129f16c5d2f03e88a79");
}

TEST(test_audit__edit_erase_and_purge_are_acts_without_private_text) {
    tp_edit_request edit = TP_EDIT_INIT;
    tp_selection old = selection_with(.pool = "finished");
    char id[ID];
    new_chain();
    put_failed(1);
    snprintf(id, sizeof id, "%s", text_of("id FROM tp_failed"));
    tpi_lower(id, strlen(id));
    edit.fields = TP_EDIT_PARAMS | TP_EDIT_PRIORITY;
    edit.params = "Ann again";
    edit.priority = 3;
    must(tp_edit(pool.a, id, &edit, "ann", "typing error"));
    expect_act(1, "edited", "ann", id, "params 1 -> 9 bytes, priority 0 -> 3", 1, "typing error");
    assert_string_equal(last_act().act, edit.edit_id);
    must(tp_edit(pool.a, id, &edit, "ann", "typing error"));
    expect_number(acts(), 1);
    must(tp_erase(pool.a, "ann-born-1970", "bob", "request 17", 0, NULL));
    expect_act(2, "erased", "bob", "failed", "1 failed tasks, 1 events, 0 keys of the ledger", 2,
               "request 17");
    expect(TP_NONE, tp_erase(pool.a, "ann-born-1970", "bob", "request 17", 0, NULL));
    put_row(pool.eye, .in = "finished", .id = id, .state = "done", .created_at = 1, .settled_at = 2);
    must(tp_operate(pool.a, TP_ACTION_PURGE, &old, NULL));
    struct last last = last_act();
    expect_act(3, "purged", "tester@desk", "finished", last.detail, 1, "");
    expect_whole(NULL);
    tp_audit_request request = TP_AUDIT_INIT;
    expect_number(count_of("tp_audit WHERE detail LIKE '%%born%%' OR subject LIKE '%%born%%' OR reason LIKE "
                           "'%%born%%' OR detail LIKE '%%Ann%%'"),
                  0);
    request.action = "erased";
    request.who = "bob";
    request.oldest_first = 1;
    must(tp_audit_each(pool.b, &request, keep_row, &last));
    expect_number(last.seq, 2);
    request.subject = "finished";
    expect(TP_NONE, tp_audit_each(pool.b, &request, keep_row, &last));
}

TEST(test_audit__schedules_retention_and_workers_told_to_end) {
    tp_schedule schedule = hourly("nightly", "ann-born-1970");
    tp_actor actor = TP_ACTOR_INIT;
    char detail[100], id[ID];
    new_chain();
    actor.who = "carl";
    actor.why = "new contract";
    must(tp_conn_actor(pool.a, &actor));
    must(tp_schedule_add(pool.a, &schedule));
    snprintf(detail, sizeof detail, "handler %s, rule %s", pool.handler, schedule.rule);
    expect_act(1, "schedule-added", "carl", "nightly", detail, 1, "new contract");
    expect(TP_EXISTS, tp_schedule_add(pool.a, &schedule));
    must(tp_schedule_pause(pool.a, "nightly", 1));
    must(tp_schedule_pause(pool.a, "nightly", 1));
    expect_act(2, "schedule-paused", "carl", "nightly", "", 1, "new contract");
    must(tp_schedule_pause(pool.a, "nightly", 0));
    expect_act(3, "schedule-resumed", "carl", "nightly", "", 1, "new contract");
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = %" PRId64, LONG_AGO);
    must(tp_schedule_fire(pool.a, NULL, NULL));
    expect_act(4, "fired", "carl", "nightly", "", 1, "new contract");
    must(tp_conn_actor(pool.a, NULL));
    sql_run(pool.eye, "UPDATE tp_schedule SET next_at = %" PRId64, LONG_AGO + 1);
    must(tp_schedule_fire(pool.a, NULL, NULL)); /* as a worker does */
    must(tp_conn_actor(pool.a, &actor));
    must(tp_schedule_remove(pool.a, "nightly"));
    expect_act(5, "schedule-removed", "carl", "nightly", "", 1, "new contract");
    expect(TP_NONE, tp_schedule_remove(pool.a, "nightly"));
    must(tp_retention_set(pool.a, "finished", 86400000, "dora"));
    must(tp_retention_set(pool.a, "finished", 86400000, "dora"));
    expect_act(6, "kept", "dora", "finished", "1d", 1, "new contract");
    must(tp_retention_set(pool.a, "finished", 0, "dora"));
    tpi_uuid_ordered(id);
    sql_run(pool.eye,
            "INSERT INTO tp_worker (id, name, host, pid, handlers, plan, threads, state, running, claimed, "
            "done, failed, started_at, seen_at) VALUES ('%s', 'w', 'host-1', 1, 'x', 'skip', 1, 'running', "
            "0, 0, 0, 0, 1, 1)",
            id);
    must(tp_drain(pool.a, "host-1", "emil", NULL));
    expect_act(8, "drained", "emil", "host-1", "", 1, "new contract");
    must(tp_drain(pool.a, "host-1", "emil", NULL));
    expect_number(acts(), 8);
    expect_number(count_of("tp_history WHERE event = 'drained'"), 1);
    must(tp_conn_actor(pool.a, NULL));
    expect_whole(NULL);
}

TEST(test_audit__what_was_approved_stands_in_the_row) {
    static const char request[] = "0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f";
    tp_actor actor = TP_ACTOR_INIT;
    new_chain();
    actor.request_id = request;
    must(tp_conn_actor(pool.a, &actor));
    must(pause_it(NULL));
    assert_string_equal(last_act().request_id, request);
    actor.request_id = "17";
    expect(TP_MISUSE, tp_conn_actor(pool.a, &actor));
    must(tp_conn_actor(pool.a, NULL));
    expect_whole(NULL);
}

/* Long, of other alphabets, with controls: what is hashed is what comes back. */
TEST(test_audit__text_of_all_kinds_fits_its_hash) {
    char who[300], why[1200];
    new_chain();
    for (size_t i = 0; i + 3 < sizeof who; i += 3)
        memcpy(who + i, "\xe5\xb7\xa5", 4);
    for (size_t i = 0; i + 4 < sizeof why; i += 4)
        memcpy(why + i, "\xf0\x9f\x98\x80", 5);
    must(tp_pause(pool.a, pool.handler, who, why));
    must(tp_resume(pool.a, pool.handler, "a'b\\c\"d \x01\x7f\xff e "));
    must(tp_pause(pool.a, pool.handler, "x", "line\nnext\ttab  "));
    expect_number(acts(), 3);
    expect_whole(NULL);
}

TEST(test_audit__in_a_transaction_it_is_undone_with_the_act) {
    new_chain();
    must(tp_begin(pool.a));
    must(pause_it("why"));
    must(tp_rollback(pool.a));
    expect_number(acts(), 0);
    must(pause_it("why"));
    expect_act(1, "paused", "ann", pool.handler, "", 1, "why");
    expect_whole(NULL);
}

TEST(test_audit__on_a_lent_connection_an_act_needs_a_transaction) {
    tp_schedule schedule = hourly("lent", NULL);
    new_chain();
    struct loan alone = lent(SQL_AUTOCOMMIT_ON), whole = lent(SQL_AUTOCOMMIT_OFF);
    expect(TP_MISUSE, tp_pause(alone.conn, pool.handler, "ann", NULL));
    expect(TP_MISUSE, tp_schedule_add(alone.conn, &schedule));
    must(tp_pause(whole.conn, pool.handler, "ann", NULL));
    loan_end(&whole, SQL_COMMIT);
    expect_number(acts(), 1);
    expect_whole(NULL);
}

TEST(test_audit__an_act_of_the_application_needs_the_transaction_of_what_it_tells) {
    static const char *const wrong[] = {NULL, "", "Paid", "two words", "seventeen-letters"};
    new_chain();
    expect(TP_MISUSE, tp_audit_add(pool.a, "paid", "order-7", NULL, 1));
    must(tp_begin(pool.a));
    must(tp_audit_add(pool.a, "paid", "order-7", "by hand", 2));
    must(tp_commit(pool.a));
    struct last last = last_act();
    expect_act(1, "paid", last.who, "order-7", "by hand", 2, "");
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        must(tp_begin(pool.a));
        expect(TP_MISUSE, tp_audit_add(pool.a, wrong[i], NULL, NULL, 1));
        must(tp_rollback(pool.a));
    }
    expect_number(acts(), 1);
    expect_whole(NULL);
}

/* ---- Two at once --------------------------------------------------------------------------------------- */

enum { OPERATORS = 4, EACH = 10 };

static void *act_often(void *arg) {
    const int *number = arg;
    tp_conn *conn = NULL;
    char handler[40];
    snprintf(handler, sizeof handler, "%s.%d", pool.handler, *number);
    tp_status status = tp_conn_open(pool.env, &conn);
    for (int i = 0; i < EACH && status == TP_OK;) {
        status = i % 2 ? tp_resume(conn, handler, "ann") : tp_pause(conn, handler, "ann", "why");
        if (status == TP_OK || status == TP_EXISTS || status == TP_NONE) i++;
        if (status != TP_MISUSE && (status >= TP_OK || tp_status_may_retry(status))) status = TP_OK;
    }
    tp_conn_close(conn);
    return status == TP_OK ? arg : NULL;
}

TEST(test_audit__operators_at_once_make_one_chain_without_gap_or_fork) {
    pthread_t threads[OPERATORS];
    int numbers[OPERATORS], well = 0;
    new_chain();
    for (int i = 0; i < OPERATORS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, act_often, &numbers[i]), 0);
    }
    for (int i = 0; i < OPERATORS; i++) {
        void *answer = NULL;
        pthread_join(threads[i], &answer);
        well += answer != NULL;
    }
    expect_number(well, OPERATORS);
    expect_number(acts(), OPERATORS * EACH);
    expect_number(sql_number(pool.eye, "SELECT seq FROM tp_audit_head"), OPERATORS * EACH);
    expect_whole(NULL);
}

/* ---- Lost answers -------------------------------------------------------------------------------------- */

TEST(test_audit__a_lost_commit_is_asked_again_and_recorded_once) {
    for (int made = 0; made < 2; made++) {
        new_chain();
        lose_call("commit", "audit_add", made);
        tp_status status = pause_it("why");
        expect(TP_DISCONNECTED, status);
        must(tp_conn_reopen(pool.a));
        expect(made ? TP_EXISTS : TP_OK, pause_it("why"));
        expect_number(acts(), 1);
        expect_whole(NULL);
        must(tp_resume(pool.a, pool.handler, "ann"));
        given_back();
    }
}

/* ---- Tampering ----------------------------------------------------------------------------------------- */

static void five_acts(void) {
    empty_pool();
    new_chain();
    for (int i = 0; i < 5; i++)
        must(i % 2 ? tp_resume(pool.a, pool.handler, "ann") : pause_it("why"));
    expect_whole(NULL);
}

/* As somebody who knows how it is worked out: the row, read and changed, with its new hash. */
struct forged {
    const char *who;
    char hash[TPI_SHA256_SIZE], prev[TPI_SHA256_SIZE];
};

static void forge_hash(const tp_audit *row, void *arg) {
    struct forged *forged = arg;
    tp_audit other = *row;
    if (forged->who) other.who = forged->who;
    if (*forged->prev) other.prev_hash = forged->prev;
    assert_true(tpi_audit_hash(&other, forged->hash));
}

static void forge_row(int64_t seq, const char *who, const char *prev, char hash[TPI_SHA256_SIZE]) {
    struct forged forged = {.who = who};
    tp_audit_request request = TP_AUDIT_INIT;
    if (prev) snprintf(forged.prev, sizeof forged.prev, "%s", prev);
    request.seq = seq + 1;
    request.limit = 1;
    must(tp_audit_each(pool.b, &request, forge_hash, &forged));
    if (who) sql_run(pool.eye, "UPDATE tp_audit SET who = '%s' WHERE seq = %" PRId64, who, seq);
    if (prev) sql_run(pool.eye, "UPDATE tp_audit SET prev_hash = '%s' WHERE seq = %" PRId64, prev, seq);
    sql_run(pool.eye, "UPDATE tp_audit SET row_hash = '%s' WHERE seq = %" PRId64, forged.hash, seq);
    memcpy(hash, forged.hash, sizeof forged.hash);
}

TEST(test_audit__a_changed_row_is_found) {
    static const char *const changes[] = {"who = 'mallory'",
                                          "reason = NULL",
                                          "changed = 2",
                                          "subject = 'x'",
                                          "created_at = created_at + 1",
                                          "detail = 'x'",
                                          "action = 'resumed'",
                                          "act = '00000000-0000-4000-8000-0000000000dd'",
                                          "request_id = '00000000-0000-4000-8000-0000000000dd'",
                                          "ids_hash = 'x'"};
    for (size_t i = 0; i < LENGTH(changes); i++) {
        five_acts();
        sql_run(pool.eye, "UPDATE tp_audit SET %s WHERE seq = 3", changes[i]);
        expect_told(NULL, "row 3 was changed");
        must(tp_resume(pool.a, pool.handler, "ann")); /* operators go on */
        given_back();
    }
}

TEST(test_audit__a_changed_row_with_a_new_hash_is_not_named_by_the_next) {
    char hash[TPI_SHA256_SIZE];
    five_acts();
    forge_row(3, "mallory", NULL, hash);
    expect_told(NULL, "row 4 does not follow row 3");
}

TEST(test_audit__missing_rows_are_found_in_the_middle_at_the_start_and_at_the_end) {
    char anchor[TP_ANCHOR_SIZE];
    five_acts();
    must(tp_audit_anchor(pool.b, anchor));
    assert_memory_equal(anchor, "5:", 2);
    expect_whole(anchor);
    expect_whole(anchor + 2);
    sql_run(pool.eye, "DELETE FROM tp_audit WHERE seq = 3");
    expect_told(NULL, "row 3 is missing");
    sql_run(pool.eye, "DELETE FROM tp_audit WHERE seq = 1 OR seq = 2");
    expect_told(NULL, "rows 1 to 3 are missing");
    given_back();
    five_acts();
    must(tp_audit_anchor(pool.b, anchor));
    sql_run(pool.eye, "DELETE FROM tp_audit WHERE seq > 3");
    expect_told(NULL, "the last 2 rows are missing");
    must(tp_resume(pool.a, pool.handler, "ann"));
    expect_told(NULL, "rows 4 to 5 are missing");
    given_back();
    five_acts();
    must(tp_audit_anchor(pool.b, anchor));
    sql_run(pool.eye, "DELETE FROM tp_audit WHERE seq > 3");
    sql_run(pool.eye, "UPDATE tp_audit_head SET seq = 3");
    expect_number(strstr(checked(NULL).text, "missing") != NULL, 0); /* and so there is an anchor */
    expect_told(anchor, "no row has the hash of the anchor");
}

TEST(test_audit__inserted_and_exchanged_rows_are_found) {
    static const char copy[] =
        "INSERT INTO tp_audit (seq, act, created_at, who, action, changed, prev_hash, row_hash) "
        "SELECT %d, act, created_at, who, action, changed, %s, row_hash FROM tp_audit WHERE seq = %d";
    char hash[TPI_SHA256_SIZE], prev[TPI_SHA256_SIZE];
    five_acts();
    snprintf(prev, sizeof prev, "%s", text_of("row_hash FROM tp_audit WHERE seq = 5"));
    sql_run(pool.eye, copy, 6, "prev_hash", 5);
    forge_row(6, "mallory", prev, hash);
    expect_told(NULL, "behind row 5 were inserted");
    given_back();
    five_acts();
    sql_run(pool.eye, copy, 0, "prev_hash", 5);
    expect_told(NULL, "row 0 was inserted");
    given_back();
    five_acts();
    sql_run(pool.eye, "UPDATE tp_audit SET seq = 9 WHERE seq = 2");
    sql_run(pool.eye, "UPDATE tp_audit SET seq = 2 WHERE seq = 3");
    sql_run(pool.eye, "UPDATE tp_audit SET seq = 3 WHERE seq = 9");
    expect_told(NULL, "row 2 was changed");
    expect_told(NULL, "row 3 was changed");
}

TEST(test_audit__a_chain_made_anew_lacks_the_anchor) {
    char anchor[TP_ANCHOR_SIZE], hash[TPI_SHA256_SIZE];
    five_acts();
    must(tp_audit_anchor(pool.b, anchor));
    forge_row(2, "mallory", NULL, hash);
    for (int64_t seq = 3; seq <= 5; seq++)
        forge_row(seq, NULL, hash, hash);
    expect_number(strncmp(checked(NULL).text, "chain: ", 7) == 0, 0);
    expect_told(anchor, "no row has the hash of the anchor");
    expect(TP_MISUSE, tp_audit_check(pool.b, "17", note_finding, &(struct told){.bad = 0}, NULL));
}

TEST(test_audit__what_an_older_library_did_is_outside_the_chain) {
    char id[ID];
    new_chain();
    expect_whole("0:0000000000000000000000000000000000000000000000000000000000000000");
    tpi_uuid_ordered(id);
    sql_run(
        pool.eye,
        "INSERT INTO tp_history (id, event, who, reason, created_at) VALUES ('%s', 'skipped', 'old@desk', "
        "'x', 5)",
        id);
    must(pause_it("why"));
    expect_whole(NULL); /* before it */
    sql_run(pool.eye, "UPDATE tp_history SET created_at = %" PRId64 " WHERE id = '%s'", last_act().at + 1,
            id);
    expect_told(NULL, "outside the chain: 1 events of the history by people, such as old@desk");
    sql_run(pool.eye, "UPDATE tp_history SET event = 'approved' WHERE id = '%s'", id); /* by nobody */
    expect_told(NULL, "outside the chain: 1 events of the history by people, such as old@desk");
}

/* Of the finding that says whether this user could change the chain. */
static void note_refused(const tp_finding *finding, void *arg) {
    if (strcmp(finding->name, "append-only") == 0) *(int *)arg = finding->ok;
}

TEST(test_audit__the_check_says_whether_the_database_keeps_the_rows) {
    int kept = -1;
    new_chain();
    must(pause_it("why"));
    must(tp_audit_check(pool.b, NULL, note_refused, &kept, NULL));
    expect_number(kept, 0);
    make_triggers();
    must(tp_audit_check(pool.b, NULL, note_refused, &kept, NULL));
    expect_number(kept, !pool_speaks("generic"));
    expect_whole(NULL);
    drop_triggers();
}
