/* Starts child processes and talks to them over pipes. See child.h. */
#include "support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

enum { ARGUMENTS = 12 };

static void become(const char **arguments, int in, int out) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
    _exit(127);
}

struct child child_start(const char *role, ...) {
    const char *arguments[ARGUMENTS] = {"conformance", "--child", role};
    int count = 3, down[2], up[2];
    va_list list;
    va_start(list, role);
    while (count < ARGUMENTS - 1 && (arguments[count] = va_arg(list, const char *)))
        count++;
    va_end(list);
    sure(pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0, "no pipe for a child");
    fflush(NULL);
    pid_t pid = fork();
    sure(pid >= 0, "no process for a child");
    if (pid == 0) become(arguments, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    return (struct child){.pid = pid, .to = fdopen(down[1], "w"), .from = fdopen(up[0], "r")};
}

bool child_listen(struct child *child, char line[CHILD_LINE]) {
    if (!fgets(line, CHILD_LINE, child->from)) return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

void child_expect(struct child *child, const char *expected) {
    char line[CHILD_LINE] = "(it has ended)";
    child_listen(child, line);
    if (strcmp(line, expected) == 0) return;
    print_error("a child said '%s', not '%s'\n", line, expected);
    fail();
}

void child_go(struct child *child) {
    fputs("go\n", child->to);
    fflush(child->to);
}

static int gone(struct child *child) {
    int how = 0;
    fclose(child->to);
    waitpid(child->pid, &how, 0);
    fclose(child->from);
    *child = (struct child){0};
    return how;
}

void child_kill(struct child *child) {
    kill(child->pid, SIGKILL);
    int how = gone(child);
    sure(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL, "the child ended before it was killed");
}

void child_end(struct child *child) {
    int how = gone(child);
    sure(WIFEXITED(how) && WEXITSTATUS(how) == 0, "a child ended badly (wait status %d)", how);
}

int child_status(struct child *child) {
    int how = gone(child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

void child_say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}

void child_wait_for_go(void) {
    char line[CHILD_LINE];
    if (!fgets(line, sizeof line, stdin)) _exit(0);
}
