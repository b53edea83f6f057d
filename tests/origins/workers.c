/* Workers of a test: opened with quick settings, closed at its end at the latest. */
#include "origins/origins.h"

enum { WORKERS = 4 };
static tp_worker *open_workers[WORKERS];

tp_worker *worker_open(const tp_worker_options *options) {
    tp_worker *worker = NULL;
    must(tp_worker_open(pool.env, options, &worker));
    for (int i = 0; i < WORKERS; i++) {
        if (open_workers[i]) continue;
        open_workers[i] = worker;
        break;
    }
    return worker;
}

tp_worker *worker_by(const tp_worker_options *options, const char *handler, tp_handler_fn fn) {
    tp_worker *worker = worker_open(options);
    must(tp_worker_handle(worker, handler, fn, NULL));
    return worker;
}

tp_worker *worker_for(const char *handler, tp_handler_fn fn) {
    return worker_by(&WORKER_OPTIONS(.drain = 0), handler, fn);
}

/* NULL: all of them. */
void worker_close(tp_worker *worker) {
    for (int i = 0; i < WORKERS; i++) {
        if (worker && open_workers[i] != worker) continue;
        tp_worker_close(open_workers[i]);
        open_workers[i] = NULL;
    }
}

size_t step_all(tp_worker *worker) {
    size_t all = 0;
    for (;;) {
        size_t handled = 0;
        tp_status status = tp_worker_step(worker, &handled);
        if (status == TP_NONE) return all;
        must(status);
        all += handled;
    }
}

tp_worker_info look(tp_worker *worker) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    must(tp_worker_about(worker, &info));
    return info;
}

void expect_in_hand(tp_worker_info info, size_t queue, int threads, size_t helpers) {
    int64_t marked = count_where("pending", "state = 'handling'");
    expect_number(info.threads, (size_t)threads + helpers);
    expect_number(info.running, (size_t)threads + helpers);
    assert_in_range(info.queued, queue - (size_t)threads - helpers, queue);
    expect_number(marked, info.queued + info.running);
}
