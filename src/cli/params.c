/* Reads and checks the parameters of a task. See params.h. */
#include "cli.h"

#include "params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unistr.h>

/* Exact until it is longer than allowed; then one byte more than that. */
static char *read_params(size_t *length) {
    size_t room = TP_PARAMS_MAX + 2;
    char *text = cli_must(malloc(room));

    *length = 0;
    while (*length < room - 1) {
        ssize_t got = read(STDIN_FILENO, text + *length, room - 1 - *length);

        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            (void)cli_fail(EXIT_IO, "cannot read standard input: %s", strerror(errno));
            free(text);
            return NULL;
        }
        if (got == 0) break;
        *length += (size_t)got;
    }
    text[*length] = '\0';
    return text;
}

static bool check_params(const char *text, size_t length, enum cli_exit *code) {
    if (length > TP_PARAMS_MAX)
        *code =
            cli_fail(EXIT_INPUT, "params are longer than %d bytes; store the data elsewhere and pass its key",
                     TP_PARAMS_MAX);
    else if (memchr(text, '\0', length))
        *code = cli_fail(EXIT_INPUT, "params have a NUL byte; text only, encode binary data (base64)");
    else if (u8_check((const uint8_t *)text, length))
        *code =
            cli_fail(EXIT_INPUT, "params are not valid UTF-8; convert them (iconv) or encode them (base64)");
    else
        return true;
    return false;
}

char *params_get(const char *arg, enum cli_exit *code) {
    char *text;
    size_t length;

    *code = EXIT_IO;
    if (arg && strcmp(arg, "-") == 0) {
        text = read_params(&length);
    } else {
        text = cli_must(strdup(arg ? arg : ""));
        length = strlen(text);
    }
    if (!text || check_params(text, length, code)) return text;
    free(text);
    return NULL;
}
