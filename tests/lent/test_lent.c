/* Connections that applications lend, set in every way that their drivers know: what only puts tasks in works
 * there or is refused in words, and nothing of the application's own is changed. */
#include <sqlext.h>
#include <stdio.h>
#include <string.h>

#include "lent/ways.h"
#include "support/check.h"
#include "support/engine.h"
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

/* What has the key is the application's to change, where it can be read as it is. */
static void call_replace(struct visit *visit) {
    tp_new_task task = task_new("new");
    task.dedup_key = visit->key;
    task.on_duplicate = TP_DUPLICATE_REPLACE;
    for (int i = 0; i < 2; i++)
        if (done(visit, TP_OK, tp_enqueue(visit->conn, &task)))
            assert_string_equal(task.existing_id, visit->there_keyed.id);
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
    {"replace", call_replace},
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

/* late: the connection is set after it was lent. */
static void visit_way(const struct way *way, bool manual, bool late) {
    struct visit visit = {.way = way};
    struct pool_raw raw;
    struct settings before, after;
    put_before(&visit);
    way_connect(way, manual ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON, &raw);
    bool known = late || way_set(way, raw.dbc);
    visit.call = "lending";
    bool lent = known && done(&visit, TP_OK, tp_conn_borrow(pool.env, raw.dbc, &visit.conn));
    if (lent && late) {
        if (manual) assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_ROLLBACK)));
        known = way_set(way, raw.dbc);
    }
    if (lent && known) {
        settings_read(raw.dbc, &before);
        if (manual) way_begin(way, raw.dbc);
        make_calls(&visit, raw.dbc, manual);
        tp_conn_close(visit.conn);
        visit.conn = NULL;
        settings_read(raw.dbc, &after);
        expect_settings(&before, &after);
        if (manual) assert_true(SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, raw.dbc, SQL_COMMIT)));
        expect_number(own_rows(), sizeof calls / sizeof calls[0]);
        expect_stored(&visit);
    }
    print_message("%-36s%-8s%-6s%s\n", way->name, manual ? "manual" : "auto", late ? "late" : "",
                  known ? visit.refused : "unknown to the driver");
    tp_conn_close(visit.conn);
    pool_raw_close(&raw);
}

TEST_BETWEEN(test_lent__set_in_any_way_puts_in_or_is_refused_in_words, pool_fresh, NULL) {
    for (size_t i = 0; way_at(i); i++) {
        visit_way(way_at(i), false, false);
        visit_way(way_at(i), true, false);
        if (!way_at(i)->key) visit_way(way_at(i), true, true);
    }
}

int main(void) {
    return pool_test_main("lent");
}
