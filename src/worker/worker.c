/* A worker as its owner sees it before and after its life: options, handlers, open, close. What it does while
 * it lives begins in life.c. */
#include "worker/worker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_worker_options defaults = {
    .size = sizeof(tp_worker_options),
    .threads = 4,
    .batch = 100,
    .lease_ms = 60000,
    .poll_ms = 1000,
};

enum { THREADS_MAX = 1000, LEASE_MIN_MS = 100 };

static tp_status check_retry(const tp_retry *retry) {
    if (!retry) return TP_OK;
    if (retry->size != sizeof *retry)
        return tpi_error(TP_MISUSE, "worker options: set retry->size to sizeof(tp_retry)");
    if (retry->count && !retry->delays_ms)
        return tpi_error(TP_MISUSE, "worker options: retry has a count but no delays_ms");
    for (size_t i = 0; i < retry->count; i++)
        if (retry->delays_ms[i] < 0)
            return tpi_error(TP_MISUSE, "worker options: retry delay %zu is negative", i + 1);
    return TP_OK;
}

static tp_status check_options(const tp_worker_options *o) {
    if (o->threads < 0 || o->threads > THREADS_MAX)
        return tpi_error(TP_MISUSE, "worker options: threads is %d; use 1 to %d, or 0 for the default",
                         o->threads, THREADS_MAX);
    if (o->batch > TP_CLAIM_MAX)
        return tpi_error(TP_MISUSE, "worker options: batch is %zu; at most %d", o->batch, TP_CLAIM_MAX);
    if (o->lease_ms != 0 && o->lease_ms < LEASE_MIN_MS)
        return tpi_error(TP_MISUSE, "worker options: lease_ms is %" PRId64 "; use at least %d, or 0",
                         o->lease_ms, LEASE_MIN_MS);
    if (o->poll_ms < 0)
        return tpi_error(TP_MISUSE, "worker options: poll_ms is negative; use 0 for the default");
    return check_retry(o->retry);
}

/* A caller built with an older header has a shorter struct; what it lacks is default. */
static tp_status read_options(const tp_worker_options *given, tp_worker_options *out) {
    *out = defaults;
    if (!given) return TP_OK;
    if (given->size < offsetof(tp_worker_options, threads) || given->size > sizeof *given)
        return tpi_error(TP_MISUSE, "worker options: size is %zu; start from TP_WORKER_INIT", given->size);
    tp_worker_options o = {0};
    memcpy(&o, given, given->size);
    tp_status status = check_options(&o);
    if (status != TP_OK) return status;
    *out = o;
    out->size = sizeof *out;
    if (!o.threads) out->threads = defaults.threads;
    if (!o.batch) out->batch = defaults.batch;
    if (!o.lease_ms) out->lease_ms = defaults.lease_ms;
    if (!o.poll_ms) out->poll_ms = defaults.poll_ms;
    return TP_OK;
}

/* The waits measure with the monotonic clock, so a clock set back cannot stretch them. */
static bool init_conds(struct tp_worker *worker) {
    pthread_cond_t *conds[] = {&worker->life_changed, &worker->work, &worker->room, &worker->keep,
                               &worker->pause};
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0;
    for (size_t i = 0; i < sizeof conds / sizeof conds[0]; i++)
        ok = pthread_cond_init(conds[i], &attr) == 0 && ok;
    pthread_condattr_destroy(&attr);
    return ok;
}

static bool init_sync(struct tp_worker *worker) {
    return sem_init(&worker->bell, 0, 0) == 0 && pthread_mutex_init(&worker->lock, NULL) == 0 &&
           pthread_mutex_init(&worker->event_lock, NULL) == 0 && init_conds(worker);
}

static void free_worker(struct tp_worker *worker) {
    tp_conn_close(worker->first);
    free(worker->queue);
    free(worker->threads);
    free(worker);
}

static void end_sync(struct tp_worker *worker) {
    pthread_cond_destroy(&worker->life_changed);
    pthread_cond_destroy(&worker->work);
    pthread_cond_destroy(&worker->room);
    pthread_cond_destroy(&worker->keep);
    pthread_cond_destroy(&worker->pause);
    pthread_mutex_destroy(&worker->event_lock);
    pthread_mutex_destroy(&worker->lock);
    sem_destroy(&worker->bell);
}

tp_status tp_worker_open(tp_env *env, const tp_worker_options *options, tp_worker **out) {
    if (!env || !out) return tpi_error(TP_MISUSE, "tp_worker_open: env and worker must not be NULL");
    tp_worker_options filled;
    tp_status status = read_options(options, &filled);
    if (status != TP_OK) return status;
    struct tp_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return tpi_error(TP_NOMEM, "tp_worker_open: out of memory");
    worker->env = env;
    worker->options = filled;
    worker->queue = calloc(filled.batch, sizeof *worker->queue);
    if (!worker->queue || !init_sync(worker)) {
        free_worker(worker);
        return tpi_error(TP_NOMEM, "tp_worker_open: out of memory or of the system's locks");
    }
    *out = worker;
    return TP_OK;
}

void tp_worker_close(tp_worker *worker) {
    if (!worker) return;
    tp_worker_stop(worker);
    /* From a handler or an event it can only be a stop: the thread cannot wait for itself. */
    if (tpi_worker_here() == worker) return;
    if (tp_worker_join(worker) != TP_OK) return;
    end_sync(worker);
    free_worker(worker);
}

static bool name_is_legal(const char *name) {
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");
    return length > 0 && length <= TP_HANDLER_MAX && name[length] == '\0';
}

/* Under the lock. */
static tp_status add_handler(struct tp_worker *worker, const char *name, tp_handler_fn fn, void *arg) {
    if (worker->life != TPI_LIFE_OPEN)
        return tpi_error(TP_MISUSE, "tp_worker_handle: the worker was started; register handlers before");
    for (size_t i = 0; i < worker->handler_count; i++)
        if (strcmp(worker->handlers[i].name, name) == 0)
            return tpi_error(TP_MISUSE, "tp_worker_handle: '%s' has a handler already", name);
    if (worker->handler_count == TP_CLAIM_HANDLERS_MAX)
        return tpi_error(TP_MISUSE, "tp_worker_handle: a worker takes at most %d handlers",
                         TP_CLAIM_HANDLERS_MAX);
    struct tpi_handler *handler = &worker->handlers[worker->handler_count++];
    memcpy(handler->name, name, strlen(name) + 1);
    handler->fn = fn;
    handler->arg = arg;
    return TP_OK;
}

tp_status tp_worker_handle(tp_worker *worker, const char *handler, tp_handler_fn fn, void *arg) {
    if (!worker || !handler || !fn)
        return tpi_error(TP_MISUSE, "tp_worker_handle: worker, handler and fn must not be NULL");
    if (!name_is_legal(handler))
        return tpi_error(TP_MISUSE,
                         "tp_worker_handle: a handler's name is 1 to %d of letters, digits and . _ : -",
                         TP_HANDLER_MAX);
    pthread_mutex_lock(&worker->lock);
    tp_status status = add_handler(worker, handler, fn, arg);
    pthread_mutex_unlock(&worker->lock);
    return status;
}
