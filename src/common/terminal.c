/* See terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "out.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MOST    10000

static struct {
    bool asked, is;
    pid_t pager; /* 0: none */
} terminal;

/* Asked once: later a pager may be in between. */
static bool is_terminal(void) {
    if (!terminal.asked) terminal.is = isatty(STDOUT_FILENO);
    terminal.asked = true;
    return terminal.is;
}

int terminal_width(void) {
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    int given = columns ? (int)strtol(columns, NULL, 10) : 0;

    if (common.json || !is_terminal()) return 0;
    /* Standard input: standard output may be a pager's. */
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    if (size.ws_col > 0) return size.ws_col;
    return given > 0 && given < WIDTH_MOST ? given : WIDTH_DEFAULT;
}

/* ---- Colours ------------------------------------------------------------------------------------------- */

static bool is_coloured(void) {
    const char *off = getenv("NO_COLOR");
    const char *kind = getenv("TERM");

    if (common.json) return false;
    if (common.color && strcmp(common.color, "auto") != 0) return strcmp(common.color, "always") == 0;
    return !(off && *off) && is_terminal() && kind && strcmp(kind, "dumb") != 0;
}

const char *terminal_tone(enum tone tone) {
    static const char *const colours[] = {
#define TONE_BEGIN(id, colour) "\033[" colour "m",
        TONE_LIST(TONE_BEGIN)
#undef TONE_BEGIN
    };

    return tone != TONE_PLAIN && is_coloured() ? colours[tone] : "";
}

const char *terminal_tone_end(enum tone tone) {
    return tone != TONE_PLAIN && is_coloured() ? "\033[0m" : "";
}

/* ---- The pager ----------------------------------------------------------------------------------------- */

/* "": none is wanted. */
static const char *pager_name(void) {
    const char *given = getenv("PAGER");

    if (common.no_pager || common.json || !is_terminal()) return "";
    if (!given) return "less -FRX";
    return strcmp(given, "cat") == 0 ? "" : given;
}

/* In the new process. It gets nothing of what we know: no connection string, and no file of a driver. When it
 * cannot be run, the text is shown as it is. */
NO_RETURN static void run_pager(const char *name, int in) {
    const char *shell[] = {
        "/bin/sh", "-c", "command -v \"${1%% *}\" >/dev/null || exec cat; eval \"exec $1\"",
        "sh",      name, NULL};

    (void)dup2(in, STDIN_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        (void)close(fd);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)unsetenv("TASKPOOL_DSN");
    (void)setenv("LESS", "FRX", 0);
    (void)execv(shell[0], (char **)shell);
    _exit(127);
}

static void take_over(int out, pid_t pager) {
    terminal.pager = pager;
    (void)out_flush();
    (void)dup2(out, STDOUT_FILENO);
    if (isatty(STDERR_FILENO)) (void)dup2(out, STDERR_FILENO);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
}

void pager_start(void) {
    const char *name = pager_name();
    int ends[2];
    pid_t pager;

    if (terminal.pager || !*name || pipe2(ends, O_CLOEXEC) != 0) return;
    pager = fork();
    if (pager == 0) run_pager(name, ends[0]);
    if (pager > 0) take_over(ends[1], pager);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

bool pager_is_on(void) {
    return terminal.pager != 0;
}

/* A pipe that stays open would keep the pager waiting; so its ends here are replaced by what goes nowhere. */
void pager_end(void) {
    int nowhere;

    if (!terminal.pager) return;
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
        (void)close(nowhere);
    }
    while (waitpid(terminal.pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    terminal.pager = 0;
}
