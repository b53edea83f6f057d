/* Structs of older programs (shorter) and of newer ones (longer): every call that takes one takes these too.
 * Each stands right in front of memory that nobody may touch. */
#include <sys/mman.h>
#include <unistd.h>

#include "core/sized.h"
#include "ops/for_workers.h"
#include "suite.h"

THEME(sizes, ONCE);

/* ---- Structs of any size ------------------------------------------------------------------------------- */

struct place {
    void *start;
    size_t length;
};

static void give_back(void *what) {
    struct place *place = what;
    munmap(place->start, place->length);
}

/* Ends where memory ends. */
static void *place_at_end(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = (size + page - 1) / page * page;
    char *start = mmap(NULL, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sure(start != MAP_FAILED, "no memory");
    sure(mprotect(start + length, page, PROT_NONE) == 0, "no guard");
    struct place *place = memory(1, sizeof *place);
    *place = (struct place){start, length + page};
    at_end(give_back, place);
    return start + length - size;
}

/* ours as a program has it whose struct is of this size. */
static void *of_size(const void *ours, size_t whole, size_t size) {
    char *given = place_at_end(size);
    memcpy(given, ours, size < whole ? size : whole);
    memcpy(given, &size, sizeof size);
    return given;
}

/* ---- A call for each struct ---------------------------------------------------------------------------- */

/* Of those with nothing to fill in. */
#define STARTS_AS(name, init)                                                                                \
    static tp_##name for_##name(void) {                                                                      \
        return (tp_##name)init;                                                                              \
    }
STARTS_AS(worker_options, TP_WORKER_INIT)
STARTS_AS(operated, TP_OPERATED_INIT)
STARTS_AS(cancelled, TP_CANCELLED_INIT)
STARTS_AS(erased, TP_ERASED_INIT)
STARTS_AS(four_eyes, TP_FOUR_EYES_INIT)
STARTS_AS(gate_options, TP_GATE_INIT)
STARTS_AS(counters, TP_COUNTERS_INIT)
STARTS_AS(worker_info, TP_WORKER_INFO_INIT)

static tp_new_task for_new_task(void) {
    return task_new("x");
}
static tp_status use_new_task(void *given) {
    return tp_enqueue(pool.a, given);
}

static tp_retry for_retry(void) {
    static const int64_t hour[] = {3600000};
    return (tp_retry){.size = sizeof(tp_retry), .delays_ms = hour, .count = 1};
}
static tp_status use_retry(void *given) {
    const tp_task *task = put_and_claim(pool.a);
    tp_status status = tp_fail(pool.a, task, "no", given);
    if (status == TP_OK) expect_row(task->id, "pending", "failed", 1);
    return status;
}

static tp_claim_request for_claim_request(void) {
    return claim_request(1);
}
static tp_status use_claim_request(void *given) {
    tp_claim_request *request = given;
    task_put("x", (char[ID]){0});
    tp_status status = tpi_any_due(pool.a, request, NULL);
    expect(status, tpi_any_open(pool.a, request));
    expect(status, try_claim(pool.a, request));
    return status;
}

static tp_list_request for_list_request(void) {
    task_put("x", (char[ID]){0});
    return (tp_list_request)TP_LIST_INIT;
}
static tp_status use_list_request(void *given) {
    tp_status status = try_list(pool.a, given);
    return status;
}

static tp_running_request for_running_request(void) {
    (void)put_and_claim(pool.a);
    return (tp_running_request)TP_RUNNING_INIT;
}
static void see_running(const tp_running *running, void *arg) {
    (void)running, (void)arg;
}
static tp_status use_running_request(void *given) {
    return tp_running_each(pool.a, given, see_running, NULL);
}

static tp_activity_request for_activity_request(void) {
    return (tp_activity_request)TP_ACTIVITY_INIT;
}
static void see_activity(const tp_activity *activity, void *arg) {
    (void)activity, (void)arg;
}
static tp_status use_activity_request(void *given) {
    tp_status status = tp_activity_each(pool.a, given, see_activity, NULL);
    return status == TP_NONE ? TP_OK : status;
}

static tp_actor for_actor(void) {
    return (tp_actor)TP_ACTOR_INIT;
}
static tp_status use_actor(void *given) {
    return tp_conn_actor(pool.a, given);
}

static tp_audit_request for_audit_request(void) {
    return (tp_audit_request)TP_AUDIT_INIT;
}
static void see_audit(const tp_audit *row, void *arg) {
    (void)row, (void)arg;
}
static tp_status use_audit_request(void *given) {
    tp_status status = tp_audit_each(pool.a, given, see_audit, NULL);
    return status == TP_NONE ? TP_OK : status;
}

static tp_selection for_selection(void) {
    tp_selection selection = selection_with(.limit = 0);
    return selection;
}
static tp_status use_selection(void *given) {
    return tp_operate(pool.a, TP_ACTION_SKIP, given, NULL);
}

static tp_schedule for_schedule(void) {
    tp_schedule schedule = TP_SCHEDULE_INIT;
    schedule.name = schedule.handler = pool.handler;
    schedule.rule = "every 1h";
    return schedule;
}
static tp_status use_schedule(void *given) {
    tp_status status = tp_schedule_add(pool.a, given);
    if (status == TP_OK) must(tp_schedule_remove(pool.a, pool.handler));
    return status;
}

static tp_calendar for_calendar(void) {
    tp_calendar calendar = TP_CALENDAR_INIT;
    calendar.name = pool.handler;
    return calendar;
}
static tp_status use_calendar(void *given) {
    tp_status status = tp_calendar_set(pool.a, given, NULL);
    if (status == TP_OK) must(tp_calendar_remove(pool.a, pool.handler));
    return status;
}

static tp_status use_gate_options(void *given) {
    tp_status status = tp_gate_set_with(pool.a, "sized", given, NULL);
    if (status == TP_OK) must(tp_gate_remove(pool.a, "sized", NULL));
    return status;
}

static tp_calendar_day for_calendar_day(void) {
    tp_calendar_day day = TP_CALENDAR_DAY_INIT;
    day.date = "2027-12-24";
    return day;
}
static tp_status use_calendar_day(void *given) {
    tp_calendar calendar = for_calendar();
    calendar.days = given;
    calendar.day_count = 1;
    return use_calendar(&calendar);
}

static tp_business_day_info for_business_day_info(void) {
    return (tp_business_day_info)TP_BUSINESS_DAY_INIT;
}
static tp_status use_business_day_info(void *given) {
    tp_calendar calendar = for_calendar();
    must(tp_calendar_set(pool.a, &calendar, NULL));
    tp_status status = tp_business_day(pool.a, pool.handler, "2027-12-24", 0, given);
    must(tp_calendar_remove(pool.a, pool.handler));
    return status;
}

static tp_status use_worker_options(void *given) {
    tp_worker *worker = NULL;
    tp_status status = tp_worker_open(pool.env, given, &worker);
    tp_worker_close(worker);
    return status;
}

static tp_hook for_hook(void) {
    return (tp_hook)TP_HOOK_INIT;
}
static tp_status use_hook(void *given) {
    tp_worker_options options = TP_WORKER_INIT;
    options.hooks = given;
    options.hook_count = 1;
    return use_worker_options(&options);
}

static tp_status use_operated(void *given) {
    tp_selection selection = for_selection();
    tp_operated *operated = given;
    task_put("x", (char[ID]){0});
    tp_status status = tp_operate(pool.a, TP_ACTION_SKIP, &selection, operated);
    if (status == TP_OK) expect_number(operated->done, 1);
    return status;
}

static tp_status use_cancelled(void *given) {
    tp_cancelled *cancelled = given;
    char id[ID];
    task_put("x", id);
    tp_status status = tp_cancel(pool.a, id, "tester@desk", NULL, cancelled);
    if (status == TP_OK) expect_number(cancelled->answer, TP_CANCEL_SKIPPED);
    return status;
}

static tp_edit_request for_edit_request(void) {
    tp_edit_request edit = TP_EDIT_INIT;
    edit.fields = TP_EDIT_PARAMS;
    edit.params = "new";
    return edit;
}
static tp_status use_edit_request(void *given) {
    const tp_task *task = put_and_claim(pool.a);
    expect(TP_EXHAUSTED, tp_give_up(pool.a, task, "no"));
    return tp_edit(pool.a, task->id, given, "tester@desk", NULL);
}

static tp_status use_erased(void *given) {
    tp_erased *erased = given;
    enqueue(pool.a, .biz_key = "a person");
    tp_status status = tp_erase(pool.a, "a person", "tester@desk", NULL, 1, erased);
    if (status == TP_OK) expect_number(erased->finished, 0);
    return status;
}

static tp_status use_four_eyes(void *given) {
    return tp_four_eyes_set(pool.a, given, "tester@desk", NULL);
}

static tp_worker *open_worker(void) {
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, NULL, &worker));
    return worker;
}

static tp_handler_options for_handler_options(void) {
    tp_handler_options options = TP_HANDLER_INIT;
    options.run_limit_ms = 60000;
    return options;
}
static tp_verdict do_nothing(tp_run *run, void *arg) {
    (void)run, (void)arg;
    return TP_RUN_DONE;
}
static tp_status use_handler_options(void *given) {
    tp_worker *worker = open_worker();
    tp_status status = tp_worker_handle_by(worker, pool.handler, do_nothing, NULL, given);
    tp_worker_close(worker);
    return status;
}

static tp_status use_counters(void *given) {
    tp_worker *worker = open_worker();
    tp_status status = tp_worker_counters(worker, given);
    tp_worker_close(worker);
    return status;
}

static tp_status use_worker_info(void *given) {
    tp_worker_info *info = given;
    tp_worker *worker = open_worker();
    tp_status status = tp_worker_about(worker, info);
    if (status == TP_OK) assert_string_equal(info->state, "open");
    tp_worker_close(worker);
    return status;
}

/* ---- All of them --------------------------------------------------------------------------------------- */

union any {
#define MEMBER(name, init, next, last) tp_##name name;
    TPI_SIZED_LIST(MEMBER)
#undef MEMBER
};

/* Those that the library only writes. */
static bool is_result(enum tpi_sized kind) {
    return kind == TPI_SIZED_operated || kind == TPI_SIZED_counters || kind == TPI_SIZED_worker_info ||
           kind == TPI_SIZED_erased || kind == TPI_SIZED_cancelled || kind == TPI_SIZED_business_day_info;
}

static const struct {
    const char *name, *init;
    enum tpi_sized kind;
    size_t least, whole;
    tp_status (*use)(void *given);
} kinds[] = {
#define KIND(name, init, next, last)                                                                         \
    {#name, init, TPI_SIZED_##name, offsetof(tp_##name, next), sizeof(tp_##name), use_##name},
    TPI_SIZED_LIST(KIND)
#undef KIND
};
enum { KINDS = LENGTH(kinds) };

/* Over a pool without this test's tasks. */
static union any filled(enum tpi_sized kind) {
    union any any;
    memset(&any, 0, sizeof any);
    sql_run(pool.eye, "DELETE FROM tp_pending WHERE handler = '%s'", pool.handler);
    switch (kind) {
#define FILL(name, init, next, last)                                                                         \
    case TPI_SIZED_##name:                                                                                   \
        any.name = for_##name();                                                                             \
        break;
        TPI_SIZED_LIST(FILL)
#undef FILL
    }
    return any;
}

/* With a byte set behind the end of ours, or none. */
static void expect_use(tp_status status, size_t k, size_t size, bool knows_more) {
    union any ours = filled(kinds[k].kind);
    char *given = of_size(&ours, kinds[k].whole, size);
    if (knows_more) given[size - 1] = 1;
    tp_status got = kinds[k].use(given);
    if (got != status)
        fail_msg("tp_%s of %zu bytes: %s instead of %s, %s", kinds[k].name, size, tp_status_name(got),
                 tp_status_name(status), tp_last_error()->text);
    if (status == TP_OK && knows_more) expect_number(given[size - 1], 0);
}

TEST(test_size__of_an_older_program_is_taken_and_nothing_behind_it_touched) {
    for (size_t k = 0; k < KINDS; k++)
        for (size_t size = kinds[k].least; size <= kinds[k].whole; size += sizeof(size_t))
            expect_use(TP_OK, k, size, false);
}

TEST(test_size__of_a_newer_program_is_taken_if_it_asks_for_nothing_new) {
    for (size_t k = 0; k < KINDS; k++) {
        expect_use(TP_OK, k, kinds[k].whole + sizeof(size_t), false);
        expect_use(TP_OK, k, kinds[k].whole + 40 * sizeof(size_t), false);
    }
}

TEST(test_size__of_a_newer_program_that_asks_for_more_is_refused) {
    for (size_t k = 0; k < KINDS; k++) {
        bool result = is_result(kinds[k].kind);
        expect_use(result ? TP_OK : TP_MISUSE, k, kinds[k].whole + sizeof(size_t), true);
        if (!result) expect_text("was built for a newer taskpool");
    }
}

TEST(test_size__that_no_header_has_is_refused) {
    for (size_t k = 0; k < KINDS; k++) {
        const size_t wrong[] = {0, 1, kinds[k].least - sizeof(size_t), kinds[k].whole - 1, SIZE_MAX, 4104};
        for (size_t i = 0; i < LENGTH(wrong); i++) {
            union any ours = filled(kinds[k].kind);
            memcpy(&ours, &wrong[i], sizeof wrong[i]);
            if (kinds[k].use(&ours) != TP_MISUSE) fail_msg("tp_%s of %zu bytes", kinds[k].name, wrong[i]);
            expect_text(kinds[k].init);
        }
    }
}

/* ---- What an older one means --------------------------------------------------------------------------- */

TEST(test_size__a_task_of_an_older_program_is_asked_again_by_its_id) {
    tp_new_task ours = task_new("x");
    tp_new_task *older = of_size(&ours, sizeof ours, offsetof(tp_new_task, content));
    must(tp_enqueue(pool.a, older));
    assert_string_equal(row_of(older->id).state, "pending");
    expect(TP_EXISTS, tp_enqueue(pool.a, older));
    assert_string_equal(older->existing_id, older->id);
    expect_number(rows_in("pending", pool.handler), 1);
}

enum { MANY = 3 };

static tp_new_task *task_at(void *tasks, size_t size, size_t i) {
    return (void *)((char *)tasks + i * size);
}

/* Rows of tasks of this size; the second has a key that is there. */
static void *tasks_of_size(size_t size, const char *key) {
    char *tasks = place_at_end(MANY * size);
    for (size_t i = 0; i < MANY; i++) {
        tp_new_task ours = task_new("x");
        if (i == 1) ours.dedup_key = key;
        memcpy(tasks + i * size, &ours, size < sizeof ours ? size : sizeof ours);
        memcpy(tasks + i * size, &size, sizeof size);
    }
    return tasks;
}

static void expect_many_of_size(size_t size) {
    size_t inserted = 0;
    tp_new_task first = task_with(.dedup_key = pool.handler);
    (void)!tp_enqueue(pool.a, &first);
    const char *there = first.existing_id[0] ? first.existing_id : first.id;
    int64_t before = rows_in("pending", pool.handler);
    void *tasks = tasks_of_size(size, pool.handler);
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, MANY - 1);
    expect_number(rows_in("pending", pool.handler), before + MANY - 1);
    for (size_t i = 0; i < MANY; i++) {
        const tp_new_task *task = task_at(tasks, size, i);
        assert_string_equal(task->existing_id, i == 1 ? there : "");
        if (i != 1) assert_string_equal(row_of(task->id).state, "pending");
    }
    must(tp_enqueue_many(pool.a, tasks, MANY, &inserted));
    expect_number(inserted, 0);
    assert_string_equal(task_at(tasks, size, 0)->existing_id, task_at(tasks, size, 0)->id);
}

TEST(test_size__many_tasks_stand_as_far_apart_as_the_program_has_them) {
    expect_many_of_size(offsetof(tp_new_task, content));
    expect_many_of_size(sizeof(tp_new_task));
    expect_many_of_size(sizeof(tp_new_task) + sizeof(size_t));
}

TEST(test_size__many_tasks_are_of_one_size) {
    size_t size = sizeof(tp_new_task) + sizeof(size_t), other = sizeof(tp_new_task);
    char *tasks = tasks_of_size(size, NULL);
    memcpy(tasks + size, &other, sizeof other);
    expect(TP_MISUSE, tp_enqueue_many(pool.a, (void *)tasks, MANY, NULL));
    expect_text("task 2 of 3: tp_new_task: size is not that of the first");
    memcpy(tasks + size, &size, sizeof size);
    tasks[MANY * size - 1] = 1;
    expect(TP_MISUSE, tp_enqueue_many(pool.a, (void *)tasks, MANY, NULL));
    expect_text("task 3 of 3: tp_new_task: the program was built for a newer taskpool");
    expect_number(rows_in("pending", pool.handler), 0);
}

/* A lapse counts by the policies of the request. */
TEST(test_size__a_policy_of_an_older_program_counts_in_claims) {
    static const int64_t none[1];
    const tp_retry ours = {.size = sizeof ours, .delays_ms = none, .count = 0};
    const tp_retry *older = of_size(&ours, sizeof ours, offsetof(tp_retry, first_ms));
    const tp_task *task = NULL;
    task = put_and_claim(pool.a);
    row_make_due(task->id);
    expect(TP_NONE, try_claim_with(pool.b, .limit = 1, .retries = &older));
    expect_row(task->id, "failed", "failed", 1);
}

static tp_verdict fail_once(tp_run *run, void *arg) {
    (void)arg;
    tp_run_reason(run, "no");
    return TP_RUN_FAILED;
}

TEST(test_size__a_worker_of_an_older_program_has_its_policy) {
    const tp_retry ours = {.size = sizeof ours, .count = 0};
    tp_worker_options o = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    o.threads = 1;
    const char *id = put_one();
    must(
        tp_worker_open(pool.env, of_size(&o, sizeof o, offsetof(tp_worker_options, keep_alive_ms)), &worker));
    must(tp_worker_handle_with(worker, pool.handler, fail_once, NULL,
                               of_size(&ours, sizeof ours, offsetof(tp_retry, first_ms))));
    must(tp_worker_step(worker, NULL));
    tp_worker_close(worker);
    expect_row(id, "failed", "failed", 1);
}
