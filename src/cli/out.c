/* Standard output: the first error is kept, and told once at the end. */
#include "cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static int out_error; /* errno of the first failure; guarded by stdout's lock */

/* With the lock held, errno 0 before the write. A stream that buffers lines counts as written what it could
 * not flush, so its own mark is looked at too. */
static void note_failure(bool failed) {
    if (!out_error && (failed || ferror(stdout))) out_error = errno ? errno : EIO;
}

void out_bytes(const char *text, size_t length) {
    flockfile(stdout);
    errno = 0;
    if (!out_error && length) note_failure(fwrite(text, 1, length, stdout) != length);
    funlockfile(stdout);
}

void out_text(const char *format, ...) {
    va_list args;

    va_start(args, format);
    flockfile(stdout);
    errno = 0;
    if (!out_error) note_failure(vprintf(format, args) < 0);
    funlockfile(stdout);
    va_end(args);
}

bool out_failed(void) {
    bool failed;

    flockfile(stdout);
    failed = out_error != 0;
    funlockfile(stdout);
    return failed;
}

enum cli_exit out_finish(enum cli_exit code) {
    int error;

    flockfile(stdout);
    errno = 0;
    if (!out_error) note_failure(fflush(stdout) != 0);
    error = out_error;
    funlockfile(stdout);
    if (error == 0 || error == EPIPE) return code;
    return cli_fail(EXIT_IO, "cannot write the output: %s", strerror(error));
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
