/* LOCKED(&lock): the mutex is held from here to the end of the block. */
#ifndef TESTS_SUPPORT_LOCKED_H
#define TESTS_SUPPORT_LOCKED_H

#include <pthread.h>

static inline pthread_mutex_t *locked(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    return lock;
}

static inline void unlock(pthread_mutex_t *const *lock) {
    pthread_mutex_unlock(*lock);
}

#define LOCKED(lock)                                                                                         \
    __attribute__((cleanup(unlock), unused)) pthread_mutex_t *const locked_to_the_end = locked(lock)

#endif
