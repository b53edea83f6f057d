/* See alloc.h. */
#include "faults/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint left; /* calls up to the one that fails, itself included; 0: none fails */
static atomic_bool failed;
static unsigned armed; /* what left was */

void alloc_arm(unsigned number) {
    atomic_store(&failed, false);
    armed = number;
    atomic_store(&left, number);
}

unsigned alloc_disarm(void) {
    return armed - atomic_exchange(&left, 0);
}

bool alloc_has_failed(void) {
    return atomic_load(&failed);
}

static bool is_the_one(void) {
    unsigned now = atomic_load(&left);
    while (now && !atomic_compare_exchange_weak(&left, &now, now - 1)) {
    }
    if (now != 1) return false;
    atomic_store(&failed, true);
    errno = ENOMEM;
    return true;
}

/* The linker's names: __wrap_X is what calls of X reach, __real_X is X. */
#define WRAPPED(type, name, parameters, arguments)                                                           \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters {                                                                          \
        return is_the_one() ? NULL : __real_##name arguments;                                                \
    }

WRAPPED(void *, malloc, (size_t size), (size))
WRAPPED(void *, calloc, (size_t count, size_t size), (count, size))
WRAPPED(void *, realloc, (void *old, size_t size), (old, size))
WRAPPED(char *, strdup, (const char *text), (text))
WRAPPED(char *, strndup, (const char *text, size_t length), (text, length))
WRAPPED(FILE *, fopen, (const char *path, const char *mode), (path, mode))

typedef void *thread_fn(void *arg);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg) {
    return is_the_one() ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}
