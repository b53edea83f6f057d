/* See cells.h. */
#include "cells.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

static const char ellipsis[] = "\xe2\x80\xa6";

int cells_width(const char *text) {
    return u8_strwidth((const uint8_t *)text, "UTF-8");
}

/* How many bytes of text take no more than so many cells. Marks stay with the letter that they belong to. */
static size_t bytes_within(const char *text, int cells) {
    const uint8_t *at = (const uint8_t *)text;
    int used = 0;

    while (*at) {
        ucs4_t c;
        int length = u8_strmbtouc(&c, at);
        int width = length > 0 ? uc_width(c, "UTF-8") : 1;

        if (width > 0) used += width;
        if (used > cells) break;
        at += length > 0 ? length : 1;
    }
    return (size_t)(at - (const uint8_t *)text);
}

char *cells_cut(const char *text, int cells) {
    size_t kept;
    char *cut;

    if (cells_width(text) <= cells) return strdup(text);
    kept = bytes_within(text, cells - 1);
    cut = malloc(kept + sizeof ellipsis);
    if (!cut) return NULL;
    memcpy(cut, text, kept);
    memcpy(cut + kept, ellipsis, sizeof ellipsis);
    return cut;
}

void cells_cut_time(char *text, int cells) {
    size_t length = strlen(text);

    if ((int)length <= cells || length <= CELLS_TIME_SECONDS || text[10] != 'T') return;
    text[10] = ' ';
    text[CELLS_TIME_SECONDS] = '\0';
    if (cells >= CELLS_TIME_SECONDS) return;
    memmove(text, text + 5, CELLS_TIME_DAY + 1);
    if (cells < CELLS_TIME_DAY) text[CELLS_TIME_MINUTE] = '\0';
}

/* What the columns that are not left out take, with the blanks between them. */
static int sum_of(const struct cells_column *columns, size_t count, bool least) {
    int sum = -CELLS_BETWEEN;

    for (size_t i = 0; i < count; i++)
        if (!columns[i].left_out) sum += (least ? columns[i].least : columns[i].width) + CELLS_BETWEEN;
    return sum;
}

/* False: none can be spared. */
static bool leave_one_out(struct cells_column *columns, size_t count) {
    struct cells_column *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (!columns[i].left_out && columns[i].spare > (found ? found->spare : 0)) found = &columns[i];
    if (found) found->left_out = true;
    return found != NULL;
}

static int narrower(const struct cells_column *column) {
    static const int times[] = {CELLS_TIME_SECONDS, CELLS_TIME_DAY, CELLS_TIME_MINUTE};

    for (size_t i = 0; i < sizeof times / sizeof times[0] && column->is_time; i++)
        if (times[i] < column->width) return times[i] > column->least ? times[i] : column->least;
    return column->width - 1;
}

/* False: all have their least. */
static bool narrow_widest(struct cells_column *columns, size_t count) {
    struct cells_column *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (!columns[i].left_out && columns[i].width > columns[i].least &&
            (!found || columns[i].width >= found->width))
            found = &columns[i];
    if (found) found->width = narrower(found);
    return found != NULL;
}

void cells_fit(struct cells_column *columns, size_t count, int room) {
    while (sum_of(columns, count, true) > room && leave_one_out(columns, count))
        continue;
    while (sum_of(columns, count, false) > room && narrow_widest(columns, count))
        continue;
}
