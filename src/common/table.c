/* See table.h. Widths are counted in terminal cells: a Chinese character takes two. */
#include "table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistr.h>
#include <uniwidth.h>

#include "escape.h"
#include "messages.h"
#include "out.h"

struct table {
    const char *const *heads;
    size_t columns;
    int *widths;
    bool titled;  /* the titles were printed */
    char **cells; /* row after row */
    size_t count, room;
};

static int width_of(const char *text) {
    return u8_strwidth((const uint8_t *)text, "UTF-8");
}

static const char *title_of(const struct table *table, size_t column) {
    return table->heads[column] + (table->heads[column][0] == '>');
}

struct table *table_open(const char *const *heads, size_t columns) {
    struct table *table = cli_must(calloc(1, sizeof *table));

    table->heads = heads;
    table->columns = columns;
    table->widths = cli_must(calloc(columns, sizeof *table->widths));
    for (size_t column = 0; column < columns; column++)
        table->widths[column] = width_of(title_of(table, column));
    return table;
}

void table_add(struct table *table, const char *text) {
    if (table->count == table->room) {
        table->room = table->room ? table->room * 2 : 64;
        table->cells = cli_must(realloc(table->cells, table->room * sizeof *table->cells));
    }
    table->cells[table->count++] = cli_must(escape_text(text && *text ? text : "-"));
}

void table_add_number(struct table *table, long long number) {
    char text[32];

    snprintf(text, sizeof text, "%lld", number);
    table_add(table, text);
}

/* The last column gets no trailing blanks. */
static void print_cell(const struct table *table, size_t column, const char *text) {
    bool right = table->heads[column][0] == '>';
    bool last = column + 1 == table->columns;
    int pad = table->widths[column] - width_of(text);

    out_text("%*s%s%*s%s", right ? pad : 0, "", text, right || last ? 0 : pad, "", last ? "\n" : "  ");
}

static void drop_cells(struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    table->count = 0;
}

void table_free(struct table *table) {
    if (!table) return;
    drop_cells(table);
    free(table->cells);
    free(table->widths);
    free(table);
}

void table_print_part(struct table *table) {
    for (size_t i = 0; i < table->count; i++) {
        int *width = &table->widths[i % table->columns];
        if (width_of(table->cells[i]) > *width) *width = width_of(table->cells[i]);
    }
    for (size_t column = 0; column < table->columns && !table->titled; column++)
        print_cell(table, column, title_of(table, column));
    for (size_t i = 0; i < table->count; i++)
        print_cell(table, i % table->columns, table->cells[i]);
    table->titled = true;
    drop_cells(table);
}

void table_print(struct table *table) {
    table_print_part(table);
    table_free(table);
}
