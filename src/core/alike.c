/* See alike.h. Bytes are read one by one: what is replaced is ASCII, or a whole character of UTF-8. */
#include "core/alike.h"

#include <ctype.h>
#include <string.h>

enum { UUID_LENGTH = 36, HEX_WORD = 8 };

static bool is_word(char c) {
    return isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* How many bytes of a UUID begin here; 0: none does. */
static size_t uuid_length(const char *at) {
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? at[i] != '-' : !isxdigit((unsigned char)at[i])) return 0;
    }
    return is_word(at[UUID_LENGTH]) ? 0 : UUID_LENGTH;
}

/* The same of a long hexadecimal word with a digit. */
static size_t hex_length(const char *at) {
    size_t length = strspn(at, "0123456789abcdefABCDEF");
    bool digits = strcspn(at, "0123456789") < length;
    return length >= HEX_WORD && digits && !is_word(at[length]) ? length : 0;
}

/* Of a control character, or one that changes the order of what follows. */
static size_t control_length(const char *at) {
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x20 || c[0] == 0x7f) return 1;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) return 2;
    bool general = c[0] == 0xe2 && (c[1] == 0x80 || c[1] == 0x81) && c[2];
    bool mark = general && c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae));
    bool isolate = general && c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
    return mark || isolate || (c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf) ? 3 : 0;
}

/* How many bytes here are replaced; 0: this byte stays. first: a word begins here. */
static size_t replaced(const char *at, bool first) {
    size_t length = first ? uuid_length(at) : 0;
    if (!length && first) length = hex_length(at);
    if (!length) length = strspn(at, "0123456789#");
    return length ? length : control_length(at);
}

/* What became of a program, by a number that says what was wrong. */
static bool is_end_of_program(const char *reason) {
    static const char *const ends[] = {"exit code ", "killed by signal "};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(ends[i]);
        if (strncmp(reason, ends[i], length) != 0) continue;
        size_t digits = strspn(reason + length, "0123456789");
        return digits > 0 && digits <= 3 && !reason[length + digits];
    }
    return false;
}

void tpi_alike(const char *reason, char out[TPI_ALIKE_SIZE]) {
    size_t used = 0, length;
    bool first = true;
    if (is_end_of_program(reason)) {
        memcpy(out, reason, strlen(reason) + 1);
        return;
    }
    for (const char *at = reason; *at && used + 1 < TPI_ALIKE_SIZE; at += length) {
        length = replaced(at, first);
        first = length ? true : !is_word(*at);
        if (length && !(used && out[used - 1] == '#'))
            out[used++] = '#';
        else if (!length)
            out[used++] = *at;
        length += !length;
    }
    if (!used) out[used++] = '-';
    out[used] = '\0';
}

bool tpi_is_alike(const char *reason, const char *alike) {
    char own[TPI_ALIKE_SIZE];
    tpi_alike(reason, own);
    return strcmp(own, alike) == 0;
}

void tpi_alike_pattern(const char *alike, char out[TPI_LIKE_SIZE]) {
    bool none = strcmp(alike, "-") == 0;
    for (; *alike; alike++) {
        if (strchr("!%_", *alike)) *out++ = '!';
        *out++ = *alike == '#' || none ? '%' : *alike;
    }
    *out = '\0';
}
