/* Tokens of gates: what is held comes back a period later, never earlier, whatever becomes of it between. */
#include <stdlib.h>

#include "core/tokens.h"
#include "support/test.h"

#define START INT64_C(1700000000000)

static struct tpi_tokens through_text(const struct tpi_tokens *tokens) {
    char text[TPI_TOKENS_TEXT];
    struct tpi_tokens read;
    tpi_tokens_write(tokens, text);
    tpi_tokens_read(text, &read);
    return read;
}

static int64_t held_at(const struct tpi_tokens *tokens, int64_t period_ms, int64_t now) {
    struct tpi_tokens copy = through_text(tokens);
    tpi_tokens_return(&copy, period_ms, now, 0);
    return tpi_tokens_held(&copy);
}

TEST(test_tokens__one_comes_back_when_the_period_is_over_and_at_most_a_part_of_it_later) {
    static const int64_t periods[] = {1, 64, 100, 1000, 60000, 86400000};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        int64_t period = periods[i];
        struct tpi_tokens tokens = {0};
        tpi_tokens_hold(&tokens, period, START + 7, 3);
        assert_int_equal(held_at(&tokens, period, START + 7), 3);
        assert_int_equal(held_at(&tokens, period, START + 7 + period - 1), 3);
        assert_int_equal(held_at(&tokens, period, START + 7 + period + period / TPI_TOKEN_SLOTS), 0);
    }
}

/* Against a list of all ends: never fewer held than ended within the period, and those of one part more. */
TEST(test_tokens__never_fewer_are_held_than_tasks_ended_within_the_period) {
    enum { ENDS = 5000, PERIOD = 10000, PART = PERIOD / TPI_TOKEN_SLOTS };
    static int64_t ends[ENDS];
    struct tpi_tokens tokens = {0};
    int64_t now = START;
    srand(7);
    for (int i = 0; i < ENDS; i++) {
        int64_t just = 0, roughly = 0;
        now += rand() % (i % 1000 < 500 ? 20 : 200);
        ends[i] = now;
        tokens = through_text(&tokens);
        tpi_tokens_return(&tokens, PERIOD, now, 0);
        tpi_tokens_hold(&tokens, PERIOD, now, 1);
        for (int j = 0; j <= i; j++) {
            just += ends[j] + PERIOD > now;
            roughly += ends[j] + PERIOD + PART > now;
        }
        assert_in_range(tpi_tokens_held(&tokens), just, roughly);
        assert_true(tokens.count <= TPI_TOKENS_MAX);
    }
}

TEST(test_tokens__a_shorter_period_and_a_longer_one_lose_none) {
    struct tpi_tokens tokens = {0};
    for (int64_t at = START; at < START + 1000; at += 3) {
        tpi_tokens_return(&tokens, 1000, at, 0);
        tpi_tokens_hold(&tokens, 1000, at, 1);
    }
    int64_t held = tpi_tokens_held(&tokens);
    assert_int_equal(held_at(&tokens, 60000, START + 1000), held);
    for (int64_t at = START + 1000; at < START + 61000; at += 900) {
        tokens = through_text(&tokens);
        tpi_tokens_return(&tokens, 60000, at, 0);
        tpi_tokens_hold(&tokens, 60000, at, 1);
        assert_int_equal(tpi_tokens_held(&tokens), ++held);
        assert_true(tokens.count <= TPI_TOKENS_MAX);
    }
}

TEST(test_tokens__a_clock_that_was_set_back_holds_them_for_a_period_at_most) {
    struct tpi_tokens tokens = {0};
    tpi_tokens_hold(&tokens, 1000, START + 3600000, 2);
    assert_int_equal(held_at(&tokens, 1000, START), 2);
    tpi_tokens_return(&tokens, 1000, START, 0);
    assert_int_equal(held_at(&tokens, 1000, START + 1000 + 1000 / TPI_TOKEN_SLOTS), 0);
}

TEST(test_tokens__what_is_no_such_text_ends_it) {
    static const char *const texts[] = {"", "x", "5", "5:", "5:x", ":", "5:0", "0:5", "-5:5", "5:-5", "5 5"};
    struct tpi_tokens tokens;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tpi_tokens_read(texts[i], &tokens);
        assert_int_equal(tokens.count, 0);
    }
    tpi_tokens_read("5:1 6:2 x", &tokens);
    assert_int_equal(tpi_tokens_held(&tokens), 3);
    assert_int_equal(tpi_tokens_first(&tokens, 10), 15);
    assert_int_equal(tpi_tokens_last(&tokens, 10), 16);
}
