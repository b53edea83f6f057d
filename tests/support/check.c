/* Checks with messages that contain the library's last error. See check.h. */
#include "support/check.h"

#include <inttypes.h>
#include <string.h>

int64_t deadline_ms(void) {
    return tpi_clock_mono_ms() + 300000;
}

void check_status(tp_status expected, tp_status got, const char *call, const char *file, int line) {
    if (got == expected) return;
    const tp_error *error = tp_last_error();
    print_error("%s\n  answered %s, not %s\n", call, tp_status_name(got), tp_status_name(expected));
    if (got < TP_OK) print_error("  %s (%s)\n", error->text, error->statement);
    _fail(file, line);
}

void check_may_retry(tp_status got, const char *call, const char *file, int line) {
    if (got < TP_OK && tp_status_may_retry(got)) return;
    print_error("%s\n  answered %s, which is no failure that may pass: %s\n", call, tp_status_name(got),
                tp_last_error()->text);
    _fail(file, line);
}

void check_text(const char *words, const char *file, int line) {
    const char *text = tp_last_error()->text;
    if (strstr(text, words)) return;
    print_error("the error's text does not hold \"%s\": %s\n", words, text);
    _fail(file, line);
}

void check_number(int64_t got, int64_t wanted, const char *what, const char *file, int line) {
    if (got == wanted) return;
    print_error("%s is %" PRId64 ", not %" PRId64 "\n", what, got, wanted);
    _fail(file, line);
}
