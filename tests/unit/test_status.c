/* The list of statuses: every one has a name, a meaning, and says whether asking again makes sense. */

#include "support/test.h"

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
    {TP_REQUESTED, 4, "requested", 0},
    {TP_STALE, 5, "stale", 0},
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
enum { KNOWN = COUNT(known) };

TEST(test_status__every_status_has_its_number_and_name) {
    for (size_t i = 0; i < KNOWN; i++) {
        assert_int_equal(known[i].status, known[i].number);
        assert_string_equal(tp_status_name(known[i].status), known[i].name);
    }
}

TEST(test_status__this_test_knows_every_status) {
    size_t count = 0;
#define ONE(id, number, name, again, text) count++;
    TP_STATUS_LIST(ONE)
#undef ONE
    assert_int_equal(count, KNOWN);
}

TEST(test_status__every_status_has_a_meaning_of_its_own) {
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

TEST(test_status__only_what_may_pass_by_itself_may_be_asked_again) {
    for (size_t i = 0; i < KNOWN; i++)
        assert_int_equal(tp_status_may_retry(known[i].status), known[i].again);
}

TEST(test_status__answers_are_positive_and_failures_negative) {
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].again) assert_true(known[i].status < 0);
    assert_true(TP_NONE > 0 && TP_EXISTS > 0 && TP_EXHAUSTED > 0 && TP_LOST < 0);
}

TEST(test_status__a_number_that_is_no_status_is_unknown) {
    static const int wrong[] = {6, 100, -12, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_string_equal(tp_status_name((tp_status)wrong[i]), "unknown");
        assert_true(strlen(tp_status_text((tp_status)wrong[i])) > 0);
        assert_int_equal(tp_status_may_retry((tp_status)wrong[i]), 0);
    }
}

TEST(test_version__is_made_of_its_three_numbers) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TP_VERSION_MAJOR, TP_VERSION_MINOR, TP_VERSION_PATCH);
    assert_string_equal(tp_version(), text);
    assert_string_equal(TP_VERSION, text);
}

TEST(test_event__every_event_of_a_worker_has_a_name_of_its_own) {
    for (int i = 0; i < TP_EVENT_COUNT; i++) {
        assert_true(strlen(tp_event_name((tp_event)i)) > 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tp_event_name((tp_event)i), tp_event_name((tp_event)k));
    }
}
