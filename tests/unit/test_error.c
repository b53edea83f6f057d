/* The thread's last error: one line of UTF-8, whatever goes in. */
#include "base/error.h"
#include "base/utf8.h"
#include "support/test.h"

#define last_error_is(text, sqlstate, native, statement)                                                     \
    check_last((text), (sqlstate), (native), (statement), __FILE__, __LINE__)
static void check_last(const char *text, const char *sqlstate, int native, const char *statement,
                       const char *file, int line) {
    const tp_error *error = tp_last_error();
    _assert_string_equal(error->text, text, file, line);
    _assert_string_equal(error->sqlstate, sqlstate, file, line);
    check_number(error->native, native, "native", file, line);
    _assert_string_equal(error->statement, statement, file, line);
}

TEST(test_error__the_status_comes_back_and_the_text_is_kept) {
    assert_int_equal(tpi_error(TP_TOOBIG, "%d bytes of %s", 7, "params"), TP_TOOBIG);
    assert_int_equal(tp_last_error()->status, TP_TOOBIG);
    last_error_is("7 bytes of params", "", 0, "");
}

TEST(test_error__a_database_error_carries_state_number_and_statement) {
    assert_int_equal(tpi_error_db(TP_DB, "42P01", -7, "claim_skip", "no table"), TP_DB);
    last_error_is("no table", "42P01", -7, "claim_skip");
    assert_int_equal(tpi_error_db(TP_DB, "HY000", 1, NULL, "x"), TP_DB);
    assert_string_equal(tp_last_error()->statement, "");
}

TEST(test_error__the_next_error_leaves_nothing_of_the_last) {
    (void)tpi_error_db(TP_DB, "42P01", 9, "claim_skip", "a long text of the first error");
    (void)tpi_error(TP_MISUSE, "second");
    last_error_is("second", "", 0, "");
}

TEST(test_error__the_class_is_that_of_the_last_error_alone) {
    (void)tpi_error_db(TP_CONFLICT, "23505", 0, "enqueue", "a row with this key is there");
    tpi_error_set_class(7);
    assert_int_equal(tpi_error_class(), 7);
    struct tpi_kept_error kept = tpi_error_keep();
    (void)tpi_error(TP_NOMEM, "out of memory");
    assert_int_equal(tpi_error_class(), 0);
    (void)tpi_error_db(TP_DB, "HY000", 1, "find", "x");
    assert_int_equal(tpi_error_class(), 0);
    tpi_error_restore(&kept);
    assert_int_equal(tpi_error_class(), 7);
}

TEST(test_error__control_characters_become_blanks) {
    (void)tpi_error(TP_DB, "ERROR: x;%sError while%cexecuting\x1b[31m", "\r\n", '\t');
    assert_string_equal(tp_last_error()->text, "ERROR: x;  Error while executing [31m");
}

TEST(test_error__a_long_sqlstate_is_cut) {
    (void)tpi_error_db(TP_DB, "HY000 and more", 0, NULL, "x");
    assert_string_equal(tp_last_error()->sqlstate, "HY000");
}

/* Characters of 1 to 4 bytes, with the cut at every place inside them. */
TEST(test_error__long_text_is_cut_on_a_character) {
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe5\xb7\xa5", "\xf0\x9f\x98\x80"};
    static char text[8000];
    for (size_t i = 0; i < 4; i++)
        for (size_t shift = 0; shift < 4; shift++) {
            size_t step = strlen(characters[i]), at = shift;
            memset(text, '.', shift);
            for (; at + step < sizeof text; at += step)
                memcpy(text + at, characters[i], step);
            text[at] = '\0';
            (void)tpi_error(TP_DB, "%s", text);
            size_t length = strlen(tp_last_error()->text);
            assert_true(length >= 1000 && length < 1024);
            assert_true(tpi_utf8_valid(tp_last_error()->text, length));
            assert_memory_equal(tp_last_error()->text, text, length);
        }
}

TEST(test_error__an_error_told_again_with_more_around_it_is_whole) {
    (void)tpi_error(TP_TOOBIG, "params have 9 bytes");
    (void)tpi_error(TP_TOOBIG, "task %d of %d: %s", 3, 10, tp_last_error()->text);
    assert_string_equal(tp_last_error()->text, "task 3 of 10: params have 9 bytes");
}

static void *fail_elsewhere(void *arg) {
    const tp_error *fresh = tp_last_error();
    bool *good = arg;
    *good = fresh && fresh->status == TP_OK && fresh->text[0] == '\0' && fresh->statement[0] == '\0' &&
            fresh->sqlstate[0] == '\0';
    (void)tpi_error(TP_LOST, "of the other thread");
    *good = *good && strcmp(tp_last_error()->text, "of the other thread") == 0;
    return NULL;
}

TEST(test_error__each_thread_has_its_own_and_starts_without) {
    bool good = false;
    (void)tpi_error(TP_NOMEM, "of this thread");
    test_in_threads(1, fail_elsewhere, &good, 0);
    assert_true(good);
    assert_int_equal(tp_last_error()->status, TP_NOMEM);
    assert_string_equal(tp_last_error()->text, "of this thread");
}
