/* Reads TP_TRACE and writes trace lines to stderr without waiting for its reader. See trace.h. */
#include "base/trace.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

static const char *const names[] = {
#define TPI_TRACE_NAME(id, name, what) name,
    TPI_TRACE_LIST(TPI_TRACE_NAME)
#undef TPI_TRACE_NAME
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool on[TPI_TRACE_COUNT];

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

static void read_list(void) {
    const char *list = getenv("TP_TRACE");
    if (!list) return;
    for (int i = 0; i < TPI_TRACE_COUNT; i++)
        on[i] = listed(list, names[i]) || listed(list, "all");
}

bool tpi_trace_on(enum tpi_trace component) {
    pthread_once(&once, read_list);
    return on[component];
}

/* Lines not written since a line last said how many. */
static atomic_uint_fast64_t missed;

/* A pipe that takes anything takes a line whole. */
static bool takes_line(void) {
    struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&file, 1, 0) == 1 && (file.revents & POLLOUT) != 0;
}

/* BUG: when somebody else fills the pipe between the poll and the write, this thread waits for its reader. */
static bool put(const char *line, int length) {
    return takes_line() && write(STDERR_FILENO, line, (size_t)length) == length;
}

/* False: it could not be written. */
static bool write_missed(uint64_t count) {
    char text[64];
    int length =
        snprintf(text, sizeof text, "taskpool: %" PRIu64 " lines of trace are missing here\n", count);
    return put(text, length);
}

void tpi_trace(enum tpi_trace component, const char *format, ...) {
    if (!tpi_trace_on(component)) return;
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* A reason is somebody else's text, and may not write lines of its own here. */
    tpi_utf8_tame(line);
    int64_t now = tpi_clock_mono_us();
    char whole[640];
    int length = snprintf(whole, sizeof whole, "taskpool %" PRId64 ".%06" PRId64 " %s %s\n", now / 1000000,
                          now % 1000000, names[component], line);
    uint64_t before = atomic_exchange(&missed, 0);
    if (before && write_missed(before)) before = 0;
    if (before || !put(whole, length)) atomic_fetch_add(&missed, before + 1);
}
