/* See utf8.h. The ranges of the second byte are those of the Unicode standard's table of well-formed
 * sequences. */
#include "base/utf8.h"

#include <string.h>

struct lead {
    unsigned char first, last; /* range of the lead byte */
    unsigned char low, high;   /* range of the second byte */
    unsigned char length;
};

static const struct lead leads[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Length of the character at text, 0 when it is malformed or cut off. */
static size_t character(const unsigned char *text, size_t left) {
    if (text[0] < 0x80) return 1;
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        const struct lead *lead = &leads[i];
        if (text[0] < lead->first || text[0] > lead->last) continue;
        if (left < lead->length || text[1] < lead->low || text[1] > lead->high) return 0;
        for (size_t k = 2; k < lead->length; k++)
            if ((text[k] & 0xc0) != 0x80) return 0;
        return lead->length;
    }
    return 0;
}

bool tpi_utf8_valid(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    while (length) {
        size_t step = *at < 0x80 ? 1 : character(at, length);
        if (!step) return false;
        at += step;
        length -= step;
    }
    return true;
}

size_t tpi_utf8_cut(const char *text, size_t length, size_t limit) {
    if (length <= limit) return length;
    while (limit && ((unsigned char)text[limit] & 0xc0) == 0x80)
        limit--;
    return limit;
}

void tpi_utf8_copy(const char *text, char *out, size_t size) {
    size_t left = strlen(text), used = 0;
    while (left) {
        size_t step = character((const unsigned char *)text, left);
        size_t width = step ? step : 1;
        if (used + width >= size) break;
        if (step && (unsigned char)*text >= 0x20)
            memcpy(out + used, text, step);
        else
            out[used] = '?';
        used += width;
        text += width;
        left -= width;
    }
    out[used] = '\0';
}

void tpi_utf8_tame(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        if (*at < 0x20 || *at == 0x7f) *at = ' ';
        if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) at[0] = at[1] = ' ';
    }
}
