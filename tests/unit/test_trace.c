/* TP_TRACE: what is named is traced, in one line each; what is not named is silent. The list is read once in
 * a process, so each case runs in a child of its own. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/trace.h"
#include "support/test.h"

static void trace_all(void) {
    tpi_trace(TPI_TRACE_CALLS, "one call");
    tpi_trace(TPI_TRACE_STATEMENTS, "statement %d", 2);
    tpi_trace(TPI_TRACE_WORKER, "%s", "three\nfour\x1b[m");
}

/* What a process with this TP_TRACE writes to stderr. */
static void run(const char *list, char *out, size_t size) {
    int ends[2], exit_status = 0;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (list ? setenv("TP_TRACE", list, 1) : unsetenv("TP_TRACE")) _exit(2);
        if (dup2(ends[1], STDERR_FILENO) < 0) _exit(3);
        trace_all();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], out + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    out[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_int_equal(exit_status, 0);
}

static void check(const char *list, bool calls, bool statements, bool worker) {
    char out[1024];
    int lines = 0;
    run(list, out, sizeof out);
    for (const char *at = out; *at; at++)
        lines += *at == '\n';
    assert_int_equal(strstr(out, " calls one call\n") != NULL, calls);
    assert_int_equal(strstr(out, " statements statement 2\n") != NULL, statements);
    assert_int_equal(strstr(out, " worker three four [m\n") != NULL, worker);
    assert_int_equal(lines, calls + statements + worker);
}

TEST(test_trace__is_silent_unless_asked_for) {
    check(NULL, false, false, false);
    check("", false, false, false);
}

TEST(test_trace__each_name_turns_on_its_own_part) {
    check("calls", true, false, false);
    check("statements", false, true, false);
    check("worker", false, false, true);
}

TEST(test_trace__names_can_be_listed) {
    check("worker,calls", true, false, true);
    check("calls,statements,worker", true, true, true);
    check("all", true, true, true);
    check("nothing,all", true, true, true);
}

TEST(test_trace__only_whole_names_count) {
    check("call", false, false, false);
    check("callsx,xworker", false, false, false);
    check("calls2,worker", false, false, true);
}
