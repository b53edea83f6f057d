/* A thread that reads for others until it is told to stop. It may be waiting for a database that does not
 * answer, so its end is waited for no longer than a while. Used by top and by the console. */
#ifndef COMMON_BACKGROUND_H
#define COMMON_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct background {
    pthread_mutex_t lock;
    pthread_t thread;
    pthread_cond_t changed;
    void (*work)(void *arg);
    void *arg;
    bool stop, ended; /* under the lock; stop: work is to return */
};

/* Calls work(arg) in a thread without signals, with the lock held; work returns with it held. */
void background_start(struct background *background, void (*work)(void *arg), void *arg);
/* Waits for a change until then, of clock_ms. Called with the lock held. False: it is past. */
bool background_wait(struct background *background, int64_t until);
/* Whoever waits looks again. */
void background_wake(struct background *background);
/* From now on nobody waits any more. */
void background_hurry(struct background *background);
/* False: it did not end within wait_ms and cannot be ended; then the process has to end by _exit. */
bool background_stop(struct background *background, int64_t wait_ms);

#endif
