/* See stops.h. */
#include "stops.h"

#include <stdatomic.h>

#include "common/signals.h"

static atomic_int stops;

int bench_stops(void) {
    return atomic_load(&stops);
}

void bench_stop(void) {
    (void)atomic_fetch_add(&stops, 1);
}

/* The first ends the measures, the second the taking out, the third everything. */
static void on_stop(int number) {
    bench_stop();
    if (bench_stops() > 2) signals_end(number);
}

void bench_catch_stops(void) {
    signals_catch(SIGINT, on_stop, 0);
    signals_catch(SIGTERM, on_stop, 0);
    signals_catch(SIGHUP, on_stop, 0);
}
