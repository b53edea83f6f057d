/* See out.h. The first failure of standard output is remembered, and reported once at the end. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

static int out_error; /* errno of the first failure; guarded by stdout's lock */

/* With the lock held, errno 0 before the write. A stream that buffers lines counts as written what it could
 * not flush, so its own error flag is checked, too. */
static void note_failure(bool failed) {
    if (!out_error && (failed || ferror(stdout))) out_error = errno ? errno : EIO;
}

void out_bytes(const char *text, size_t length) {
    if (stream_put(STDOUT_FILENO, text, length)) return;
    flockfile(stdout);
    errno = 0;
    if (!out_error && length) note_failure(fwrite(text, 1, length, stdout) != length);
    funlockfile(stdout);
}

/* Writes by write what printf would. Without memory a long text is cut. */
static void put_formatted(void (*write)(const char *text, size_t length), const char *format, va_list args) {
    char small[2048];
    va_list again;
    int length;
    char *text;

    va_copy(again, args);
    length = vsnprintf(small, sizeof small, format, again);
    va_end(again);
    if (length < 0) return;
    text = (size_t)length < sizeof small ? NULL : malloc((size_t)length + 1);
    if (text) (void)vsnprintf(text, (size_t)length + 1, format, args);
    write(text ? text : small, text ? (size_t)length : strlen(small));
    free(text);
}

void out_text(const char *format, ...) {
    va_list args;

    va_start(args, format);
    put_formatted(out_bytes, format, args);
    va_end(args);
}

void err_bytes(const char *text, size_t length) {
    if (!stream_put(STDERR_FILENO, text, length)) (void)fwrite(text, 1, length, stderr);
}

void err_text(const char *format, ...) {
    va_list args;

    va_start(args, format);
    put_formatted(err_bytes, format, args);
    va_end(args);
}

bool out_failed(void) {
    bool failed;

    flockfile(stdout);
    failed = out_error != 0;
    funlockfile(stdout);
    return failed;
}

int out_flush(void) {
    int error;

    flockfile(stdout);
    errno = 0;
    if (!out_error) note_failure(fflush(stdout) != 0);
    error = out_error;
    funlockfile(stdout);
    return error;
}
