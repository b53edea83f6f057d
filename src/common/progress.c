/* See progress.h. Redrawn ten times a second at most. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clocks.h"

#define BAR_WIDTH 30
#define REDRAW_MS 100

static struct {
    bool on, drawn;
    int64_t total, started, last;
} progress;

void progress_start(bool wanted, int64_t total_bytes) {
    progress.on = wanted && isatty(STDERR_FILENO);
    progress.total = total_bytes;
    progress.started = clock_ms();
    progress.last = progress.started;
}

static void draw_bar(int64_t bytes) {
    int filled = (int)(bytes * BAR_WIDTH / progress.total);

    fprintf(stderr, "[%.*s%*s] %3d%%  ", filled, "##############################", BAR_WIDTH - filled, "",
            (int)(bytes * 100 / progress.total));
}

void progress_show(int64_t rows, int64_t bytes) {
    int64_t now;
    int64_t elapsed;

    if (!progress.on) return;
    now = clock_ms();
    if (now - progress.last < REDRAW_MS) return;
    progress.last = now;
    elapsed = now - progress.started;
    fputs("\r", stderr);
    /* A file may grow while it is read. */
    if (progress.total > 0) draw_bar(bytes < progress.total ? bytes : progress.total);
    fprintf(stderr, "%lld rows  %.1f MB  %lld rows/s\033[K", (long long)rows, (double)bytes / 1e6,
            (long long)(rows * 1000 / elapsed));
    fflush(stderr);
    progress.drawn = true;
}

void progress_hide(void) {
    if (!progress.drawn) return;
    fputs("\r\033[K", stderr);
    progress.drawn = false;
}

void progress_end(void) {
    progress_hide();
    progress.on = false;
}
