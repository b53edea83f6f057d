/* See hooks.h. */
#include "worker/hooks.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "core/sized.h"

/* An older program's are shorter. */
static tp_hook hook_at(const struct tpi_runs *runs, size_t i) {
    tp_hook hook;
    tpi_sized_read(TPI_SIZED_hook, (const char *)runs->hooks + i * runs->hooks->size, &hook);
    return hook;
}

/* Hooks from the first on, until one refuses. Gives how many went on. */
static size_t call_before(struct tp_run *run, void **contexts, tp_verdict *verdict) {
    size_t i = 0;
    *verdict = TP_RUN_DONE;
    for (; i < run->runs->hook_count; i++) {
        tp_hook hook = hook_at(run->runs, i);
        contexts[i] = NULL;
        if (hook.before) *verdict = hook.before(run, &contexts[i], hook.arg);
        if (*verdict != TP_RUN_DONE) break;
    }
    return i;
}

tp_verdict tpi_hooks_call(struct tp_run *run, int64_t *handler_ms) {
    const struct tpi_handler *handler = run->job->handler;
    void *contexts[TP_HOOKS_MAX];
    tp_verdict verdict;
    *handler_ms = -1;
    size_t went_on = call_before(run, contexts, &verdict);
    if (went_on == run->runs->hook_count) {
        int64_t began = tpi_clock_mono_ms();
        verdict = handler->fn(run, handler->arg);
        *handler_ms = tpi_clock_mono_ms() - began;
    } else if (verdict == TP_RUN_FAILED && !run->reason[0]) {
        tpi_utf8_copy("a hook of the worker refused it", run->reason, sizeof run->reason);
    }
    while (went_on--) {
        tp_hook hook = hook_at(run->runs, went_on);
        if (hook.after) hook.after(run, verdict, contexts[went_on], hook.arg);
    }
    return verdict;
}
