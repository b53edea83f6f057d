/* What the parts of a worker know of its stop. */
#include "support/test.h"
#include "worker/lifetime.h"

#include "base/clock.h"

enum { LONG_MS = 2 * TPI_STOP_GRACE_MS };

/* Its thread has not seen the stop yet, and what was first tried long ago is tried once more. */
TEST(test_lifetime__grace_begins_with_the_stop_before_that_is_seen) {
    struct tpi_lifetime life = {.stop_ms = 0};
    int64_t now = tpi_clock_mono_ms();
    assert_true(tpi_lifetime_init(&life, 0));
    assert_true(tpi_lifetime_stop(&life));
    assert_false(tpi_lifetime_grace_over(&life, now - LONG_MS));
    atomic_store(&life.stopped_at, now);
    assert_false(tpi_lifetime_grace_over(&life, now - LONG_MS));
    atomic_store(&life.stopped_at, now - LONG_MS);
    assert_true(tpi_lifetime_grace_over(&life, now - LONG_MS));
    assert_false(tpi_lifetime_grace_over(&life, now));
    tpi_lifetime_free(&life);
}

TEST(test_lifetime__a_step_has_the_grace_from_its_first_try) {
    struct tpi_lifetime life = {.stepping = true};
    int64_t now = tpi_clock_mono_ms();
    assert_true(tpi_lifetime_init(&life, 0));
    assert_true(tpi_lifetime_grace_over(&life, now - LONG_MS));
    assert_false(tpi_lifetime_grace_over(&life, now));
    tpi_lifetime_free(&life);
}
