/* Connections that applications lend, set in every way that their drivers know: what only puts tasks in works
 * there or is refused in words, and nothing of the application's own is changed. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "lent/ways.h"
#include "support/check.h"
#include "support/engine.h"
#include "support/session.h"
#include "support/settings.h"
#include "support/sql.h"
#include "support/tasks.h"

#define KEY  "Gr\xc3\xbc\xc3\x9f \xe2\x82\xac"
#define TEXT "Gr\xc3\xbc\xc3\x9f\n\xe2\x82\xac \xe4\xbd\xa0 \xf0\x9f\x98\x80 \\ 'x'"

/* One lent connection and what was there before. */
struct visit {
    const struct way *way;
    tp_conn *conn;
    tp_new_task there, there_keyed, there_text;
    char key[40], once[40], once_new[40];
    int64_t stored;               /* tasks that the calls put in */
    char text_id[ID], key_id[ID]; /* of those of them that have text; "": refused */
    const char *call;
    char refused[400];
};

static void note_refused(struct visit *visit) {
    size_t length = strlen(visit->refused);
    snprintf(visit->refused + length, sizeof visit->refused - length, "%s%s", length ? ", " : "",
             visit->call);
}

/* True: done as wanted. */
static bool done(struct visit *visit, tp_status wanted, tp_status got) {
    if (got == wanted) return true;
    bool refused = (got == TP_MISUSE || got == TP_UNSUPPORTED) && tp_last_error()->text[0];
    sure(refused, "%s: %s: %s, %s", visit->way->name, visit->call, tp_status_name(got),
         got < TP_OK ? tp_last_error()->text : "");
    note_refused(visit);
    return false;
}

/* ---- The calls ----------------------------------------------------------------------------------------- */

static bool put(struct visit *visit, tp_new_task *task) {
    bool stored = done(visit, TP_OK, tp_enqueue(visit->conn, task));
    visit->stored += stored;
    return stored;
}

static void call_new(struct visit *visit) {
    tp_new_task task = task_new("x");
    must(tp_enqueue(visit->conn, &task));
    visit->stored++;
}

static void call_many(struct visit *visit) {
    tp_new_task tasks[20];
    size_t inserted = 0;
    for (int i = 0; i < 20; i++)
        tasks[i] = task_new("x");
    must(tp_enqueue_many(visit->conn, tasks, 20, &inserted));
    expect_number(inserted, 20);
    visit->stored += 20;
}

static void call_many_keyed(struct visit *visit) {
    tp_new_task tasks[4];
    size_t inserted = 0;
    for (int i = 0; i < 4; i++)
        tasks[i] = task_new("x");
    tasks[1].dedup_key = visit->key; /* is there */
    tasks[2].dedup_key = tasks[3].dedup_key = visit->once;
    if (!done(visit, TP_OK, tp_enqueue_many(visit->conn, tasks, 4, &inserted))) return;
    expect_number(inserted, 2);
    assert_string_equal(tasks[1].existing_id, visit->there_keyed.id);
    assert_string_equal(tasks[3].existing_id, tasks[2].id);
    visit->stored += 2;
}

static void call_key_there(struct visit *visit) {
    tp_new_task task = task_new("x");
    task.dedup_key = visit->key;
    if (done(visit, TP_EXISTS, tp_enqueue(visit->conn, &task)))
        assert_string_equal(task.existing_id, visit->there_keyed.id);
}

static void call_key_new(struct visit *visit) {
    tp_new_task task = task_new("x");
    task.dedup_key = visit->once_new;
    (void)put(visit, &task);
}

static void call_again(struct visit *visit) {
    tp_new_task again = visit->there;
    (void)done(visit, TP_EXISTS, tp_enqueue(visit->conn, &again));
}

static void call_again_text(struct visit *visit) {
    tp_new_task again = visit->there_text;
    tp_status status = tp_enqueue(visit->conn, &again);
    if (!done(visit, TP_EXISTS, status)) assert_null(strstr(tp_last_error()->text, "with another"));
}

static void call_again_many(struct visit *visit) {
    tp_new_task again[2] = {visit->there, task_new("x")};
    size_t inserted = 0;
    if (!done(visit, TP_OK, tp_enqueue_many(visit->conn, again, 2, &inserted))) return;
    expect_number(inserted, 1);
    visit->stored++;
}

static void call_own_id(struct visit *visit) {
    tp_new_task task = task_new("x");
    task_set_id(&task, "0192f3a4-0000-7000-8000-0000000000aa");
    if (!done(visit, TP_OK, tp_enqueue(visit->conn, &task))) return;
    visit->stored++;
    (void)done(visit, TP_EXISTS, tp_enqueue(visit->conn, &task));
}

static void call_other_content(struct visit *visit) {
    tp_new_task other = task_new("y");
    task_set_id(&other, visit->there.id);
    tp_status status = tp_enqueue(visit->conn, &other);
    assert_true(status == TP_MISUSE || status == TP_UNSUPPORTED);
}

static void call_too_long(struct visit *visit) {
    char key[TP_KEY_MAX + 2];
    tp_new_task task = task_new("x");
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    task.biz_key = key;
    tp_status status = tp_enqueue(visit->conn, &task);
    assert_true(status == TP_MISUSE || status == TP_TOOBIG);
}

static void call_no_utf8(struct visit *visit) {
    tp_new_task task = task_new("Gr\xfc\xdf \x80 100"); /* Windows-1252 */
    expect(TP_MISUSE, tp_enqueue(visit->conn, &task));
    expect_text("UTF-8");
}

static void call_text(struct visit *visit) {
    tp_new_task task = task_new(TEXT);
    if (put(visit, &task)) memcpy(visit->text_id, task.id, ID);
}

static void call_text_key(struct visit *visit) {
    tp_new_task task = task_new("x");
    task.biz_key = KEY;
    if (put(visit, &task)) memcpy(visit->key_id, task.id, ID);
}

static void call_once(struct visit *visit) {
    char key[60];
    snprintf(key, sizeof key, "%s/1", visit->once_new);
    must(tp_once(visit->conn, key, NULL));
    (void)done(visit, TP_EXISTS, tp_once(visit->conn, key, NULL));
}

static void call_once_there(struct visit *visit) {
    (void)done(visit, TP_EXISTS, tp_once(visit->conn, visit->once, NULL));
}

static void call_show(struct visit *visit) {
    tp_batch *batch = NULL;
    tp_status status = tp_show(visit->conn, visit->there_text.id, &batch);
    if (!done(visit, TP_OK, status)) return;
    assert_string_equal(tp_batch_task(batch, 0)->params, TEXT);
    tp_batch_free(batch);
}

static const struct {
    const char *name;
    void (*call)(struct visit *visit);
} calls[] = {
    {"new", call_new},
    {"many", call_many},
    {"many with keys", call_many_keyed},
    {"key that is there", call_key_there},
    {"new key", call_key_new},
    {"again", call_again},
    {"again, text", call_again_text},
    {"again, many", call_again_many},
    {"own id", call_own_id},
    {"other content", call_other_content},
    {"too long", call_too_long},
    {"not UTF-8", call_no_utf8},
    {"text", call_text},
    {"text as key", call_text_key},
    {"once", call_once},
    {"once, there", call_once_there},
    {"show", call_show},
};

/* ---- The visit ----------------------------------------------------------------------------------------- */

static void put_before(struct visit *visit) {
    static int number;
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    sql_run(pool.eye, "DELETE FROM tp_fx WHERE task_id = '%s'", pool.handler);
    snprintf(visit->key, sizeof visit->key, "%s/%d", pool.handler, ++number);
    snprintf(visit->once, sizeof visit->once, "%s/once%d", pool.handler, number);
    snprintf(visit->once_new, sizeof visit->once_new, "%s/new%d", pool.handler, number);
    visit->there = visit->there_keyed = task_new("x");
    visit->there_text = task_new(TEXT);
    visit->there_keyed.dedup_key = visit->key;
    must(tp_enqueue(pool.b, &visit->there));
    must(tp_enqueue(pool.b, &visit->there_keyed));
    must(tp_enqueue(pool.b, &visit->there_text));
    must(tp_once(pool.b, visit->once, NULL));
}

static void expect_text_of(const char *id, const char *params, const char *biz_key) {
    tp_batch *batch = NULL;
    if (!id[0]) return;
    must(tp_show(pool.b, id, &batch));
    assert_string_equal(tp_batch_task(batch, 0)->params, params);
    assert_string_equal(tp_batch_task(batch, 0)->biz_key, biz_key);
    tp_batch_free(batch);
}

/* What was refused is not there, and text is what was given. */
static void expect_stored(const struct visit *visit) {
    expect_number(rows_in("pending", pool.handler), 3 + visit->stored);
    expect_text_of(visit->text_id, TEXT, "");
    expect_text_of(visit->key_id, "x", KEY);
}

static void own_row(struct visit *visit, SQLHDBC dbc, const char *after) {
    sure(sql_raw(dbc, "INSERT INTO tp_fx (task_id, note) VALUES ('%s', 'own')", pool.handler),
         "%s, after %s: %s", visit->way->name, after, sql_reason());
}

static int64_t own_rows(void) {
    return sql_number(pool.eye, "SELECT COUNT(*) FROM tp_fx WHERE task_id = '%s'", pool.handler);
}

static void make_calls(struct visit *visit, SQLHDBC dbc, bool manual) {
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        visit->call = calls[i].name;
        calls[i].call(visit);
        own_row(visit, dbc, calls[i].name);
        if (manual) expect_number(own_rows(), 0);
    }
}

static void visit_way(const struct way *way, bool manual) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    struct settings before, after;
    put_before(&visit);
    if (!way_open(way, manual ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON, &raw)) return;
    settings_read(raw.dbc, &before);
    tp_status status = tp_conn_borrow(pool.env, raw.dbc, &visit.conn);
    visit.call = "lending";
    if (done(&visit, TP_OK, status)) {
        if (manual) way_begin(way, raw.dbc);
        make_calls(&visit, raw.dbc, manual);
        tp_conn_close(visit.conn);
        settings_read(raw.dbc, &after);
        expect_settings(&before, &after);
        if (manual) assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_COMMIT)));
        expect_number(own_rows(), sizeof calls / sizeof calls[0]);
        expect_stored(&visit);
    }
    print_message("%-36s%-8s%s\n", way->name, manual ? "manual" : "auto", visit.refused);
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__set_in_any_way_puts_in_or_is_refused_in_words, pool_fresh, NULL) {
    for (size_t i = 0; way_at(i); i++)
        for (int manual = 0; manual < 2; manual++)
            visit_way(way_at(i), manual);
}

/* ---- What a level shows too early ---------------------------------------------------------------------- */

/* One call that meets what its rival has written and then takes back. */
struct early {
    const char *name;
    tp_status (*rival)(tp_conn *conn, void *arg), (*call)(tp_conn *conn, void *arg);
    bool keyed, same; /* with a dedup_key; an earlier try of the same task */
};

static tp_status once_call(tp_conn *conn, void *arg) {
    const tp_new_task *task = arg;
    return tp_once(conn, task->params, NULL);
}

static tp_status enqueue_call(tp_conn *conn, void *arg) {
    return tp_enqueue(conn, arg);
}

/* Nothing inserted is TP_EXISTS. */
static tp_status many_call(tp_conn *conn, void *arg) {
    size_t inserted = 0;
    tp_status status = tp_enqueue_many(conn, arg, 1, &inserted);
    return status == TP_OK && !inserted ? TP_EXISTS : status;
}

static const struct early earlies[] = {
    {"once", once_call, once_call, false, true},
    {"key", enqueue_call, enqueue_call, true, false},
    {"again", enqueue_call, enqueue_call, false, true},
    {"again with a key", enqueue_call, enqueue_call, true, true},
    {"many, key", enqueue_call, many_call, true, false},
    {"many, again", enqueue_call, many_call, false, true},
};

/* The rival has written and rolls back: it was never there. */
static void expect_no_belief(const struct way *way, const struct early *early) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    struct aside aside;
    put_before(&visit);
    tp_new_task rival = task_new(visit.once_new);
    if (early->keyed) rival.dedup_key = visit.once_new;
    tp_new_task task = rival;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        long session = session_number_of(raw.dbc);
        way_begin(way, raw.dbc);
        must(tp_begin(pool.b));
        must(early->rival(pool.b, &rival));
        if (early->same) task = rival;
        aside_start(&aside, visit.conn, early->call, &task);
        session_await_blocked(session, &aside);
        must(tp_rollback(pool.b));
        tp_status status = aside_end(&aside);
        sure(status == TP_OK || status == TP_UNSUPPORTED || status == TP_CONFLICT, "%s, %s: %s %s", way->name,
             early->name, tp_status_name(status), aside.error);
        sure(status == TP_OK || !way->next, "%s, %s: stored nothing", way->name, early->name);
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_COMMIT)));
        bool task_stored = status == TP_OK && early->call != once_call;
        expect_number(rows_in("pending", pool.handler), 3 + task_stored);
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__believes_nothing_before_its_rival_has_committed, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* one writer */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read uncommitted") && !strstr(way_at(i)->name, "repeatable")) continue;
        for (size_t k = 0; k < sizeof earlies / sizeof earlies[0]; k++)
            expect_no_belief(way_at(i), &earlies[k]);
    }
}

/* ---- What a level hides -------------------------------------------------------------------------------- */

/* After the lent session's snapshot an earlier try was stored, and one with the key; the first was also done.
 */
static void expect_nothing_twice(const struct way *way, bool finished) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    const tp_task *held;
    tp_new_task tried = task_new("x"), rival = task_new("x"), task = task_new("x");
    put_before(&visit);
    rival.dedup_key = task.dedup_key = visit.once_new;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        way_begin(way, raw.dbc);
        tried.priority = -1; /* claimed before the others */
        must(tp_enqueue(pool.b, &tried));
        must(tp_enqueue(pool.b, &rival));
        if (finished) {
            tp_batch *batch = claim_this(pool.b, tried.id, &held);
            must(tp_complete(pool.b, held));
            tp_batch_free(batch);
        }
        tp_status again = tp_enqueue(visit.conn, &tried);
        sure(again == TP_EXISTS || again == TP_UNSUPPORTED, "%s: again: %s", way->name,
             tp_status_name(again));
        tp_status keyed = tp_enqueue(visit.conn, &task);
        sure(keyed == TP_EXISTS || keyed == TP_UNSUPPORTED || keyed == TP_CONFLICT, "%s: keyed: %s",
             way->name, tp_status_name(keyed));
        if (keyed == TP_EXISTS) assert_string_equal(task.existing_id, rival.id);
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__puts_nothing_in_twice_that_its_level_hides, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* a read transaction that is overtaken cannot write */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read") && !strstr(way_at(i)->name, "serializable")) continue;
        if (strstr(way_at(i)->name, "serializable") && pool_on_mariadb()) continue; /* its reads lock */
        expect_nothing_twice(way_at(i), false);
        expect_nothing_twice(way_at(i), true);
    }
}

/* An earlier try with a key was stored after the lent session's snapshot, and then the same id is brought
 * with other content: an error, whatever the key says. */
static void expect_other_content_told(const struct way *way) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    tp_new_task tried = task_new("x");
    put_before(&visit);
    tried.dedup_key = visit.once_new;
    if (!way_open(way, SQL_AUTOCOMMIT_OFF, &raw)) return;
    if (tp_conn_borrow(pool.env, raw.dbc, &visit.conn) == TP_OK) {
        way_begin(way, raw.dbc);
        must(tp_enqueue(pool.b, &tried));
        tp_new_task other = task_new("y");
        other.dedup_key = tried.dedup_key;
        task_set_id(&other, tried.id);
        tp_status status = tp_enqueue(visit.conn, &other);
        sure(status == TP_MISUSE || status == TP_UNSUPPORTED || status == TP_CONFLICT, "%s: %s", way->name,
             tp_status_name(status));
        assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
        tp_conn_close(visit.conn);
    }
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__other_content_under_an_id_is_told_though_its_key_is_there, pool_fresh, NULL) {
    if (pool_on_sqlite()) skip(); /* a read transaction that is overtaken cannot write */
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "read") && !strstr(way_at(i)->name, "serializable")) continue;
        if (strstr(way_at(i)->name, "serializable") && pool_on_mariadb()) continue; /* its reads lock */
        expect_other_content_told(way_at(i));
    }
}

/* ---- What others wait for, and what the application has to do ------------------------------------------ */

/* Somebody else settles a task while the lent transaction, which brought an id of its own, is open. */
static tp_status settle_beside(const struct way *way) {
    struct pool_raw raw;
    const tp_task *held;
    tp_conn *conn;
    tp_new_task own = task_new("x"), other = task_new("x");
    way_open(way, SQL_AUTOCOMMIT_OFF, &raw);
    must(tp_conn_borrow(pool.env, raw.dbc, &conn));
    way_begin(way, raw.dbc);
    must(tp_enqueue(pool.b, &other));
    memcpy(own.id, other.id, ID); /* as if made just before */
    own.id[ID - 2] = own.id[ID - 2] == '0' ? '1' : '0';
    must(tp_enqueue(conn, &own));
    tp_batch *batch = claim_this(pool.b, other.id, &held);
    pool_fail_waits(pool.b);
    tp_status status = tp_complete(pool.b, held);
    tp_batch_free(batch);
    must(tp_conn_reopen(pool.b));
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
    tp_conn_close(conn);
    pool_raw_close(&raw);
    return status;
}

TEST_BETWEEN(test_lent__at_read_committed_an_id_of_its_own_holds_up_no_settle, pool_fresh, NULL) {
    if (!pool_on_mariadb() || pool_speaks("oracle")) skip(); /* elsewhere nothing is found by locks */
    for (size_t i = 0; way_at(i); i++) {
        const char *name = way_at(i)->name;
        bool committed = strstr(name, "read committed") || strcmp(name, "read uncommitted") == 0;
        if (!committed && strcmp(name, "repeatable read") != 0) continue;
        tp_status status = settle_beside(way_at(i));
        print_message("%-36sa settle beside it: %s\n", name, tp_status_name(status));
        if (committed) must(status);
    }
}

/* Which of its keys came after the snapshot. */
static void expect_words(const struct way *way, bool once) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    tp_new_task rival = task_new("x"), task = task_new("x");
    put_before(&visit);
    rival.dedup_key = task.dedup_key = visit.once_new;
    way_open(way, SQL_AUTOCOMMIT_OFF, &raw);
    must(tp_conn_borrow(pool.env, raw.dbc, &visit.conn));
    way_begin(way, raw.dbc);
    must(once ? tp_once(pool.b, visit.once_new, NULL) : tp_enqueue(pool.b, &rival));
    expect(TP_CONFLICT, once ? tp_once(visit.conn, visit.once_new, NULL) : tp_enqueue(visit.conn, &task));
    expect_text("your own transaction must be rolled back");
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
    way_begin(way, raw.dbc);
    task = task_new("x"); /* stands for what was not stored */
    task.dedup_key = visit.once_new;
    expect(TP_EXISTS, once ? tp_once(visit.conn, visit.once_new, NULL) : tp_enqueue(visit.conn, &task));
    assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
    tp_conn_close(visit.conn);
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__a_key_that_came_after_its_snapshot_tells_it_to_roll_back, pool_fresh, NULL) {
    if (!pool_on_postgres() || pool_on_generic()) skip();
    for (size_t i = 0; way_at(i); i++) {
        if (!strstr(way_at(i)->name, "repeatable") && !strstr(way_at(i)->name, "serializable")) continue;
        expect_words(way_at(i), false);
        expect_words(way_at(i), true);
    }
}

int main(void) {
    return pool_test_main("lent");
}
