/* Workers of a test: opened with quick settings, closed at its end at the latest. */
#include "origins/origins.h"

enum { WORKERS = 4 };
static tp_worker *open_workers[WORKERS];

tp_worker_options worker_options(void) {
    tp_worker_options options = TP_WORKER_INIT;
    options.poll_ms = 10;
    options.on_event = watch_event;
    options.event_arg = &scene.watch;
    return options;
}

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

/* NULL: all of them. */
void worker_close(tp_worker *worker) {
    for (int i = 0; i < WORKERS; i++) {
        if (worker && open_workers[i] != worker) continue;
        tp_worker_close(open_workers[i]);
        open_workers[i] = NULL;
    }
}
