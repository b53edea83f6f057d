/* See listing.h. Widths are counted in terminal cells: a Chinese character takes two. */
#include "listing.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <unistr.h>
#include <uniwidth.h>

#include "args.h"
#include "escape.h"
#include "messages.h"
#include "out.h"

struct listing {
    const struct column *columns;
    json_object *list; /* NULL: a line each, or a table */

    const struct column **shown; /* those with a head */
    int *widths;
    size_t count; /* of both */
    bool titled;  /* the titles were printed */
    char **cells; /* row after row */
    size_t used, room;
};

static int width_of(const char *text) {
    return u8_strwidth((const uint8_t *)text, "UTF-8");
}

struct listing *listing_open(const struct column *columns) {
    struct listing *listing = cli_must(calloc(1, sizeof *listing));
    size_t all = 0;

    while (!column_is_last(&columns[all]))
        all++;
    listing->columns = columns;
    listing->shown = cli_must(calloc(all + 1, sizeof *listing->shown));
    listing->widths = cli_must(calloc(all + 1, sizeof *listing->widths));
    for (; !column_is_last(columns); columns++) {
        if (!columns->head) continue;
        listing->widths[listing->count] = width_of(columns->head);
        listing->shown[listing->count++] = columns;
    }
    return listing;
}

struct listing *listing_open_list(const struct column *columns) {
    struct listing *listing = listing_open(columns);

    if (common.json) listing->list = cli_must(json_object_new_array());
    return listing;
}

static void add_cell(struct listing *listing, size_t column, const char *text) {
    char *cell = cli_must(escape_text(text && *text ? text : "-"));

    if (listing->used == listing->room) {
        listing->room = listing->room ? listing->room * 2 : 64;
        listing->cells = cli_must(realloc(listing->cells, listing->room * sizeof *listing->cells));
    }
    listing->cells[listing->used++] = cell;
    if (width_of(cell) > listing->widths[column]) listing->widths[column] = width_of(cell);
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
    for (size_t i = 0; i < listing->count && !common.json && !common.csv; i++)
        add_cell(listing, i, column_text(listing->shown[i], record, text));
}

json_object *listing_list(struct listing *listing) {
    return json_object_get(listing->list);
}

/* The last column gets no trailing blanks. */
static void print_cell(const struct listing *listing, size_t column, const char *text) {
    bool right = column_is_number(listing->shown[column]);
    bool last = column + 1 == listing->count;
    int pad = listing->widths[column] - width_of(text);

    out_text("%*s%s%*s%s", right ? pad : 0, "", text, right || last ? 0 : pad, "", last ? "\n" : "  ");
}

static void drop_cells(struct listing *listing) {
    for (size_t i = 0; i < listing->used; i++)
        free(listing->cells[i]);
    listing->used = 0;
}

void listing_print(struct listing *listing) {
    if (common.json || common.csv) return;
    for (size_t i = 0; i < listing->count && !listing->titled; i++)
        print_cell(listing, i, listing->shown[i]->head);
    for (size_t i = 0; i < listing->used;)
        for (size_t column = 0; column < listing->count; column++)
            print_cell(listing, column, listing->cells[i++]);
    listing->titled = true;
    drop_cells(listing);
}

void listing_free(struct listing *listing) {
    drop_cells(listing);
    free(listing->cells);
    free(listing->shown);
    free(listing->widths);
    json_object_put(listing->list);
    free(listing);
}
