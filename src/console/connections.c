/* See connections.h. */
#include "connections.h"

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

struct connections {
    tp_env *env;
    struct reader *reader; /* of the pool */
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

static bool wait_until(struct connections *all, int64_t until) {
    return clock_cond_wait(&all->changed, &all->lock, until);
}

static void free_job(struct job *job) {
    request_free(&job->request);
    answer_free(&job->answer);
    free(job);
}

/* ---- The threads --------------------------------------------------------------------------------------- */

static tp_status connect(struct connections *all, tp_conn **conn, bool lost) {
    if (!*conn) return tp_conn_open(all->env, conn);
    return lost ? tp_conn_reopen(*conn) : TP_OK;
}

/* Gives whether the connection was lost. */
static bool run_job(struct connections *all, tp_conn **conn, bool lost, struct job *job) {
    for (int tries = 0; tries < 2; tries++) {
        tp_status status = connect(all, conn, lost);

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
static struct job *take_job(struct connections *all) {
    while (all->first) {
        struct job *job = all->first;

        all->first = job->next;
        if (!all->first) all->last = NULL;
        all->waiting--;
        if (!job->left) return job;
        free_job(job);
    }
    return NULL;
}

static void *run(void *arg) {
    struct connections *all = arg;
    tp_conn *conn = NULL;
    bool lost = false;
    struct job *job;

    pthread_mutex_lock(&all->lock);
    while (!all->stop) {
        job = take_job(all);
        if (!job) {
            pthread_cond_wait(&all->changed, &all->lock);
            continue;
        }
        job->started = true;
        pthread_mutex_unlock(&all->lock);
        lost = run_job(all, &conn, lost, job);
        if (lost) reader_look(all->reader, true);
        pthread_mutex_lock(&all->lock);
        job->done = true;
        if (job->left) free_job(job);
        pthread_cond_broadcast(&all->changed);
    }
    pthread_mutex_unlock(&all->lock);
    tp_conn_close(conn);
    pthread_mutex_lock(&all->lock);
    all->running--;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* ---- For HTTP's threads -------------------------------------------------------------------------------- */

/* Called with the lock held. */
static void add_job(struct connections *all, struct job *job) {
    if (all->last)
        all->last->next = job;
    else
        all->first = job;
    all->last = job;
    all->waiting++;
    pthread_cond_broadcast(&all->changed);
}

/* Called with the lock held, which is released while it waits. */
static void wait_for(struct connections *all, struct job *job, struct answer *answer) {
    int64_t until = clock_ms() + all->wait_ms;

    while (!job->done && !all->stop && clock_ms() < until)
        (void)wait_until(all, until);
    if (job->done) {
        *answer = job->answer;
        job->answer = (struct answer){0};
        free_job(job);
        return;
    }
    answer_error(answer, job->started ? ANSWER_LATE : ANSWER_AWAY, "%s",
                 all->stop      ? "the console is ending; ask again when it is back"
                 : job->started ? "the database takes too long; it may still be at it, so look before you "
                                  "ask again"
                                : "too many ask the database at once; ask again later");
    job->left = true;
}

void connections_ask(struct connections *all, ask_fn ask, bool again, struct request *request,
                     struct answer *answer) {
    char error[READER_ERROR_SIZE];
    struct job *job;

    reader_look(all->reader, false);
    if (reader_away(all->reader, error)) {
        answer_error(answer, ANSWER_AWAY, "%s", error);
        return;
    }
    pthread_mutex_lock(&all->lock);
    if (all->waiting >= WAITING_MAX) {
        pthread_mutex_unlock(&all->lock);
        answer_error(answer, ANSWER_AWAY, "too many ask the database at once; ask again later");
        return;
    }
    job = cli_must(calloc(1, sizeof *job));
    job->ask = ask;
    job->again = again;
    job->request = *request;
    *request = (struct request){0};
    add_job(all, job);
    wait_for(all, job, answer);
    pthread_mutex_unlock(&all->lock);
}

/* ---- Beginning and end --------------------------------------------------------------------------------- */

struct connections *connections_open(tp_env *env, struct reader *reader, int64_t wait_ms) {
    struct connections *all = cli_must(calloc(1, sizeof *all));

    all->env = env;
    all->reader = reader;
    all->wait_ms = wait_ms;
    pthread_mutex_init(&all->lock, NULL);
    cli_must(clock_cond_init(&all->changed) ? all : NULL);
    all->running = THREADS;
    for (int i = 0; i < THREADS; i++)
        cli_must(pthread_create(&all->threads[i], NULL, run, all) == 0 ? all : NULL);
    return all;
}

void connections_hurry(struct connections *all) {
    pthread_mutex_lock(&all->lock);
    all->stop = true;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

bool connections_close(struct connections *all) {
    int64_t until = clock_ms() + STOP_MS;
    bool ended;

    connections_hurry(all);
    pthread_mutex_lock(&all->lock);
    while (all->running && wait_until(all, until))
        ;
    ended = all->running == 0;
    pthread_mutex_unlock(&all->lock);
    if (!ended) return false;
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(all->threads[i], NULL);
    while (all->first) {
        struct job *job = all->first;

        all->first = job->next;
        free_job(job);
    }
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return true;
}
