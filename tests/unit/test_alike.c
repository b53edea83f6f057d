/* Reasons that are one group, what stays apart, and the pattern that finds them. */
#include "core/alike.h"
#include "support/test.h"

static const struct {
    const char *reason, *alike;
} cases[] = {
    {"", "-"},
    {"-", "-"},
    {"card 4711 refused", "card # refused"},
    {"card # refused", "card # refused"},
    {"order 0190c3a2-7b1e-7f3a-9c55-2f6f0c1d2e3f is gone", "order # is gone"},
    {"at 0x00ab12cd34", "at #x#"},
    {"hash 00ab12cd34 differs", "hash # differs"},
    {"deadbeef is a word", "deadbeef is a word"},
    {"ORA-00060: deadlock", "ORA-#: deadlock"},
    {"two\nlines\t7", "two#lines#"},
    {"Stra\xc3\x9f"
     "e 5",
     "Stra\xc3\x9f"
     "e #"},
    {"left \xe2\x80\xae"
     "thgir",
     "left #thgir"},
    {"cut in a character \xe2", "cut in a character \xe2"},
    {"100%_!", "#%_!"},
    {"exit code 3", "exit code 3"},
    {"killed by signal 11", "killed by signal 11"},
    {"exit code 3: order 17", "exit code #: order #"},
    {"exit code 4711", "exit code #"},
    {"exit code ", "exit code "},
};

TEST(test_alike__digits_and_ids_make_no_difference) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        char alike[TPI_ALIKE_SIZE];
        tpi_alike(cases[i].reason, alike);
        assert_string_equal(alike, cases[i].alike);
    }
}

TEST(test_alike__what_is_alike_stays) {
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(tpi_is_alike(cases[i].alike, cases[i].alike));
}

TEST(test_alike__patterns_take_no_character_for_more_than_itself) {
    char pattern[TPI_LIKE_SIZE];
    tpi_alike_pattern("a # 100%_!", pattern);
    assert_string_equal(pattern, "a % 100!%!_!!");
    tpi_alike_pattern("-", pattern);
    assert_string_equal(pattern, "%");
}

TEST(test_alike__the_longest_reason_fits) {
    char reason[TP_REASON_MAX + 1], alike[TPI_ALIKE_SIZE], pattern[TPI_LIKE_SIZE];
    memset(reason, '%', TP_REASON_MAX);
    reason[TP_REASON_MAX] = '\0';
    tpi_alike(reason, alike);
    assert_string_equal(alike, reason);
    tpi_alike_pattern(alike, pattern);
    assert_int_equal(strlen(pattern), 2 * TP_REASON_MAX);
}
