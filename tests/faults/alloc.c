/* What the system gives may fail as support/faults.h aims it. The program is linked with --wrap for each of
 * these functions, which catches the calls of the library's own code and of nothing else: drivers and shared
 * libraries keep theirs. A thread or an open file that the system does not give counts as an allocation. Any
 * thread's calls count. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "support/faults.h"

static bool fails(void) {
    bool fails = faults_ask_allocation();
    if (fails) errno = ENOMEM;
    return fails;
}

/* The linker's names: __wrap_X is what calls of X reach, __real_X is X. */
#define WRAPPED(type, name, parameters, arguments)                                                           \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters {                                                                          \
        return fails() ? NULL : __real_##name arguments;                                                     \
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
    return fails() ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}
