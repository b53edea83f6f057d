/* Text that means something to SQL, ODBC, printf or a shell, in every text that a public function takes: it
 * comes back byte for byte or is refused with words, and nothing else happens. */
#include "base/uuid.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(injection, ONCE);

static const char *const texts[] = {
    "'; DROP TABLE tp_pending; --",
    "\" OR \"\"=\"",
    "\\'; DELETE FROM tp_pending; /*",
    "? ?? :id :token {fn now()} {d '2026-01-01'} {call x}",
    "%s%n%d %% {0} $1 @@x `x` $(x)",
    "');--\xef\xbc\x87\xca\xbc\xe2\x80\x99", /* quotes that some character sets fold to a plain one */
    "a\nb\r\t",
};
enum { TEXTS = LENGTH(texts) };

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
    assert_string_equal(text_of("%s FROM %s", column, from), text);
}

static bool has_controls(const char *text) {
    return strpbrk(text, "\n\r\t") != NULL;
}

TEST(test_injection__tasks_keep_their_text_or_are_refused) {
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

TEST(test_injection__ledger_and_reasons_keep_their_text) {
    for (size_t i = 0; i < TEXTS; i++) {
        char from[200];
        tp_status status = tp_once(pool.a, texts[i], NULL);
        if (calm(status)) expect(TP_EXISTS, tp_once(pool.a, texts[i], NULL));
        const tp_task *task = put_and_claim(pool.a);
        must(tp_skip(pool.a, task, texts[i]));
        snprintf(from, sizeof from, "tp_finished WHERE id = '%s'", task->id);
        if (!has_controls(texts[i])) expect_stored(texts[i], "reason", from);
        task = put_and_claim(pool.a);
        expect(TP_EXHAUSTED, tp_give_up(pool.a, task, texts[i]));
        snprintf(from, sizeof from, "tp_failed WHERE id = '%s'", task->id);
        if (!has_controls(texts[i])) expect_stored(texts[i], "reason", from);
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
    tp_claim_request claims = claim_request(1);
    tp_list_request lists = TP_LIST_INIT;
    with(claims, handlers, &text, calm(try_claim(pool.a, &given)));
    with(claims, plan, text, refused(try_claim(pool.a, &given)));
    calm(tp_alert_each(pool.a, &text, 1, 0, ignore_alert, NULL, NULL));
    refused(try_show(pool.a, text));
    refused(tp_history_each(pool.a, text, 0, ignore_history, NULL));
    with(lists, biz_key, text, calm(try_list(pool.a, &given)));
    with(lists, pool, text, refused(try_list(pool.a, &given)));
    with(lists, state, text, refused(try_list(pool.a, &given)));
    with(lists, after_id, text, refused(try_list(pool.a, &given)));
    with(lists, handler, text, calm(try_list(pool.a, &given)));
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
    calm(tpi_worker_heartbeat(pool.a, &presence, NULL));
    calm(tpi_worker_died(pool.a, text));
    calm(tpi_worker_died(pool.a, presence.id));
}

static void plan(const char *text) {
    tp_schedule good = hourly("good", NULL);
    tp_schedule schedule = good;
    with(good, name, text, refused(tp_schedule_add(pool.a, &given)));
    with(good, rule, text, refused(tp_schedule_add(pool.a, &given)));
    with(good, handler, text, refused(tp_schedule_add(pool.a, &given)));
    schedule.rule = "5 * * * *";
    schedule.time_zone = text;
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

TEST(test_injection__no_text_reaches_the_others) {
    char id[ID];
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
