/* The part of the programs that speaks to people, for targets that run code of theirs: what it says is kept.
 */
#include "fuzz_cli.h"

#include <stdarg.h>

#include "common/terminal.h"
#include "fuzz.h"

char fuzz_said[65536];

static void keep(const char *format, va_list args) {
    size_t used = strlen(fuzz_said);
    vsnprintf(fuzz_said + used, sizeof fuzz_said - used, format, args);
}

enum cli_exit cli_fail(enum cli_exit code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep(format, args);
    va_end(args);
    return code;
}

void cli_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep(format, args);
    va_end(args);
}

void out_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep(format, args);
    va_end(args);
}

void err_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep(format, args);
    va_end(args);
}

/* There is no terminal. */
int terminal_width(void) {
    return 0;
}

void out_bytes(const char *text, size_t length) {
    cli_warn("%.*s", (int)length, text);
}

enum cli_exit cli_fail_tp(tp_status status) {
    return cli_fail(status < 0 ? EXIT_DATABASE : EXIT_DONE, "%s", tp_last_error()->text);
}

void *cli_must(void *ptr) {
    require(ptr != NULL);
    return ptr;
}
