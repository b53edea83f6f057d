/* How a task is shown in a table. */
#include <string.h>
#include <unistr.h>

#include "common/task_columns.h"
#include "support/test.h"

static const char *shown_as(const char *head, const tp_task *task, char text[RECORD_TEXT_SIZE]) {
    const struct column *column = task_columns;

    while (!column->head || strcmp(column->head, head) != 0)
        column++;
    return column_text(column, task, text);
}

/* What a task waits for may be cut, and no character of its name. */
TEST(test_task_columns__cut_what_is_waited_for_at_a_character) {
    char gate[129] = ">", text[RECORD_TEXT_SIZE];

    for (size_t first = 1; first <= 3; first++)
        for (int with_deadline = 0; with_deadline < 2; with_deadline++) {
            tp_task task = {.pool = "pending", .state = "pending", .gate = gate, .due_at = TP_TIME_MAX};

            memset(gate + 1, 'g', first);
            for (size_t at = 1 + first; at + 3 < sizeof gate; at += 3)
                memcpy(gate + at, "\xe5\xae\xa2", 4);
            if (with_deadline) task.deadline_at = 1800000000000;
            const char *shown = shown_as("DUE/SETTLED", &task, text);
            assert_null(u8_check((const uint8_t *)shown, strlen(shown)));
            assert_memory_equal(shown, "after g", 7);
            assert_int_equal(strstr(shown, ", deadline 2027-01-15") != NULL, with_deadline);
        }
}
