/* See rows.h. CSV columns: those named like a field are that field; all others together become a JSON object
 * in params, as strings, in the order of the columns. */
#include "cli.h"

#include "rows.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv.h"

#define COLUMNS_MAX 2000

struct columns {
    size_t count;
    enum field *fields; /* FIELD_NONE: goes into params */
    char **names;       /* of those */
    bool others;        /* is there any of those */
    json_object *params;
};

static bool refuse(char *error, const char *why, const char *name) {
    snprintf(error, ROW_ERROR_SIZE, "the header %s \"%.60s\"", why, name);
    return false;
}

static bool is_repeated(const struct csv *header, size_t column) {
    for (size_t i = 0; i < column; i++)
        if (strcmp(csv_field(header, i), csv_field(header, column)) == 0) return true;
    return false;
}

/* The field whose name it is but for blanks around it, also those of spreadsheets, and capitals: it would go
 * into params without a word, and rows without their ids are put in twice. */
static enum field field_meant(const char *name) {
    static const char blanks[] = " \t\r\n\v\f\xc2\xa0\xef\xbb\xbf";
    size_t length;

    name += strspn(name, blanks);
    length = strlen(name);
    while (length && strchr(blanks, name[length - 1]))
        length--;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strlen(field_names[i]) == length && strncasecmp(field_names[i], name, length) == 0)
            return (enum field)i;
    return FIELD_NONE;
}

static bool take_name(struct columns *columns, const struct csv *header, size_t i, char *error) {
    const char *name = csv_field(header, i);

    if (*name == '\0') {
        snprintf(error, ROW_ERROR_SIZE, "column %zu of the header has no name", i + 1);
        return false;
    }
    if (is_repeated(header, i)) return refuse(error, "has two columns", name);
    columns->fields[i] = field_find(name);
    if (columns->fields[i] == FIELD_NONE && field_meant(name) != FIELD_NONE) {
        snprintf(error, ROW_ERROR_SIZE, "the header has \"%.60s\"; write %s, or another name for a parameter",
                 name, field_names[field_meant(name)]);
        return false;
    }
    columns->names[i] = cli_must(strdup(name));
    if (columns->fields[i] == FIELD_NONE) columns->others = true;
    return true;
}

/* Spreadsheets of many countries write semicolons, and all of a row would become one parameter. */
static bool is_separated_otherwise(const struct columns *columns, const struct csv *header, char *error) {
    if (columns->count != 1) return false;
    const char *name = csv_field(header, 0);
    char found = name[strcspn(name, ";\t")];

    if (!found) return false;
    snprintf(error, ROW_ERROR_SIZE, "the header is one column with %s in it; separate the columns by commas",
             found == ';' ? "\";\"" : "a tab");
    return true;
}

static bool take_header(struct columns *columns, const struct csv *header, char *error) {
    bool params = false;

    if (is_separated_otherwise(columns, header, error)) return false;
    for (size_t i = 0; i < columns->count; i++) {
        if (!take_name(columns, header, i, error)) return false;
        params = params || columns->fields[i] == FIELD_PARAMS;
    }
    for (size_t i = 0; params && i < columns->count; i++)
        if (columns->fields[i] == FIELD_NONE)
            return refuse(error, "has a params column and also", columns->names[i]);
    return true;
}

struct columns *columns_open(const struct csv *header, char error[ROW_ERROR_SIZE]) {
    struct columns *columns = cli_must(calloc(1, sizeof *columns));

    columns->count = csv_count(header);
    if (columns->count > COLUMNS_MAX) {
        snprintf(error, ROW_ERROR_SIZE, "the header has %zu columns; at most %d are allowed", columns->count,
                 COLUMNS_MAX);
        free(columns);
        return NULL;
    }
    columns->fields = cli_must(calloc(columns->count, sizeof *columns->fields));
    columns->names = cli_must(calloc(columns->count, sizeof *columns->names));
    if (take_header(columns, header, error)) return columns;
    columns_close(columns);
    return NULL;
}

void columns_close(struct columns *columns) {
    if (!columns) return;
    for (size_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->names);
    free(columns->fields);
    json_object_put(columns->params);
    free(columns);
}

void columns_row(struct columns *columns, const struct csv *record, struct row *row) {
    memset(row, 0, sizeof *row);
    json_object_put(columns->params);
    columns->params = columns->others ? cli_must(json_object_new_object()) : NULL;
    for (size_t i = 0; i < columns->count; i++) {
        const char *text = csv_field(record, i);

        if (columns->fields[i] == FIELD_NONE)
            json_object_object_add(columns->params, columns->names[i],
                                   cli_must(json_object_new_string(text)));
        else
            row->text[columns->fields[i]] = text;
    }
    if (columns->params)
        row->text[FIELD_PARAMS] = cli_must((void *)json_object_to_json_string_ext(
            columns->params, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}
