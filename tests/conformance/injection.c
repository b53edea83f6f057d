/* Text that means something to SQL, ODBC, printf or a shell, in every text that a public function takes: it
 * comes back byte for byte or is refused with words, and nothing else happens. */
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "ops/for_workers.h"
#include "suite.h"

static const char *const texts[] = {
    "'; DROP TABLE tp_pending; --",
    "\" OR \"\"=\"",
    "\\'; DELETE FROM tp_pending; /*",
    "? ?? :id :token {fn now()} {d '2026-01-01'} {call x}",
    "%s%n%d %% {0} $1 @@x `x` $(x)",
    "');--\xef\xbc\x87\xca\xbc\xe2\x80\x99", /* quotes that some character sets fold to a plain one */
    "a\nb\r\t",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Done, an answer, or refused with words; never an error of the database. */
#define calm(call) check_calm((call), #call, __LINE__)
static bool check_calm(tp_status status, const char *call, int line) {
    if (status >= TP_OK) return true;
    if ((status != TP_MISUSE && status != TP_TOOBIG) || !*tp_last_error()->text)
        fail_msg("line %d: %s: %s: %s", line, call, tp_status_name(status), tp_last_error()->text);
    return false;
}

/* Refused, and as what is said to be wrong with it. */
#define refused(call) check_refused((call), #call, __LINE__)
static void check_refused(tp_status status, const char *call, int line) {
    if (status != TP_MISUSE && status != TP_TOOBIG)
        fail_msg("line %d: %s: %s", line, call, tp_status_name(status));
}

/* Is the text in the one row that the condition finds? Asked of the database without the text itself. */
static void expect_stored(const char *text, const char *column, const char *from) {
    struct sql_row row;
    if (!sql_row(pool.eye, &row, "SELECT %s FROM %s", column, from)) fail_msg("no row: %s", from);
    assert_string_equal(row.cell[0], text);
}

static bool has_controls(const char *text) {
    return strpbrk(text, "\n\r\t") != NULL;
}

static void test_injection__tasks_keep_their_text_or_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        tp_new_task task = task_new(texts[i]), bad = task_new("x"),
                    many[2] = {task_new(texts[i]), task_new("x")};
        char from[200];
        task.biz_key = task.dedup_key = has_controls(texts[i]) ? NULL : texts[i];
        must(tp_enqueue(pool.a, &task));
        snprintf(from, sizeof from, "tp_pending WHERE id = '%s'", task.id);
        expect_stored(texts[i], "params", from);
        if (task.biz_key) expect_stored(texts[i], "biz_key", from);
        if (task.biz_key) expect_stored(texts[i], "dedup_key", from);
        if (task.biz_key) expect(TP_EXISTS, tp_enqueue(pool.a, &task)); /* a new task of the same dedup_key */
        many[0].biz_key = task.biz_key;
        must(tp_enqueue_many(pool.a, many, 2, NULL));
        snprintf(from, sizeof from, "tp_pending WHERE id = '%s'", many[0].id);
        expect_stored(texts[i], "params", from);
        bad.handler = texts[i];
        refused(tp_enqueue(pool.a, &bad));
        refused(tp_enqueue_many(pool.a, &bad, 1, NULL));
        bad.handler = pool.handler;
        task_set_id(&bad, texts[i]);
        refused(tp_enqueue(pool.a, &bad));
    }
}

static void test_injection__ledger_and_reasons_keep_their_text(void **state) {
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        const tp_task *task;
        char from[200];
        tp_status status = tp_once(pool.a, texts[i], NULL);
        if (calm(status)) expect(TP_EXISTS, tp_once(pool.a, texts[i], NULL));
        tp_batch *batch = put_and_claim(pool.a, &task);
        must(tp_skip(pool.a, task, texts[i]));
        snprintf(from, sizeof from, "tp_finished WHERE id = '%s'", task->id);
        if (!has_controls(texts[i])) expect_stored(texts[i], "reason", from);
        tp_batch_free(batch);
        batch = put_and_claim(pool.a, &task);
        expect(TP_EXHAUSTED, tp_give_up(pool.a, task, texts[i]));
        snprintf(from, sizeof from, "tp_failed WHERE id = '%s'", task->id);
        if (!has_controls(texts[i])) expect_stored(texts[i], "reason", from);
        tp_batch_free(batch);
    }
}

static void ignore_history(const tp_history *event, void *arg) {
    (void)event;
    (void)arg;
}

static int ignore_alert(const tp_task *task, const char *text, void *arg) {
    (void)task;
    (void)text;
    (void)arg;
    return 0;
}

static void look(const char *text) {
    tp_claim_request request = claim_request(1);
    tp_list_request list = TP_LIST_INIT;
    tp_batch *batch = NULL;
    request.handlers = &text;
    if (calm(tp_claim(pool.a, &request, &batch))) tp_batch_free(batch);
    request = claim_request(1);
    request.plan = text;
    refused(tp_claim(pool.a, &request, &batch));
    calm(tp_alert_each(pool.a, &text, 1, 0, ignore_alert, NULL, NULL));
    refused(tp_show(pool.a, text, &batch));
    refused(tp_history_each(pool.a, text, 0, ignore_history, NULL));
    list.biz_key = text;
    batch = NULL;
    if (calm(tp_list(pool.a, &list, &batch))) tp_batch_free(batch);
    list = (tp_list_request)TP_LIST_INIT;
    list.pool = text;
    refused(tp_list(pool.a, &list, &batch));
    list = (tp_list_request)TP_LIST_INIT;
    list.state = text;
    refused(tp_list(pool.a, &list, &batch));
    list = (tp_list_request)TP_LIST_INIT;
    list.after_id = text;
    refused(tp_list(pool.a, &list, &batch));
    list = (tp_list_request)TP_LIST_INIT;
    list.handler = text;
    batch = NULL;
    if (calm(tp_list(pool.a, &list, &batch))) tp_batch_free(batch);
}

/* Each text of a selection by itself. None of them chooses the witness. */
static void operate(const char *text) {
    for (int field = 0; field < 5; field++) {
        tp_selection selection = TP_SELECTION_INIT;
        selection.who = selection.why = text;
        if (field == 0) selection.ids = &text, selection.id_count = 1;
        if (field == 1) selection.pool = text;
        if (field == 2) selection.handler = text;
        if (field == 3) selection.state = text;
        if (field == 4) selection.reason = text;
        for (int action = TP_ACTION_RETRY; action <= TP_ACTION_PURGE; action++)
            calm(tp_operate(pool.a, (tp_action)action, &selection, NULL));
    }
}

static void manage(const char *text) {
    tp_worker_row presence = {
        .name = text, .host = text, .handlers = text, .plan = "row", .state = "running"};
    refused(tp_pause(pool.a, text, "who", "why"));
    calm(tp_pause(pool.a, pool.handler, text, text));
    calm(tp_resume(pool.a, text, "who"));
    calm(tp_resume(pool.a, pool.handler, text));
    refused(tp_retention_set(pool.a, text, 1000, "who"));
    calm(tp_retention_set(pool.a, "failed", 0, text));
    tpi_uuid_random(presence.id);
    calm(tpi_worker_heartbeat(pool.a, &presence));
    calm(tpi_worker_died(pool.a, text));
    calm(tpi_worker_died(pool.a, presence.id));
}

static void plan(const char *text) {
    tp_schedule schedule = TP_SCHEDULE_INIT, good = TP_SCHEDULE_INIT;
    good.name = "good";
    good.rule = "every 5m";
    good.handler = pool.handler;
    schedule = good;
    schedule.name = text;
    refused(tp_schedule_add(pool.a, &schedule));
    schedule = good;
    schedule.rule = text;
    refused(tp_schedule_add(pool.a, &schedule));
    schedule = good;
    schedule.rule = "5 * * * *";
    schedule.time_zone = text;
    refused(tp_schedule_add(pool.a, &schedule));
    schedule = good;
    schedule.handler = text;
    refused(tp_schedule_add(pool.a, &schedule));
    schedule = good;
    schedule.params = text;
    schedule.biz_key = has_controls(text) ? NULL : text;
    must(tp_schedule_add(pool.a, &schedule));
    expect_stored(text, "params", "tp_schedule WHERE name = 'good'");
    calm(tp_schedule_pause(pool.a, text, 1));
    calm(tp_schedule_remove(pool.a, text));
    must(tp_schedule_remove(pool.a, "good"));
}

static void test_injection__no_text_reaches_the_others(void **state) {
    char id[ID];
    (void)state;
    task_put("witness", id);
    for (size_t i = 0; i < TEXTS; i++) {
        look(texts[i]);
        operate(texts[i]);
        manage(texts[i]);
        plan(texts[i]);
    }
    expect_row(id, "pending", "pending", 0);
    must(tp_schema_check(pool.eye));
}

THEME(injection, false, cmocka_unit_test(test_injection__tasks_keep_their_text_or_are_refused),
      cmocka_unit_test(test_injection__ledger_and_reasons_keep_their_text),
      cmocka_unit_test(test_injection__no_text_reaches_the_others));
