/* A busy worker for load.py: does tasks, each in a transaction of its own, and puts in as many as it did,
 * until SIGTERM. Arguments: the handler, threads, how many tasks are to be open. Each line that it writes is
 * a time (CLOCK_MONOTONIC, in ms) and how many were done by then. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <taskpool.h>

enum { PUT = 500, TICK_MS = 20, TICKS_PER_LINE = 5 };

static volatile sig_atomic_t stop_asked;
static atomic_llong done;

static void on_signal(int number) {
    (void)number;
    stop_asked = 1;
}

/* As an application that writes with the end of its task. */
static tp_verdict handle(tp_run *run, void *arg) {
    tp_conn *conn = NULL;

    (void)arg;
    if (tp_run_conn(run, &conn) != TP_OK) return TP_RUN_FAILED;
    atomic_fetch_add(&done, 1);
    return TP_RUN_DONE;
}

static long long now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static tp_status put(tp_conn *conn, const char *handler) {
    static const tp_new_task init = TP_NEW_TASK_INIT;
    tp_new_task tasks[PUT];

    for (size_t i = 0; i < PUT; i++) {
        tasks[i] = init;
        tasks[i].handler = handler;
        tasks[i].params = "{\"order\": 7, \"points\": 100}";
    }
    return tp_enqueue_many(conn, tasks, PUT, NULL);
}

static tp_status keep_busy(tp_conn *conn, const char *handler, long long open) {
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    long long puts = 0;
    tp_status status = TP_OK;

    for (unsigned number = 0; status == TP_OK && !stop_asked; number++) {
        while (status == TP_OK && puts - atomic_load(&done) + PUT <= open) {
            status = put(conn, handler);
            puts += PUT;
        }
        if (number % TICKS_PER_LINE == 0) printf("%lld %lld\n", now_ms(), (long long)atomic_load(&done));
        fflush(stdout);
        nanosleep(&tick, NULL);
    }
    return status;
}

int main(int count, char **words) {
    tp_worker_options options = TP_WORKER_INIT;
    tp_env *env = NULL;
    tp_conn *conn = NULL;
    tp_worker *worker = NULL;
    tp_status status;

    if (count != 4) return EXIT_FAILURE;
    signal(SIGTERM, on_signal);
    options.threads = (int32_t)strtol(words[2], NULL, 10);
    status = tp_env_open(getenv("TASKPOOL_DSN"), &env);
    if (status == TP_OK) status = tp_conn_open(env, &conn);
    if (status == TP_OK) status = tp_worker_open(env, &options, &worker);
    if (status == TP_OK) status = tp_worker_handle(worker, words[1], handle, NULL);
    if (status == TP_OK) status = tp_worker_start(worker);
    if (status == TP_OK) status = keep_busy(conn, words[1], strtoll(words[3], NULL, 10));
    if (status != TP_OK) fprintf(stderr, "busy: %s\n", tp_last_error()->text);
    if (worker) tp_worker_stop(worker);
    if (worker && tp_worker_join(worker) != TP_OK) status = TP_DB;
    tp_worker_close(worker);
    tp_conn_close(conn);
    tp_env_close(env);
    return status == TP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
