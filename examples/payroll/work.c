/* Runs a worker until it is asked to stop or, with --drain, until nothing is left to do. */
#include "payroll.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* For the signal handler, which is there before the worker: a stop asked for while it begins counts too. */
static volatile sig_atomic_t stop_asked;
static tp_worker *volatile opened;

static void on_signal(int number) {
    (void)number;
    stop_asked = 1;
    if (opened) tp_worker_stop(opened);
}

static void catch_signals(void) {
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* One line an event: what, who, task, claim, why. */
static void on_event(tp_event event, const tp_task *task, const char *text, void *arg) {
    const struct settings *settings = arg;
    bool usual = event == TP_EVENT_CLAIMED || event == TP_EVENT_DONE || event == TP_EVENT_RELEASED;

    if (usual && !settings->verbose) return;
    printf("%s %s %s %s %s\n", tp_event_name(event), task ? task->biz_key : "-", task ? task->id : "-",
           task ? task->owner : "-", text);
}

static tp_status run_worker(tp_env *env, const tp_worker_options *options, void *settings,
                            tp_worker **worker) {
    catch_signals();
    tp_status status = tp_worker_open(env, options, worker);

    if (status == TP_OK) status = tp_worker_handle(*worker, HANDLER, pay, settings);
    opened = *worker;
    if (stop_asked) tp_worker_stop(*worker); /* before there was one to stop */
    if (status == TP_OK) status = tp_worker_start(*worker);
    if (status == TP_OK) status = tp_worker_join(*worker);
    opened = NULL;
    return status;
}

bool work(tp_env *env, struct settings *settings) {
    tp_retry retry = {.size = sizeof retry, .delays_ms = settings->retry_ms, .count = settings->retries};
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;
    tp_status status;

    options.threads = settings->threads;
    options.batch = 100; /* so that every worker gets a share of so few */
    options.queue = 100;
    options.lease_ms = settings->lease_ms;
    options.poll_ms = 100;
    options.retry = &retry;
    options.drain = settings->drain;
    options.on_event = on_event;
    options.event_arg = settings;

    /* Each line at once: whoever reads along wants to see it now. */
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    status = run_worker(env, &options, settings, &worker);
    if (status != TP_OK) fprintf(stderr, "payroll: %s\n", tp_last_error()->text);
    tp_worker_close(worker);
    return status == TP_OK;
}
