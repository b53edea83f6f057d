/* Splits the output of a handler program into lines and keeps the last one. See lines.h. */
#include "cli.h"

#include "lines.h"

#include <string.h>
#include <unistr.h>

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r\n", text[i]) || text[i] == '\0') return false;
    return true;
}

static void flush_text(struct lines *lines, bool whole) {
    if (!lines->cut && !is_blank(lines->text, lines->used)) {
        lines->last_length = lines->used < TP_REASON_MAX ? lines->used : TP_REASON_MAX;
        memcpy(lines->last, lines->text, lines->last_length);
    }
    lines->write(lines->text, lines->used);
    lines->used = 0;
    lines->cut = !whole;
}

/* A line longer than the buffer is passed on in parts. */
static void take_byte(struct lines *lines, char byte) {
    lines->text[lines->used++] = byte;
    if (byte == '\n' || lines->used == sizeof lines->text - 1) flush_text(lines, byte == '\n');
}

void lines_take(struct lines *lines, const char *data, size_t length) {
    for (size_t i = 0; i < length; i++)
        take_byte(lines, data[i]);
}

void lines_end(struct lines *lines) {
    if (lines->used || lines->cut) take_byte(lines, '\n');
}

/* A character that the end cut off is dropped. */
static size_t whole_characters(const char *text, size_t length) {
    size_t start = length;

    while (start > 0 && length - start < 4) {
        ucs4_t c;

        start--;
        if (((unsigned char)text[start] & 0xC0) == 0x80) continue;
        return u8_mbtoucr(&c, (const uint8_t *)text + start, length - start) == -2 ? start : length;
    }
    return length;
}

const char *lines_last(struct lines *lines) {
    size_t length = whole_characters(lines->last, lines->last_length);
    const uint8_t *bad;

    lines->last[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)lines->last[i] < 0x20 || lines->last[i] == 0x7f) lines->last[i] = ' ';
    while ((bad = u8_check((const uint8_t *)lines->last, length)) != NULL)
        lines->last[bad - (const uint8_t *)lines->last] = '?';
    while (length && lines->last[length - 1] == ' ')
        lines->last[--length] = '\0';
    return lines->last;
}
