/* The list of threads in this process that wait for the end of a task. See ended.h. */
#include "base/ended.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/cond.h"
#include "base/utf8.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tpi_ended *first; /* under lock, and so is notified of each */
static atomic_uint wait_count;  /* entries of the list */

/* In the child of a fork: who waited are threads of the parent. */
static void forget_all(void) {
    (void)pthread_mutex_init(&lock, NULL);
    first = NULL;
    atomic_store(&wait_count, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, forget_all);
}

void tpi_ended_add(struct tpi_ended *ended, const char *id) {
    tpi_utf8_copy(id, ended->id, sizeof ended->id);
    ended->has_cond = tpi_cond_init(&ended->cond);
    ended->notified = false;
    pthread_mutex_lock(&lock);
    ended->next = first;
    first = ended;
    atomic_fetch_add(&wait_count, 1);
    pthread_mutex_unlock(&lock);
}

void tpi_ended_remove(struct tpi_ended *ended) {
    pthread_mutex_lock(&lock);
    for (struct tpi_ended **at = &first; *at; at = &(*at)->next) {
        if (*at != ended) continue;
        *at = ended->next;
        atomic_fetch_sub(&wait_count, 1);
        break;
    }
    pthread_mutex_unlock(&lock);
    if (ended->has_cond) pthread_cond_destroy(&ended->cond);
}

/* Without a condition variable, for which there was no memory, nobody is woken: it only lets the time pass.
 */
bool tpi_ended_wait(struct tpi_ended *ended, int64_t ms) {
    int64_t until_ms = tpi_clock_mono_ms() + ms;
    if (!ended->has_cond) (void)poll(NULL, 0, (int)ms);
    pthread_mutex_lock(&lock);
    while (ended->has_cond && !ended->notified)
        if (!tpi_cond_wait(&ended->cond, &lock, until_ms)) break;
    bool notified = ended->notified;
    ended->notified = false;
    pthread_mutex_unlock(&lock);
    return notified;
}

void tpi_ended_notify(const char *id) {
    if (atomic_load(&wait_count) == 0) return;
    pthread_mutex_lock(&lock);
    for (struct tpi_ended *ended = first; ended; ended = ended->next) {
        if (strcmp(ended->id, id) != 0) continue;
        ended->notified = true;
        if (ended->has_cond) pthread_cond_signal(&ended->cond);
    }
    pthread_mutex_unlock(&lock);
}
