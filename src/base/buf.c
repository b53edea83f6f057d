/* Growth and appending of the byte string in buf.h. */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t tpi_digits(int64_t number, char out[TPI_DIGITS_SIZE]) {
    char backwards[TPI_DIGITS_SIZE];
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    size_t count = 0, length = 0;
    do
        backwards[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) out[length++] = '-';
    while (count)
        out[length++] = backwards[--count];
    out[length] = '\0';
    return length;
}

enum { SAFE_DIGITS = 18 }; /* no overflow */

/* A driver that takes a number for a float writes it with an exponent. */
static int64_t whole_of(const char *text) {
    double number = strtod(text, NULL);
    if (!(number > -9.2e18)) return INT64_MIN;
    return number < 9.2e18 ? (int64_t)number : INT64_MAX;
}

/* The number of the text's first digits, which *end then stands behind. */
static int64_t read_digits(const char *text, const char **end) {
    bool negative = *text == '-';
    const char *at = text + negative;
    int64_t number = 0;
    for (; *at >= '0' && *at <= '9' && at - text < SAFE_DIGITS; at++)
        number = number * 10 + (*at - '0');
    *end = at;
    return negative ? -number : number;
}

int64_t tpi_number(const char *text) {
    const char *end;
    int64_t number = read_digits(text, &end);
    if (*end == '\0') return number;
    return end > text && strpbrk(end, "eE") ? whole_of(text) : strtoll(text, NULL, 10);
}

bool tpi_number_exact(const char *text, int64_t *number) {
    char *end = NULL;
    const char *digits_end;
    *number = read_digits(text, &digits_end);
    if (*digits_end == '\0' && digits_end > text && digits_end[-1] != '-') return true;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

void tpi_buf_free(struct tpi_buf *buf) {
    free(buf->data);
    *buf = (struct tpi_buf){0};
}

void tpi_wipe(void *memory, size_t size) {
    volatile unsigned char *at = memory;
    while (size--)
        *at++ = 0;
}

void tpi_buf_wipe(struct tpi_buf *buf) {
    if (buf->data) tpi_wipe(buf->data, buf->capacity);
    tpi_buf_free(buf);
}

void tpi_buf_clear(struct tpi_buf *buf) {
    buf->length = 0;
    buf->failed = false;
    if (buf->data) buf->data[0] = '\0';
}

bool tpi_buf_reserve(struct tpi_buf *buf, size_t extra) {
    if (buf->failed) return false;
    if (extra >= SIZE_MAX / 2 - buf->length) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->length + extra + 1;
    if (need <= buf->capacity) return true;
    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void tpi_buf_add(struct tpi_buf *buf, const char *bytes, size_t length) {
    if (!tpi_buf_reserve(buf, length)) return;
    if (length) memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void tpi_buf_text(struct tpi_buf *buf, const char *text) {
    tpi_buf_add(buf, text, strlen(text));
}

void tpi_buf_char(struct tpi_buf *buf, char c) {
    if (!tpi_buf_reserve(buf, 1)) return;
    buf->data[buf->length++] = c;
    buf->data[buf->length] = '\0';
}

void tpi_lower(char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] >= 'A' && text[i] <= 'Z') text[i] = (char)(text[i] + ('a' - 'A'));
}

void tpi_buf_int(struct tpi_buf *buf, int64_t number) {
    char digits[TPI_DIGITS_SIZE];
    tpi_buf_add(buf, digits, tpi_digits(number, digits));
}

static void add_escaped(struct tpi_buf *buf, unsigned char c) {
    char escape[8];
    if (c == '"' || c == '\\') {
        escape[0] = '\\';
        escape[1] = (char)c;
        tpi_buf_add(buf, escape, 2);
    } else {
        int length = snprintf(escape, sizeof escape, "\\u%04x", c);
        tpi_buf_add(buf, escape, (size_t)length);
    }
}

/* The NUL is none. */
static bool is_plain(char c) {
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

void tpi_buf_json(struct tpi_buf *buf, const char *text) {
    tpi_buf_char(buf, '"');
    for (;; text++) {
        const char *plain = text;
        while (is_plain(*text))
            text++;
        tpi_buf_add(buf, plain, (size_t)(text - plain));
        if (!*text) break;
        add_escaped(buf, (unsigned char)*text);
    }
    tpi_buf_char(buf, '"');
}

const char *tpi_buf_str(const struct tpi_buf *buf) {
    if (buf->failed) return NULL;
    return buf->data ? buf->data : "";
}
