/* See who.h. The host is asked for once; the process number each time, so that a forked child has its own. */
#include "base/who.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"

enum { HOST_SIZE = 100 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char host[HOST_SIZE];

static void ask_host(void) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || !name[0]) name[0] = '?';
    tpi_utf8_copy(name, host, sizeof host);
}

void tpi_who(char out[TPI_WHO_SIZE]) {
    pthread_once(&once, ask_host);
    snprintf(out, TPI_WHO_SIZE, "%s:%ld", host, (long)getpid());
}
