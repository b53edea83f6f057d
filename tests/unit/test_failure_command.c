/* The command that is shown with a group of failures. */
#include <stdlib.h>
#include <string.h>

#include "common/pool_columns.h"
#include "support/test.h"

/* Whoever pastes it does nothing again that is done, or may have been, without being told. */
TEST(test_failure_command__knows_what_was_done_and_what_may_have_been) {
    static const struct {
        const char *reason, *command, *warning;
    } cases[] = {
        {"done, but the database refuses to store that: #",
         "taskpool skip --handler pay --reason-like='done, but the database refuses to store that: #' --pool "
         "failed",
         "a retry would do it again"},
        {"lease lapsed, held by #", "taskpool retry --handler pay --reason-like='lease lapsed, held by #'",
         "ask the other side first"},
        {"earlier: lease lapsed, held by #",
         "taskpool retry --handler pay --reason-like='earlier: lease lapsed, held by #'",
         "ask the other side first"},
        {"done, but not booked", "taskpool retry --handler pay --reason-like='done, but not booked'", NULL},
        {"not done, but", "taskpool retry --handler pay --reason-like='not done, but'", NULL},
        {"", "taskpool retry --handler pay --reason-like=''", NULL},
    };
    tp_list_request all = TP_LIST_INIT;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tp_failure failure = {.handler = "pay", .reason_like = cases[i].reason};
        char *command = failure_command(&failure, &all);
        const char *warning = failure_shown(&failure, command).warning;

        assert_string_equal(command, cases[i].command);
        assert_int_equal(warning != NULL, cases[i].warning != NULL);
        if (warning) assert_non_null(strstr(warning, cases[i].warning));
        free(command);
    }
}
