/* See progress.h. Redrawn ten times a second at most. */
#include "progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "clocks.h"

#define BAR_WIDTH 30
#define REDRAW_MS 100

static struct {
    bool on;
    atomic_bool drawn;
    int64_t total, started, last;
} progress;

void progress_start(bool wanted, int64_t total_bytes) {
    progress.on = wanted && isatty(STDERR_FILENO);
    progress.total = total_bytes;
    progress.started = clock_ms();
    progress.last = progress.started;
}

void progress_draw(const char *text) {
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
    atomic_store(&progress.drawn, true);
}

/* "" when it is not known how much there is. */
static void make_bar(int64_t bytes, char bar[BAR_WIDTH + 16]) {
    int filled;

    bar[0] = '\0';
    if (progress.total <= 0) return;
    if (bytes > progress.total) bytes = progress.total; /* a file may grow while it is read */
    filled = (int)(bytes * BAR_WIDTH / progress.total);
    snprintf(bar, BAR_WIDTH + 16, "[%.*s%*s] %3d%%  ", filled, "##############################",
             BAR_WIDTH - filled, "", (int)(bytes * 100 / progress.total));
}

void progress_show(int64_t rows, int64_t bytes) {
    int64_t now;
    char bar[BAR_WIDTH + 16];
    char text[256];

    if (!progress.on) return;
    now = clock_ms();
    if (now - progress.last < REDRAW_MS) return;
    progress.last = now;
    make_bar(bytes, bar);
    snprintf(text, sizeof text, "%s%lld rows  %.1f MB  %lld rows/s", bar, (long long)rows,
             (double)bytes / 1e6, (long long)(rows * 1000 / (now - progress.started)));
    progress_draw(text);
}

void progress_hide(void) {
    if (atomic_exchange(&progress.drawn, false)) fputs("\r\033[K", stderr);
}

void progress_end(void) {
    progress_hide();
    progress.on = false;
}
