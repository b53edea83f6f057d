/* Hooks around handlers: their order and contexts, what a refusal does, what they may do in the task's
 * transaction, and that a call that is made again has them again. */
#include "worker/rig.h"

static char seen[400]; /* what happened, in one worker thread */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *what, const char *who) {
    pthread_mutex_lock(&seen_lock);
    size_t length = strlen(seen);
    snprintf(seen + length, sizeof seen - length, "%s%s%s", length ? " " : "", what, who);
    pthread_mutex_unlock(&seen_lock);
}

static tp_verdict begin(tp_run *run, void **context, void *arg) {
    (void)run;
    note(*context ? "left-over-" : "+", arg);
    *context = arg;
    return TP_RUN_DONE;
}

static void end(tp_run *run, tp_verdict verdict, void *context, void *arg) {
    char text[40];
    (void)run;
    snprintf(text, sizeof text, "%s/%d", context == arg ? (const char *)arg : "another's", (int)verdict);
    note("-", text);
}

static tp_verdict refuse(tp_run *run, void **context, void *arg) {
    (void)context;
    note("!", "");
    if (arg) tp_run_reason(run, arg);
    return TP_RUN_FAILED;
}

static tp_verdict pass_over(tp_run *run, void **context, void *arg) {
    (void)run, (void)context, (void)arg;
    return TP_RUN_SKIPPED;
}

static tp_verdict nonsense(tp_run *run, void **context, void *arg) {
    (void)run, (void)context, (void)arg;
    return (tp_verdict)77;
}

HANDLER(note_call) {
    (void)run;
    note("handler", "");
    return TP_RUN_DONE;
}

static char one[] = "1", two[] = "2", three[] = "3", at_night[] = "not at night";
#define HOOK(b, a, who)                                                                                      \
    { sizeof(tp_hook), (b), (a), (who) }
#define run_hooked(handler, ...)                                                                             \
    do {                                                                                                     \
        const tp_hook hooks[] = {__VA_ARGS__};                                                               \
        seen[0] = '\0';                                                                                      \
        rig_run_with(1, (handler), .threads = 1, .retry = &rig_no_retries, .hooks = hooks,                   \
                     .hook_count = COUNT(hooks));                                                            \
    } while (0)

TEST(test_hooks__are_called_around_the_handler_in_both_orders) {
    run_hooked(note_call, HOOK(begin, end, one), HOOK(NULL, NULL, NULL), HOOK(begin, NULL, two),
               HOOK(begin, end, three));
    assert_string_equal(seen, "+1 +2 +3 handler -3/0 -1/0");
    rig_expect(0, 1, 0, .done = 1);
}

TEST(test_hooks__one_that_refuses_decides_and_ends_those_before_it) {
    run_hooked(note_call, HOOK(begin, end, one), HOOK(refuse, end, NULL), HOOK(begin, end, three));
    assert_string_equal(seen, "+1 ! -1/1");
    rig_expect(0, 0, 1, .gave_up = 1);
    rig_expect_told(TP_EVENT_GAVE_UP, "a hook of the worker refused it");
    run_hooked(note_call, HOOK(refuse, NULL, at_night));
    rig_expect_told(TP_EVENT_GAVE_UP, "not at night");
    run_hooked(note_call, HOOK(nonsense, NULL, NULL));
    rig_expect_told(TP_EVENT_GAVE_UP, "returned 77");
    run_hooked(note_call, HOOK(begin, end, one), HOOK(pass_over, NULL, NULL));
    assert_string_equal(seen, "+1 -1/2");
    rig_expect(0, 1, 3, .skipped = 1);
}

static tp_verdict write_effect(tp_run *run, void **context, void *arg) {
    (void)context, (void)arg;
    return rig_effect(run, TP_RUN_DONE);
}

/* What a hook writes by tp_run_conn is of the task's transaction. */
TEST(test_hooks__write_in_the_tasks_transaction) {
    run_hooked(rig_fail, HOOK(write_effect, NULL, NULL));
    rig_expect(0, 0, 1, .effects = 0);
    run_hooked(rig_done, HOOK(write_effect, NULL, NULL));
    rig_expect(0, 1, 1, .effects = 1);
}

/* The lease is extended while a hook blocks, and the worker's end waits for it. */
static tp_verdict block(tp_run *run, void **context, void *arg) {
    (void)context, (void)arg;
    gate_pass(&rig.gate);
    note(tp_run_lost(run) ? "lost" : "kept", "");
    return TP_RUN_DONE;
}

TEST(test_hooks__one_that_blocks_keeps_its_lease_and_its_thread) {
    const tp_hook hook = HOOK(block, NULL, NULL);
    seen[0] = '\0';
    rig_extend_often();
    tp_worker_options options = RIG_OPTIONS(.threads = 1, .hooks = &hook, .hook_count = 1);
    options.plan = tp_conn_about(pool.a)->leased_plan;
    tp_worker *worker = rig_start_by(1, &options, note_call);
    rig_await_arrived(1);
    expect_number(rig_info(worker).running, 1);
    int64_t lapses = sql_number(pool.eye, "SELECT due_at FROM tp_pending WHERE handler = '%s'", pool.handler);
    for (int i = 0; i < 12000 && sql_number(pool.eye, "SELECT due_at FROM tp_pending WHERE handler = '%s'",
                                            pool.handler) == lapses;
         i++)
        rig_pause_10_ms();
    rig_let_finish(worker);
    assert_string_equal(seen, "kept handler");
    rig_expect(0, 1, 0, .failures = 0, .lost = 0);
}

TEST(test_hooks__that_cannot_be_are_refused_at_the_open) {
    tp_hook hooks[TP_HOOKS_MAX + 1] = {HOOK(begin, end, one)};
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    for (size_t i = 0; i < COUNT(hooks); i++)
        hooks[i] = (tp_hook)TP_HOOK_INIT;
    options.hook_count = 1;
    expect(TP_MISUSE, tp_worker_open(pool.env, &options, &worker));
    options.hooks = hooks;
    options.hook_count = TP_HOOKS_MAX + 1;
    expect(TP_MISUSE, tp_worker_open(pool.env, &options, &worker));
    options.hook_count = 2;
    hooks[1].size = 0;
    expect(TP_MISUSE, tp_worker_open(pool.env, &options, &worker));
    hooks[1].size = sizeof(tp_hook);
    must(tp_worker_open(pool.env, &options, &worker));
    tp_worker_close(worker);
}
