/* See pool.h. */
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "common/messages.h"

enum { THREADS = 2, WAITING_MAX = 32, STOP_MS = 2000 };

/* A request; freed by whoever is last to have done with it: who asked, or the thread. */
struct job {
    struct job *next;
    ask_fn ask;
    bool again;
    struct request request;
    struct answer answer;
    bool started, done, left; /* left: who asked has gone */
};

struct pool {
    const char *name;
    tp_env *env;
    struct reader *reader;
    int64_t wait_ms;
    pthread_t threads[THREADS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    struct job *first, *last;
    size_t waiting;
    int running; /* threads */
    bool stop;
};

static bool wait_until(struct pool *pool, int64_t until) {
    return clock_cond_wait(&pool->changed, &pool->lock, until);
}

static void free_job(struct job *job) {
    request_free(&job->request);
    answer_free(&job->answer);
    free(job);
}

/* ---- The threads --------------------------------------------------------------------------------------- */

static tp_status connect(struct pool *pool, tp_conn **conn, bool lost) {
    if (!*conn) return tp_conn_open(pool->env, conn);
    return lost ? tp_conn_reopen(*conn) : TP_OK;
}

/* Gives whether the connection was lost. */
static bool run_job(struct pool *pool, tp_conn **conn, bool lost, struct job *job) {
    for (int tries = 0; tries < 2; tries++) {
        tp_status status = connect(pool, conn, lost);

        answer_free(&job->answer);
        if (status == TP_OK)
            job->ask(*conn, &job->request, &job->answer);
        else
            answer_tp(&job->answer, status);
        lost = status != TP_OK || job->answer.lost;
        if (!lost || !job->again || status != TP_OK) break;
    }
    return lost;
}

/* The next that somebody waits for. Called with the lock held. */
static struct job *take_job(struct pool *pool) {
    while (pool->first) {
        struct job *job = pool->first;

        pool->first = job->next;
        if (!pool->first) pool->last = NULL;
        pool->waiting--;
        if (!job->left) return job;
        free_job(job);
    }
    return NULL;
}

static void *run(void *arg) {
    struct pool *pool = arg;
    tp_conn *conn = NULL;
    bool lost = false;
    struct job *job;

    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        job = take_job(pool);
        if (!job) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        job->started = true;
        pthread_mutex_unlock(&pool->lock);
        lost = run_job(pool, &conn, lost, job);
        if (lost) reader_look(pool->reader, true);
        pthread_mutex_lock(&pool->lock);
        job->done = true;
        if (job->left) free_job(job);
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    tp_conn_close(conn);
    pthread_mutex_lock(&pool->lock);
    pool->running--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- For HTTP's threads -------------------------------------------------------------------------------- */

/* Called with the lock held. */
static void add_job(struct pool *pool, struct job *job) {
    if (pool->last)
        pool->last->next = job;
    else
        pool->first = job;
    pool->last = job;
    pool->waiting++;
    pthread_cond_broadcast(&pool->changed);
}

/* Called with the lock held, which is released while it waits. */
static void wait_for(struct pool *pool, struct job *job, struct answer *answer) {
    int64_t until = clock_ms() + pool->wait_ms;

    while (!job->done && !pool->stop && clock_ms() < until)
        (void)wait_until(pool, until);
    if (job->done) {
        *answer = job->answer;
        job->answer = (struct answer){0};
        free_job(job);
        return;
    }
    answer_error(answer, job->started ? ANSWER_LATE : ANSWER_AWAY, "%s",
                 pool->stop     ? "the console is ending; ask again when it is back"
                 : job->started ? "the database takes too long; it may still be at it, so look before you "
                                  "ask again"
                                : "too many ask the database at once; ask again later");
    job->left = true;
}

void pool_ask(struct pool *pool, ask_fn ask, bool again, struct request *request, struct answer *answer) {
    char error[READER_ERROR_SIZE];
    struct job *job;

    reader_look(pool->reader, false);
    if (reader_away(pool->reader, error)) {
        answer_error(answer, ANSWER_AWAY, "%s", error);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    if (pool->waiting >= WAITING_MAX) {
        pthread_mutex_unlock(&pool->lock);
        answer_error(answer, ANSWER_AWAY, "too many ask the database at once; ask again later");
        return;
    }
    job = cli_must(calloc(1, sizeof *job));
    job->ask = ask;
    job->again = again;
    job->request = *request;
    *request = (struct request){0};
    add_job(pool, job);
    wait_for(pool, job, answer);
    pthread_mutex_unlock(&pool->lock);
}

const char *pool_name(const struct pool *pool) {
    return pool->name;
}

struct reader *pool_reader(struct pool *pool) {
    return pool->reader;
}

/* ---- Beginning and end --------------------------------------------------------------------------------- */

struct pool *pool_open(const char *name, tp_env *env, int64_t wait_ms) {
    struct pool *pool = cli_must(calloc(1, sizeof *pool));

    pool->name = name;
    pool->env = env;
    pool->wait_ms = wait_ms;
    pthread_mutex_init(&pool->lock, NULL);
    cli_must(clock_cond_init(&pool->changed) ? pool : NULL);
    pool->reader = reader_start(env);
    pool->running = THREADS;
    for (int i = 0; i < THREADS; i++)
        cli_must(pthread_create(&pool->threads[i], NULL, run, pool) == 0 ? pool : NULL);
    return pool;
}

void pool_hurry(struct pool *pool) {
    reader_hurry(pool->reader);
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

bool pool_hurries(struct pool *pool) {
    bool stop;

    pthread_mutex_lock(&pool->lock);
    stop = pool->stop;
    pthread_mutex_unlock(&pool->lock);
    return stop;
}

bool pool_close(struct pool *pool) {
    int64_t until = clock_ms() + STOP_MS;
    bool ended;

    pool_hurry(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->running && wait_until(pool, until))
        ;
    ended = pool->running == 0;
    pthread_mutex_unlock(&pool->lock);
    if (!ended || !reader_stop(pool->reader)) return false;
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(pool->threads[i], NULL);
    while (pool->first) {
        struct job *job = pool->first;

        pool->first = job->next;
        free_job(job);
    }
    tp_env_close(pool->env);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return true;
}
