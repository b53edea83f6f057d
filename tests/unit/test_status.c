/* The list of statuses: every one has a name, a meaning, and says whether asking again makes sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "taskpool.h"

/* Written by hand: the numbers and names are part of the interface. */
static const struct {
    tp_status status;
    int number;
    const char *name;
    int again;
} known[] = {
    {TP_OK, 0, "ok", 0},
    {TP_NONE, 1, "none", 0},
    {TP_EXISTS, 2, "exists", 0},
    {TP_EXHAUSTED, 3, "exhausted", 0},
    {TP_LOST, -1, "lost", 0},
    {TP_CONFLICT, -2, "conflict", 1},
    {TP_TIMEOUT, -3, "timeout", 1},
    {TP_DISCONNECTED, -4, "disconnected", 1},
    {TP_SCHEMA, -5, "schema", 0},
    {TP_UNSUPPORTED, -6, "unsupported", 0},
    {TP_TOOBIG, -7, "toobig", 0},
    {TP_MISUSE, -8, "misuse", 0},
    {TP_NOMEM, -9, "nomem", 0},
    {TP_DB, -10, "db", 0},
    {TP_UNWRITABLE, -11, "unwritable", 1},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static void test_status__every_status_has_its_number_and_name(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        assert_int_equal(known[i].status, known[i].number);
        assert_string_equal(tp_status_name(known[i].status), known[i].name);
    }
}

static void test_status__this_test_knows_every_status(void **state) {
    size_t count = 0;
    (void)state;
#define COUNT(id, number, name, retryable, text) count++;
    TP_STATUS_LIST(COUNT)
#undef COUNT
    assert_int_equal(count, KNOWN);
}

static void test_status__every_status_has_a_meaning_of_its_own(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        const char *text = tp_status_text(known[i].status);
        assert_true(strlen(text) > 3);
        assert_null(strchr(text, '\n'));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(text, tp_status_text(known[k].status));
            assert_string_not_equal(known[i].name, known[k].name);
        }
    }
}

static void test_status__only_what_may_pass_by_itself_may_be_asked_again(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++)
        assert_int_equal(tp_status_may_retry(known[i].status), known[i].again);
}

static void test_status__answers_are_positive_and_failures_negative(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].again) assert_true(known[i].status < 0);
    assert_true(TP_NONE > 0 && TP_EXISTS > 0 && TP_EXHAUSTED > 0 && TP_LOST < 0);
}

static void test_status__a_number_that_is_no_status_is_unknown(void **state) {
    static const int wrong[] = {4, 100, -12, INT32_MIN, INT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_string_equal(tp_status_name((tp_status)wrong[i]), "unknown");
        assert_true(strlen(tp_status_text((tp_status)wrong[i])) > 0);
        assert_int_equal(tp_status_may_retry((tp_status)wrong[i]), 0);
    }
}

static void test_version__is_made_of_its_three_numbers(void **state) {
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", TP_VERSION_MAJOR, TP_VERSION_MINOR, TP_VERSION_PATCH);
    assert_string_equal(tp_version(), text);
    assert_string_equal(TP_VERSION, text);
}

static void test_event__every_event_of_a_worker_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < TP_EVENT_COUNT; i++) {
        assert_true(strlen(tp_event_name((tp_event)i)) > 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tp_event_name((tp_event)i), tp_event_name((tp_event)k));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__every_status_has_its_number_and_name),
        cmocka_unit_test(test_status__this_test_knows_every_status),
        cmocka_unit_test(test_status__every_status_has_a_meaning_of_its_own),
        cmocka_unit_test(test_status__only_what_may_pass_by_itself_may_be_asked_again),
        cmocka_unit_test(test_status__answers_are_positive_and_failures_negative),
        cmocka_unit_test(test_status__a_number_that_is_no_status_is_unknown),
        cmocka_unit_test(test_version__is_made_of_its_three_numbers),
        cmocka_unit_test(test_event__every_event_of_a_worker_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
