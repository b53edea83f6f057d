/* Escapes control characters and bytes that are not UTF-8. See escape.h. */
#include "escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

/* Anything that would move the cursor or change the order of what follows. */
static bool is_harmful(ucs4_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* In JSON, what is no text can only be replaced. */
static void escape_byte(unsigned char byte, bool json, char shown[8]) {
    if (json)
        snprintf(shown, 8, "\\ufffd");
    else
        snprintf(shown, 8, "\\x%02x", (unsigned)byte);
}

/* At most 6 bytes and a NUL. */
static void escape_one(ucs4_t c, bool json, char shown[8]) {
    static const char letters[] = "\nn\tt\rr";
    const char *letter = c && c < 0x80 ? strchr(letters, (int)c) : NULL;

    if (!json && letter && c < 0x20)
        snprintf(shown, 8, "\\%c", letter[1]);
    else if (!json && c < 0x100)
        snprintf(shown, 8, "\\x%02x", (unsigned)c);
    else
        snprintf(shown, 8, "\\u%04x", (unsigned)(c & 0xffff));
}

static char *escape(const char *text, bool json) {
    size_t left = strlen(text);
    char *shown = malloc(left * 6 + 1);
    size_t used = 0;

    while (shown && left) {
        ucs4_t c = 0;
        int length = u8_mbtoucr(&c, (const uint8_t *)text, left);
        char escaped[8];
        size_t step = length > 0 ? (size_t)length : 1;

        if (length <= 0)
            escape_byte((unsigned char)*text, json, escaped);
        else if (is_harmful(c))
            escape_one(c, json, escaped);
        if (length <= 0 || is_harmful(c)) {
            memcpy(shown + used, escaped, strlen(escaped));
            used += strlen(escaped);
        } else {
            memcpy(shown + used, text, step);
            used += step;
        }
        text += step;
        left -= step;
    }
    if (shown) shown[used] = '\0';
    return shown;
}

char *escape_text(const char *text) {
    return escape(text, false);
}

char *escape_json(const char *text) {
    return escape(text, true);
}
