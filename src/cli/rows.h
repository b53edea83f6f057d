/* Makes a task of the texts of a row, with all checks that need no database, so that a mistake in a file is
 * reported with its line before anything of its batch is sent. Must not know files. columns.c knows how CSV
 * columns become a row. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "fields.h"
#include "taskpool.h"

#define ROW_ERROR_SIZE 320

struct row {
    const char *text[FIELD_COUNT]; /* NULL or "": not given */
};

/* Fills task, which then points into row. False: error says what is wrong. */
bool row_to_task(const struct row *row, tp_new_task *task, char error[ROW_ERROR_SIZE]);

/* How the columns of a CSV file become a row. */
struct columns;
struct csv;

/* Reads the header at hand. NULL: error says what is wrong. */
struct columns *columns_open(const struct csv *header, char error[ROW_ERROR_SIZE]);
void columns_close(struct columns *columns);
/* The record at hand; row points into csv and columns, until the next call. */
void columns_row(struct columns *columns, const struct csv *record, struct row *row);

#endif
