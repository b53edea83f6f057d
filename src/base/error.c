/* Formats and keeps the last error of each thread. See error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static _Thread_local char last_text[1024];
static _Thread_local tp_error last;
static _Thread_local int last_class;

/* A cut in mid-character leaves at most three bytes too many. */
static void drop_broken_end(char *text) {
    size_t length = strlen(text);
    for (int i = 0; i < 3 && length && !tpi_utf8_valid(text, length); i++)
        text[--length] = '\0';
}

/* An argument may be the last text itself, so the new one is made beside it. */
static void note(tp_status status, const char *format, va_list args) {
    char text[sizeof last_text];
    vsnprintf(text, sizeof text, format, args);
    memcpy(last_text, text, sizeof last_text);
    drop_broken_end(last_text);
    tpi_utf8_tame(last_text);
    last = (tp_error){.status = status, .statement = "", .text = last_text};
    last_class = 0;
}

tp_status tpi_error(tp_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(status, format, args);
    va_end(args);
    return status;
}

tp_status tpi_error_db(tp_status status, const char *sqlstate, int32_t native, const char *statement,
                       const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(status, format, args);
    va_end(args);
    snprintf(last.sqlstate, sizeof last.sqlstate, "%s", sqlstate);
    last.native = native;
    last.statement = statement ? statement : "";
    return status;
}

void tpi_error_set_class(int class) {
    last_class = class;
}

int tpi_error_class(void) {
    return last_class;
}

const tp_error *tp_last_error(void) {
    if (!last.text) last = (tp_error){.statement = "", .text = ""};
    return &last;
}

struct tpi_kept_error tpi_error_keep(void) {
    struct tpi_kept_error kept = {.error = *tp_last_error(), .class = last_class};
    memcpy(kept.text, last_text, sizeof kept.text);
    return kept;
}

void tpi_error_restore(const struct tpi_kept_error *kept) {
    memcpy(last_text, kept->text, sizeof last_text);
    last = kept->error;
    last_class = kept->class;
}
