/* Messages for people, the one table from the library's answers to exit codes, and the program's end: was all
 * of the output written? */
#include "messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "out.h"
#include "progress.h"
#include "stream.h"

enum cli_exit cli_exit_of(tp_status status) {
    switch (status) {
    case TP_OK:
    case TP_EXISTS:
    case TP_EXHAUSTED:
        return EXIT_DONE;
    case TP_NONE:
        return EXIT_NOTHING;
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

static void say(const char *format, va_list args) {
    char text[2048];
    char *shown;

    vsnprintf(text, sizeof text, format, args);
    shown = escape_text(text);
    progress_hide();
    err_text("taskpool: %s\n", shown ? shown : text);
    free(shown);
}

enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) {
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return code;
}

void cli_warn(const char *format, ...) {
    va_list args;

    va_start(args, format);
    say(format, args);
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
    return code;
}
