/* See turn.h. */
#include "odbc/turn.h"

#include <time.h>

#include "odbc/link.h"
#include "odbc/source.h"

/* Longer than a transaction that only writes takes. */
enum { WAIT_MAX_MS = 200 };

void tpi_turn_init(struct tpi_turn *turn) {
    pthread_condattr_t monotonic;
    pthread_mutex_init(&turn->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&turn->given, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void tpi_turn_destroy(struct tpi_turn *turn) {
    pthread_cond_destroy(&turn->given);
    pthread_mutex_destroy(&turn->lock);
}

static struct timespec deadline(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += WAIT_MAX_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

/* Under the lock. */
static bool wait_for(struct tpi_turn *turn) {
    struct timespec until = deadline();
    turn->waiting++;
    while (!turn->handed)
        if (pthread_cond_timedwait(&turn->given, &turn->lock, &until) != 0) break;
    turn->waiting--;
    bool mine = turn->handed;
    turn->handed = false;
    return mine;
}

void tpi_turn_take(struct tpi_link *link) {
    if (!link->driver->polls_for_lock || !link->source || link->has_turn) return;
    struct tpi_turn *turn = &link->source->turn;
    pthread_mutex_lock(&turn->lock);
    link->has_turn = !turn->taken || wait_for(turn);
    turn->taken = true;
    pthread_mutex_unlock(&turn->lock);
}

void tpi_turn_give(struct tpi_link *link) {
    if (!link->has_turn) return;
    struct tpi_turn *turn = &link->source->turn;
    link->has_turn = false;
    pthread_mutex_lock(&turn->lock);
    turn->handed = turn->waiting > 0;
    turn->taken = turn->handed;
    if (turn->handed) pthread_cond_signal(&turn->given);
    pthread_mutex_unlock(&turn->lock);
}
