/* A handler program's run as the worker sees it: what it exits with, and what is said when that cannot be
 * known. */
#include <errno.h>
#include <signal.h>

#include "cli/child.h"
#include "support/test.h"

enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) {
    (void)format;
    return code;
}

void *cli_must(void *ptr) {
    assert_non_null(ptr);
    return ptr;
}

static bool never(void *arg, pid_t pid) {
    (void)arg;
    (void)pid;
    return false;
}

static void drop(const char *text, size_t length) {
    (void)text;
    (void)length;
}

static bool always(void) {
    return true;
}

static struct child_result run(const char *path) {
    const tp_task task = {.id = "id", .handler = "h", .owner = "token"};
    const struct child_order order = {.path = path,
                                      .task = &task,
                                      .params = "",
                                      .stop = never,
                                      .write_out = drop,
                                      .write_err = drop,
                                      .takes_out = always,
                                      .takes_err = always};
    struct child_result result;
    child_run(&order, &result);
    return result;
}

TEST(test_child__tells_the_exit_code) {
    struct child_result result = run("/bin/false");
    expect_number(result.end, CHILD_EXITED);
    expect_number(result.code, 1);
    result = run("/bin/true");
    expect_number(result.end, CHILD_EXITED);
    expect_number(result.code, 0);
}

TEST(test_child__that_somebody_else_reaps_is_not_done) {
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR); /* the kernel reaps, as a driver might */
    struct child_result result = run("/bin/false");
    expect_number(result.end, CHILD_UNKNOWN);
    expect_number(result.code, ECHILD);
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

TEST(test_child__that_cannot_start_is_told) {
    struct child_result result = run("/nowhere/at/all");
    expect_number(result.end, CHILD_NO_START);
    expect_number(result.code, ENOENT);
}
