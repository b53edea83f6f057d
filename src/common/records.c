/* Reads the columns of a record out of its struct. See records.h. */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "messages.h"
#include "options.h"
#include "values.h"

bool column_is_last(const struct column *column) {
    return !column->head && !column->key;
}

bool column_is_number(const struct column *column) {
    return column->type == VALUE_NUMBER || column->type == VALUE_REAL;
}

const char *record_time(int64_t ms, char text[RECORD_TEXT_SIZE]) {
    return common.local_time ? value_local_text(ms, text) : value_time_text(ms, text);
}

/* Of 1, 4 or 8 bytes. */
static int64_t number_at(const char *at, size_t size) {
    int64_t wide;
    int32_t narrow;

    if (size == sizeof(bool)) return *at != 0;
    if (size == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/* The column's value, as a member of an object. Without one in the record, text is for what is shown. */
static struct member value_of(const struct column *column, const void *record, char text[RECORD_TEXT_SIZE]) {
    struct member value = {.key = column->key, .type = column->type, .decimals = column->decimals};
    const char *at = (const char *)record + column->offset;

    if (column->size == 0)
        value.text = column->shown ? column->shown(record, text) : NULL;
    else if (column->type == VALUE_TEXT || column->type == VALUE_EXACT)
        memcpy(&value.text, at, sizeof value.text);
    else if (column->type == VALUE_REAL)
        memcpy(&value.real, at, sizeof value.real);
    else
        value.number = number_at(at, column->size);
    if (column->may_miss && value.number == 0) value.type = VALUE_NULL;
    return value;
}

const char *column_text(const struct column *column, const void *record, char text[RECORD_TEXT_SIZE]) {
    struct member value;

    if (column->shown) return column->shown(record, text);
    value = value_of(column, record, text);
    switch (value.type) {
    case VALUE_TEXT:
    case VALUE_EXACT:
        return value.text;
    case VALUE_NUMBER:
        snprintf(text, RECORD_TEXT_SIZE, "%lld", (long long)value.number);
        return text;
    case VALUE_TIME:
        return record_time(value.number, text);
    case VALUE_REAL:
        snprintf(text, RECORD_TEXT_SIZE, "%.*f", value.decimals, value.real);
        return text;
    case VALUE_YES_NO:
        return value.number ? "yes" : NULL;
    case VALUE_JSON:
    case VALUE_NULL:
        break;
    }
    return NULL;
}

void record_add(struct json_object *object, const struct column *columns, const void *record) {
    char text[RECORD_TEXT_SIZE];

    for (; !column_is_last(columns); columns++)
        if (columns->key)
            json_add(object, (const struct member[]){value_of(columns, record, text), {.key = NULL}});
}

struct json_object *record_object(const struct column *columns, const void *record) {
    struct json_object *object = json_new();

    record_add(object, columns, record);
    return object;
}

static void print_csv_cell(const char *text, bool first) {
    bool quoted = text[strcspn(text, ",\"\r\n")] || *text == ' ' || (*text && text[strlen(text) - 1] == ' ');

    if (!first) out_text(",");
    if (!quoted) {
        out_bytes(text, strlen(text));
        return;
    }
    out_text("\"");
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\"");
        if (*text == '"') out_text("\"");
        length += length == 0;
        out_bytes(text, length);
    }
    out_text("\"");
}

void record_csv_head(const struct column *columns) {
    for (bool first = true; !column_is_last(columns); columns++) {
        if (!columns->key) continue;
        print_csv_cell(columns->key, first);
        first = false;
    }
    out_text("\r\n");
}

/* The value itself, not what people see of it. */
static const char *csv_text(const struct column *column, const void *record, char text[RECORD_TEXT_SIZE]) {
    struct column plain = *column;

    if (column->size) plain.shown = NULL;
    if (column->may_miss && value_of(column, record, text).type == VALUE_NULL) return "";
    if (column->type == VALUE_TIME && value_of(column, record, text).number == 0) return "";
    return column_text(&plain, record, text);
}

void record_csv(const struct column *columns, const void *record) {
    for (bool first = true; !column_is_last(columns); columns++) {
        char text[RECORD_TEXT_SIZE];
        const char *value = columns->key ? csv_text(columns, record, text) : NULL;

        if (!columns->key) continue;
        print_csv_cell(value ? value : "", first);
        first = false;
    }
    out_text("\r\n");
}

void record_print(const struct column *columns, const void *record) {
    pager_start();
    for (; !column_is_last(columns); columns++) {
        char text[RECORD_TEXT_SIZE];
        const char *value = column_text(columns, record, text);
        char *shown;
        enum tone tone = columns->tone ? columns->tone(record) : TONE_PLAIN;

        if (columns->may_miss && !value) continue;
        shown = cli_must(escape_text(value && *value ? value : "-"));
        out_text("%-13s %s%s%s\n", columns->head, terminal_tone(tone), shown, terminal_tone_end(tone));
        free(shown);
    }
}
