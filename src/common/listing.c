/* See listing.h. On a terminal a table is as wide as that, elsewhere as wide as what is in it. */
#include "listing.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "escape.h"
#include "messages.h"
#include "options.h"
#include "out.h"
#include "values.h"

#define LEAST_TEXT 12 /* cells of text that is cut */

struct cell {
    char *text;
    enum tone tone;
};

struct listing {
    const struct column *columns;
    json_object *list; /* NULL: a line each, or a table */

    const struct column **shown; /* those with a head */
    int *widths;                 /* of all that was ever in them */
    struct cells_column *fit;    /* what they get */
    size_t count;                /* of all three */
    size_t last;                 /* the last one that is not left out */
    bool titled;                 /* the titles were printed */
    struct cell *cells;          /* row after row */
    size_t used, room;
};

struct listing *listing_open(const struct column *columns) {
    struct listing *listing = cli_must(calloc(1, sizeof *listing));
    size_t all = 0;

    while (!column_is_last(&columns[all]))
        all++;
    listing->columns = columns;
    listing->shown = cli_must(calloc(all + 1, sizeof *listing->shown));
    listing->widths = cli_must(calloc(all + 1, sizeof *listing->widths));
    listing->fit = cli_must(calloc(all + 1, sizeof *listing->fit));
    for (; !column_is_last(columns); columns++) {
        if (!columns->head) continue;
        listing->widths[listing->count] = cells_width(columns->head);
        listing->shown[listing->count++] = columns;
    }
    return listing;
}

struct listing *listing_open_list(const struct column *columns) {
    struct listing *listing = listing_open(columns);

    if (common.json) listing->list = cli_must(json_object_new_array());
    return listing;
}

static void add_cell(struct listing *listing, size_t column, const char *text, enum tone tone) {
    char *cell = cli_must(escape_text(text && *text ? text : "-"));
    int width = cells_width(cell);

    if (listing->used == listing->room) {
        listing->room = listing->room ? listing->room * 2 : 64;
        listing->cells = cli_must(realloc(listing->cells, listing->room * sizeof *listing->cells));
    }
    listing->cells[listing->used++] = (struct cell){cell, tone};
    if (width > listing->widths[column]) listing->widths[column] = width;
}

void listing_add(struct listing *listing, const void *record) {
    char text[RECORD_TEXT_SIZE];

    if (listing->list)
        json_object_array_add(listing->list, record_object(listing->columns, record));
    else if (common.json)
        out_json(record_object(listing->columns, record));
    if (common.csv) {
        if (!listing->titled) record_csv_head(listing->columns);
        record_csv(listing->columns, record);
        listing->titled = true;
    }
    for (size_t i = 0; i < listing->count && !common.json && !common.csv; i++) {
        const struct column *column = listing->shown[i];

        add_cell(listing, i, column_text(column, record, text),
                 column->tone ? column->tone(record) : TONE_PLAIN);
    }
}

json_object *listing_list(struct listing *listing) {
    return json_object_get(listing->list);
}

static int least_width(const struct column *column, int width) {
    int least = column->type == VALUE_TIME ? CELLS_TIME_MINUTE : LEAST_TEXT;

    if (column->whole || column_is_number(column)) return width;
    if (cells_width(column->head) > least) least = cells_width(column->head);
    return least < width ? least : width;
}

/* What was left out of the first rows stays out: their titles are printed. */
static void fit_columns(struct listing *listing) {
    int room = terminal_width();

    for (size_t i = 0; i < listing->count; i++) {
        const struct column *column = listing->shown[i];
        int width = listing->widths[i];

        listing->fit[i].width = width;
        listing->fit[i].least = least_width(column, width);
        listing->fit[i].spare = listing->titled ? 0 : column->spare;
        listing->fit[i].is_time = column->type == VALUE_TIME;
    }
    if (room) cells_fit(listing->fit, listing->count, room);
    for (size_t i = 0; i < listing->count; i++)
        if (!listing->fit[i].left_out) listing->last = i;
}

/* The last column gets no trailing blanks. */
static void print_cell(const struct listing *listing, size_t column, char *text, enum tone tone) {
    const struct cells_column *fit = &listing->fit[column];
    bool right = column_is_number(listing->shown[column]);
    bool last = column == listing->last;
    char *cut;
    int pad;

    if (fit->left_out) return;
    if (fit->is_time) cells_cut_time(text, fit->width);
    cut = cli_must(cells_cut(text, fit->width));
    pad = fit->width - cells_width(cut);
    out_text("%*s%s%s%s%*s%s", right ? pad : 0, "", terminal_tone(tone), cut, terminal_tone_end(tone),
             right || last ? 0 : pad, "", last ? "\n" : "  ");
    free(cut);
}

static void print_titles(struct listing *listing) {
    for (size_t i = 0; i < listing->count; i++) {
        char *head = cli_must(strdup(listing->shown[i]->head));

        print_cell(listing, i, head, TONE_HEAD);
        free(head);
    }
    listing->titled = true;
}

static void drop_cells(struct listing *listing) {
    for (size_t i = 0; i < listing->used; i++)
        free(listing->cells[i].text);
    listing->used = 0;
}

void listing_print(struct listing *listing) {
    if (common.json || common.csv) return;
    pager_start();
    fit_columns(listing);
    if (!listing->titled) print_titles(listing);
    for (size_t i = 0; i < listing->used; i++)
        print_cell(listing, i % listing->count, listing->cells[i].text, listing->cells[i].tone);
    drop_cells(listing);
}

void listing_more(int64_t more, const char *what) {
    char count[TIME_TEXT_SIZE];

    if (common.json || common.quiet || more == 0) return;
    if (more < 0)
        cli_warn("there are more; %s", what);
    else
        cli_warn("%s more; %s", value_count_text(more, count), what);
}

void listing_free(struct listing *listing) {
    drop_cells(listing);
    free(listing->cells);
    free(listing->shown);
    free(listing->widths);
    free(listing->fit);
    json_object_put(listing->list);
    free(listing);
}
