/* See messages.h. Has the one table from the library's answers to exit codes. */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "escape.h"
#include "out.h"
#include "progress.h"
#include "stream.h"
#include "terminal.h"

/* A process started without 0, 1 or 2 would take a database's socket for its output. What stands in for them
 * opens the wrong way round, so that using it fails and is reported. */
static void open_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What other programs of the same user, handlers among them, must not read: memory, environment and open
 * files hold the connection string. There is no core file either. */
static void protect_memory(void) {
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void cli_begin(void) {
    protect_memory();
    open_standard_files();
    /* A broken pipe is an error code here: a handler that does not read, a database that went away. */
    (void)signal(SIGPIPE, SIG_IGN);
}

enum cli_exit cli_exit_of(tp_status status) {
    switch (status) {
    case TP_OK:
    case TP_EXISTS:
    case TP_EXHAUSTED:
        return EXIT_DONE;
    case TP_NONE:
        return EXIT_NOTHING;
    case TP_REQUESTED:
        return EXIT_REQUESTED;
    case TP_STALE:
        return EXIT_BAD;
    case TP_MISUSE:
        return EXIT_USAGE;
    case TP_TOOBIG:
        return EXIT_INPUT;
    case TP_DISCONNECTED:
        return EXIT_UNREACHABLE;
    case TP_SCHEMA:
        return EXIT_SCHEMA;
    case TP_NOMEM:
        return EXIT_INTERNAL;
    case TP_LOST:
    case TP_CONFLICT:
    case TP_TIMEOUT:
    case TP_UNSUPPORTED:
    case TP_DB:
    case TP_UNWRITABLE:
    default:
        return EXIT_DATABASE;
    }
}

static cli_exit_fn translate;
static char last_failure[512];           /* kept only for it */
static void (*teller)(const char *text); /* NULL: they are lines of standard error */

void cli_tell_by(void (*write)(const char *text)) {
    teller = write;
}

static void print_message(const char *format, va_list args) {
    char text[2048];
    char *shown;

    vsnprintf(text, sizeof text, format, args);
    if (teller) {
        teller(text);
        return;
    }
    shown = escape_text(text);
    progress_hide();
    if (pager_is_on()) (void)out_flush(); /* both go to the pager, in their order */
    err_text("taskpool: %s\n", shown ? shown : text);
    free(shown);
}

enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_message(format, args);
    va_end(args);
    va_start(args, format);
    if (translate) vsnprintf(last_failure, sizeof last_failure, format, args);
    va_end(args);
    return code;
}

void cli_warn(const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_message(format, args);
    va_end(args);
}

enum cli_exit cli_fail_tp(tp_status status) {
    const char *text = tp_last_error()->text;

    return cli_fail(cli_exit_of(status), "%s", text && *text ? text : tp_status_text(status));
}

void *cli_must(void *ptr) {
    int ignored;

    if (!ptr) {
        err_text("taskpool: out of memory\n");
        (void)stream_end(STDERR_FILENO, &ignored);
        exit(EXIT_INTERNAL);
    }
    return ptr;
}

enum cli_exit cli_finish(enum cli_exit code) {
    int error, ignored;
    long long left = stream_end(STDOUT_FILENO, &error);

    if (!error) error = out_flush();
    if (left)
        code =
            cli_fail(EXIT_IO, "%lld lines of the output could not be written, because nobody read it", left);
    else if (error && error != EPIPE)
        code = cli_fail(EXIT_IO, "cannot write the output: %s", strerror(error));
    (void)stream_end(STDERR_FILENO, &ignored);
    pager_end();
    return code;
}

void cli_exit_by(cli_exit_fn given) {
    translate = given;
}

NO_RETURN void cli_end(enum cli_exit code) {
    int number = translate ? translate(code, last_failure) : (int)code;
    enum cli_exit finished = cli_finish(code);

    exit(finished == code ? number : (int)finished);
}
