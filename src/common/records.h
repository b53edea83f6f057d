/* The columns of a kind of record: from one list come the rows of a table and the members of JSON objects.
 * Must not print tables; read next: listing.h. */
#ifndef COMMON_RECORDS_H
#define COMMON_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "terminal.h"

#define RECORD_TEXT_SIZE 96

struct column {
    const char *head; /* in a table; NULL: not there */
    const char *key;  /* in JSON; NULL: not there */
    enum value_type type;
    size_t offset, size; /* of the record's member; size 0: there is none, only what shown gives */
    bool may_miss;       /* a number or time of 0 stands for none */
    int decimals;        /* of a real number */
    /* What people see, when it is not simply the value: text, which it may fill, or another. */
    const char *(*shown)(const void *record, char text[RECORD_TEXT_SIZE]);
    enum tone (*tone)(const void *record); /* NULL: plain */
    /* On a terminal that has no room for all: */
    bool whole; /* text that is never cut, as what people paste into a command */
    int spare;  /* above 0: the column may be left out, the highest first */
};

/* Lists of columns end with COLUMNS_END. */
#define COLUMNS_END                                                                                          \
    { .head = NULL }
/* What a column is of: {"HEAD", "key", COLUMN_OF(TEXT, tp_task, id)}. */
#define COLUMN_OF(value, record, member)                                                                     \
    .type = VALUE_##value, .offset = offsetof(record, member), .size = sizeof(((record *)NULL)->member)

bool column_is_last(const struct column *column);
/* As in a table, but nothing escaped: text, which it may fill, or another; may be NULL. */
const char *column_text(const struct column *column, const void *record, char text[RECORD_TEXT_SIZE]);
/* Right-aligned in a table. */
bool column_is_number(const struct column *column);
/* A time as people see it: of this place with --local-time, else UTC. Gives text back. */
const char *record_time(int64_t ms, char text[RECORD_TEXT_SIZE]);

/* Adds the columns that have a key to object. */
void record_add(struct json_object *object, const struct column *columns, const void *record);
struct json_object *record_object(const struct column *columns, const void *record);
/* Print the keys, and the values, as lines of CSV: RFC 4180, nothing escaped, what is not set is empty. */
void record_csv_head(const struct column *columns);
void record_csv(const struct column *columns, const void *record);
/* Prints a line for each column, all of which have heads: that, and the value. What may miss and does is left
 * out. */
void record_print(const struct column *columns, const void *record);

#endif
