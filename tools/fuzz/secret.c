/* A text that quotes the password: neither it nor its form in a connection string is in what is left of it,
 * and what is left is no longer than it was. */
#include "odbc/secret.h"

#include "fuzz.h"

/* As a connection string has it in braces. */
static char *in_braces(const char *secret) {
    struct tpi_buf out = {0};
    tpi_buf_text(&out, "");
    for (; *secret; secret++) {
        if (*secret == '}') tpi_buf_char(&out, '}');
        tpi_buf_char(&out, *secret);
    }
    require(!out.failed);
    return out.data;
}

/* Each # becomes the password, each ~ the form in braces. */
static char *quote(const char *text, const char *secret, const char *written) {
    struct tpi_buf whole = {0};
    tpi_buf_text(&whole, "");
    for (; *text; text++) {
        if (*text == '#' || *text == '~')
            tpi_buf_text(&whole, *text == '#' ? secret : written);
        else
            tpi_buf_char(&whole, *text);
    }
    require(!whole.failed);
    return whole.data;
}

/* Short ones are hidden where they stand alone only; one with stars looks like what hides it. */
static bool is_telling(const char *secret) {
    return strlen(secret) >= 4 && !strchr(secret, '*');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const keys[] = {"PWD", "Password", "sslpassword", "UID"};
    struct fuzz fuzz = {data, size};
    size_t key = fuzz_byte(&fuzz) % 4;
    char *secret = fuzz_text(&fuzz, '\n'), *written = in_braces(secret), *pattern = fuzz_rest(&fuzz);
    char *text = quote(pattern, secret, written);
    struct tpi_pair pairs[] = {{(char *)"Driver", (char *)"x", false}, {(char *)keys[key], secret, false}};
    struct tpi_connstr given = {pairs, 2};
    size_t length = strlen(text);
    tpi_secret_hide(key == 3 ? NULL : &given, text);
    require(strlen(text) <= length);
    require(tpi_secret_key(keys[key]) == (key != 3));
    if (key != 3 && is_telling(secret)) require(!strstr(text, secret) && !strstr(text, written));
    free(secret);
    free(written);
    free(pattern);
    free(text);
    return 0;
}
