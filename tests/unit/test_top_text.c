/* What top says of a backlog: when it is empty, who stands still, and that all of it fits into 80 columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top_text.h"
#include "common/messages.h"
#include "support/test.h"

/* As the program has it. */
void *cli_must(void *ptr) {
    if (!ptr) abort();
    return ptr;
}

static char lines[TOP_LINES][TOP_LINE_SIZE];

static void say(struct handler_figures *handlers, size_t count) {
    struct figures figures = {.now = 1000000000, .handlers = handlers, .handler_count = count};

    top_summary(&figures, lines);
    for (int i = 0; i < TOP_LINES; i++)
        if (strlen(lines[i]) > 80) fail_msg("%zu columns: %s", strlen(lines[i]), lines[i]);
}

static void ends(const char *line, const char *wanted) {
    if (strlen(line) < strlen(wanted) || strcmp(line + strlen(line) - strlen(wanted), wanted) != 0)
        fail_msg("\"%s\" does not end with \"%s\"", line, wanted);
}

TEST(test_top__tasks_that_wait_at_gates_and_for_groups_are_counted) {
    struct figures figures = {.now = 1000000000, .at_gates = 1234};

    top_summary(&figures, lines);
    assert_string_equal(lines[4], "at gates: 1234 wait");
    figures.after_groups = 7;
    top_summary(&figures, lines);
    assert_string_equal(lines[4], "at gates: 1234 wait; after groups: 7 wait");
    figures.at_gates = 0;
    top_summary(&figures, lines);
    assert_string_equal(lines[4], "after groups: 7 wait");
}

TEST(test_top__the_backlog_is_empty_when_each_handlers_is) {
    struct handler_figures handlers[] = {
        {.name = "fast", .pending = 100, .due = 100, .due_since = 1, .finished = 100},
        {.name = "slow", .pending = 10, .due = 10, .due_since = 1, .finished = 2},
    };

    say(handlers, 2);
    ends(lines[1], "backlog empty in 5m 0s");
    assert_string_equal(lines[4], "");
}

TEST(test_top__a_handler_that_nobody_works_at_is_named) {
    struct handler_figures handlers[] = {
        {.name = "fast", .pending = 100, .due = 100, .due_since = 1, .finished = 50, .gave_up = 50},
        {.name = "nobody", .pending = 9, .due = 9, .due_since = 1},
        {.name = "paused", .pending = 5, .due = 5, .due_since = 1, .paused_since = 1, .enqueued = 7000},
    };

    say(handlers, 3);
    ends(lines[1], "backlog does not shrink");
    assert_string_equal(lines[4], "does not shrink: nobody; the others empty in 1m 0s; paused: 5 due");
    handlers[1].finished = 9;
    say(handlers, 3);
    ends(lines[1], "backlog empty in 1m 0s");
    assert_string_equal(lines[4], "paused: 5 due");
}

TEST(test_top__what_a_lapsed_lease_holds_is_due_and_not_in_hand) {
    struct handler_figures handler = {.name = "x", .handling = 7, .lapsed = 5, .due = 5, .due_since = 1};

    say(&handler, 1);
    assert_non_null(strstr(lines[0], "open 7  due 5"));
    assert_non_null(strstr(lines[0], "  in hand 2  "));
}

TEST(test_top__large_figures_fit_into_80_columns) {
    struct handler_figures handlers[3];

    for (int i = 0; i < 3; i++)
        handlers[i] = (struct handler_figures){.pending = 33333,
                                               .handling = 33333,
                                               .retrying = 33333,
                                               .failed = 33333,
                                               .due = 99999,
                                               .due_since = 1000000000 - 86300000,
                                               .enqueued = i == 1 ? 0 : 200000,
                                               .finished = i == 1 ? 70 : 199999,
                                               .gave_up = i == 1 ? 0 : 1};
    for (int i = 0; i < 3; i++)
        snprintf(handlers[i].name, sizeof handlers[i].name, "settlement-of-%d", i);
    say(handlers, 3);
    handlers[2].paused_since = 1;
    say(handlers, 3);
}
