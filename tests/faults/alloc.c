/* What the system gives may fail as support/faults.h aims it. The program is linked with --wrap for each of
 * these functions, which catches the calls of the library's own code and of nothing else: drivers and shared
 * libraries keep theirs. A thread or an open file that the system does not give counts as an allocation. Any
 * thread's calls count. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "support/check.h"
#include "support/faults.h"

static bool fails(void) {
    bool fails = faults_ask_allocation();
    if (fails) errno = ENOMEM;
    return fails;
}

#define ALLOCATION(type, name, arguments, ...)                                                               \
    WRAPPED(type, name, __VA_ARGS__) {                                                                       \
        return fails() ? NULL : __real_##name arguments;                                                     \
    }

ALLOCATION(void *, malloc, (size), size_t size)
ALLOCATION(void *, calloc, (count, size), size_t count, size_t size)
ALLOCATION(void *, realloc, (old, size), void *old, size_t size)
ALLOCATION(char *, strdup, (text), const char *text)
ALLOCATION(char *, strndup, (text, length), const char *text, size_t length)
ALLOCATION(FILE *, fopen, (path, mode), const char *path, const char *mode)

typedef void *thread_fn(void *arg);
WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg) {
    return fails() ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}
