/* A table of handles; see numbers.h. A number is its row and how often the row was used. */
#include "numbers.h"

#include <pthread.h>
#include <stddef.h>

enum { ROWS = 4096, USES = 0x7ffff };

struct row {
    enum number_kind kind;
    int32_t uses;
    void *handle;
};
static struct row rows[ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int32_t number_of(int32_t at) {
    return rows[at].uses * ROWS + at;
}

int32_t number_give(enum number_kind kind, void *handle) {
    int32_t number = 0;
    pthread_mutex_lock(&lock);
    for (int32_t at = 0; at < ROWS && !number; at++) {
        if (rows[at].kind != NUMBER_NONE) continue;
        int32_t uses = rows[at].uses % USES + 1; /* never 0, so that no number is */
        rows[at] = (struct row){kind, uses, handle};
        number = number_of(at);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void *number_handle(enum number_kind kind, int32_t number) {
    void *handle = NULL;
    if (number <= 0) return NULL;
    pthread_mutex_lock(&lock);
    const struct row *row = &rows[number % ROWS];
    if (row->kind == kind && number_of(number % ROWS) == number) handle = row->handle;
    pthread_mutex_unlock(&lock);
    return handle;
}

void number_drop(int32_t number) {
    if (number <= 0) return;
    pthread_mutex_lock(&lock);
    struct row *row = &rows[number % ROWS];
    if (number_of(number % ROWS) == number) row->kind = NUMBER_NONE;
    pthread_mutex_unlock(&lock);
}

void number_each(enum number_kind kind, void (*fn)(int32_t number, void *handle, void *arg), void *arg) {
    for (int32_t at = 0; at < ROWS; at++) {
        pthread_mutex_lock(&lock);
        struct row row = rows[at];
        int32_t number = number_of(at);
        pthread_mutex_unlock(&lock);
        if (row.kind == kind) fn(number, row.handle, arg);
    }
}
