/* See background.h. */
#include "background.h"

#include <signal.h>

#include "clocks.h"
#include "messages.h"

static void *run(void *arg) {
    struct background *background = arg;
    sigset_t all;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_mutex_lock(&background->lock);
    background->work(background->arg);
    background->ended = true;
    background_wake(background);
    pthread_mutex_unlock(&background->lock);
    return NULL;
}

void background_start(struct background *background, void (*work)(void *arg), void *arg) {
    background->work = work;
    background->arg = arg;
    background->stop = background->ended = false;
    pthread_mutex_init(&background->lock, NULL);
    cli_must(clock_cond_init(&background->changed) ? background : NULL);
    cli_must(pthread_create(&background->thread, NULL, run, background) == 0 ? background : NULL);
}

bool background_wait(struct background *background, int64_t until) {
    return clock_cond_wait(&background->changed, &background->lock, until);
}

void background_wake(struct background *background) {
    pthread_cond_broadcast(&background->changed);
}

void background_hurry(struct background *background) {
    pthread_mutex_lock(&background->lock);
    background->stop = true;
    background_wake(background);
    pthread_mutex_unlock(&background->lock);
}

bool background_stop(struct background *background, int64_t wait_ms) {
    int64_t until = clock_ms() + wait_ms;
    bool ended;

    background_hurry(background);
    pthread_mutex_lock(&background->lock);
    while (!background->ended && background_wait(background, until))
        ;
    ended = background->ended;
    pthread_mutex_unlock(&background->lock);
    if (!ended) return false;
    (void)pthread_join(background->thread, NULL);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    return true;
}
