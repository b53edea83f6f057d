/* See trace.h. */
#include "base/trace.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    fprintf(stderr, "taskpool %" PRId64 ".%06" PRId64 " %s %s\n", now / 1000000, now % 1000000,
            names[component], line);
}
