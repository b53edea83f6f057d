/* See reports.h. Handler threads run here: memory may run out. */
#include "cli.h"

#include "reports.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

/* ---- Progress ------------------------------------------------------------------------------------------ */

/* Control characters become blanks; the library cleans what is no UTF-8. */
static void take_line(struct reports *reports) {
    char *at = reports->line;
    char *after = at;
    long percent = -1;

    for (size_t i = 0; i < reports->used; i++)
        if ((unsigned char)at[i] < 0x20 || at[i] == 0x7f) at[i] = ' ';
    at[reports->used] = '\0';
    reports->used = 0;
    if (isdigit((unsigned char)*at)) percent = strtol(at, &after, 10);
    if (*after == '%') after++;
    if (after == at || (*after && *after != ' ')) {
        percent = -1;
        after = at;
    }
    while (*after == ' ')
        after++;
    if (percent < 0 && !*after) return;
    reports->progress(reports->arg, percent > 100 ? 100 : (int)percent, after);
}

void reports_take_progress(struct reports *reports, const char *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (data[i] == '\n')
            take_line(reports);
        else if (reports->used < sizeof reports->line - 1)
            reports->line[reports->used++] = data[i];
    }
}

/* ---- The result ---------------------------------------------------------------------------------------- */

static bool make_room(struct reports *reports, size_t size) {
    size_t room = reports->room ? reports->room : 4096;
    char *more;

    while (room < size)
        room *= 2;
    if (room == reports->room) return true;
    more = realloc(reports->result, room);
    if (!more) return false;
    reports->result = more;
    reports->room = room;
    return true;
}

void reports_take_result(struct reports *reports, const char *data, size_t length) {
    size_t left = TP_PARAMS_MAX - reports->length;

    if (reports->cut) return;
    reports->cut = length > left;
    if (reports->cut) length = left;
    if (!make_room(reports, reports->length + length + 1)) {
        reports->cut = true;
        return;
    }
    memcpy(reports->result + reports->length, data, length);
    reports->length += length;
}

/* A character that the end cut off is dropped. */
static void drop_part(struct reports *reports) {
    size_t start = reports->length;

    while (start > 0 && reports->length - start < 4) {
        ucs4_t c;

        start--;
        if (((unsigned char)reports->result[start] & 0xC0) == 0x80) continue;
        if (u8_mbtoucr(&c, (const uint8_t *)reports->result + start, reports->length - start) == -2)
            reports->length = start;
        return;
    }
}

/* What cannot be stored becomes question marks. */
static void clean(char *text, size_t length) {
    uint8_t *at = (uint8_t *)text, *end = at + length;
    const uint8_t *bad;

    for (size_t i = 0; i < length; i++)
        if (!text[i]) text[i] = '?';
    while ((bad = u8_check(at, (size_t)(end - at))) != NULL) {
        at += bad - at;
        *at++ = '?';
    }
}

char *reports_result(struct reports *reports) {
    char *result = reports->result;

    if (!result) return NULL;
    drop_part(reports);
    clean(result, reports->length);
    while (reports->length && strchr("\r\n", result[reports->length - 1]))
        reports->length--;
    result[reports->length] = '\0';
    reports->result = NULL;
    if (*result) return result;
    free(result);
    return NULL;
}
