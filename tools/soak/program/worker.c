/* A worker until SIGTERM. Standard output tells tools/soak/process.py what became of each task, a line an
 * event: its name and the task's id. Standard error is for people. */
#include "soak.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tp_worker *volatile running; /* for the signal handler */

static void on_signal(int number) {
    (void)number;
    soak_stopping = 1;
    if (running) tp_worker_stop(running);
}

/* One write a line: a process killed in between leaves no half of it. */
static void say(const char *event, const char *id) {
    char line[80];
    int length = snprintf(line, sizeof line, "%s %s\n", event, id);

    if (length > 0 && write(STDOUT_FILENO, line, (size_t)length) < 0) soak_stopping = 1;
}

static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    (void)arg;
    if (event != TP_EVENT_CLAIMED) say(tp_event_name(event), task ? task->id : "-");
    if (event == TP_EVENT_ERROR || event == TP_EVENT_OFFLINE || event == TP_EVENT_LOST)
        fprintf(stderr, "worker %ld: %s %s %s\n", (long)getpid(), tp_event_name(event), task ? task->id : "-",
                text);
}

static int on_alert(const tp_task *task, const char *text, void *arg) {
    (void)text, (void)arg;
    say("alert", task->id);
    return 0;
}

static tp_worker_options options_of(const struct soak *soak, const tp_retry *retry) {
    tp_worker_options options = TP_WORKER_INIT;

    options.threads = 3;
    options.batch = 8; /* what one death holds up is little, so that the others have work */
    options.queue = 8;
    options.lease_ms = soak->lease_ms;
    options.poll_ms = 150;
    options.idle_ms = 600;
    options.settle_ms = 20;
    options.plan = soak->plan;
    options.retry = retry;
    options.on_event = on_event;
    options.on_alert = on_alert;
    return options;
}

static tp_status run_worker(tp_env *env, const struct soak *soak, const tp_worker_options *options,
                            tp_worker **worker) {
    tp_status status = tp_worker_open(env, options, worker);

    if (status == TP_OK) status = soak_register(*worker, soak, options->retry);
    if (status != TP_OK) return status;
    running = *worker;
    /* A database that is down while the worker starts is no reason to give up. */
    while ((status = tp_worker_start(*worker)) != TP_OK && status != TP_MISUSE && !soak_stopping) {
        fprintf(stderr, "worker %ld: start: %s\n", (long)getpid(), tp_last_error()->text);
        soak_sleep_ms(200);
    }
    if (status != TP_OK) return soak_stopping ? TP_OK : status;
    say("started", "-");
    return tp_worker_join(*worker);
}

bool soak_work(tp_env *env, const struct soak *soak) {
    static const int64_t ladder[] = {100, 200, 400, 800, 800, 800, 800, 800, 800};
    tp_retry retry = TP_RETRY_INIT;
    tp_worker_options options;
    tp_worker *worker = NULL;
    tp_status status;

    retry.delays_ms = ladder;
    retry.count = sizeof ladder / sizeof ladder[0];
    options = options_of(soak, &retry);
    (void)signal(SIGTERM, on_signal);
    status = run_worker(env, soak, &options, &worker);
    if (status != TP_OK) fprintf(stderr, "worker %ld: %s\n", (long)getpid(), tp_last_error()->text);
    running = NULL;
    tp_worker_close(worker);
    return status == TP_OK;
}
