/* Standard output and standard error. Of standard output the first failure is kept, and told once at the end.
 */
#include "cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"
#include "table.h"

static int out_error; /* errno of the first failure; guarded by stdout's lock */

/* With the lock held, errno 0 before the write. A stream that buffers lines counts as written what it could
 * not flush, so its own mark is looked at too. */
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

static int flush_out(void) {
    int error;

    flockfile(stdout);
    errno = 0;
    if (!out_error) note_failure(fflush(stdout) != 0);
    error = out_error;
    funlockfile(stdout);
    return error;
}

enum cli_exit out_finish(enum cli_exit code) {
    int error, ignored;
    long long left = stream_end(STDOUT_FILENO, &error);

    if (!error) error = flush_out();
    if (left)
        code =
            cli_fail(EXIT_IO, "%lld lines of the output could not be written, because nobody read it", left);
    else if (error && error != EPIPE)
        code = cli_fail(EXIT_IO, "cannot write the output: %s", strerror(error));
    (void)stream_end(STDERR_FILENO, &ignored);
    return code;
}

void out_json(struct json_object *object) {
    const char *text = cli_must((void *)json_object_to_json_string_ext(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));

    char *shown = cli_must(table_escape_json(text));

    out_text("%s\n", shown);
    free(shown);
    json_object_put(object);
}

void json_put_text(struct json_object *object, const char *name, const char *text) {
    json_object *value = text && *text ? cli_must(json_object_new_string(text)) : NULL;

    json_object_object_add(object, name, value);
}

void json_put_number(struct json_object *object, const char *name, int64_t value) {
    json_object_object_add(object, name, cli_must(json_object_new_int64(value)));
}

void json_put_time(struct json_object *object, const char *name, int64_t ms) {
    if (ms)
        json_put_number(object, name, ms);
    else
        json_object_object_add(object, name, NULL);
}
