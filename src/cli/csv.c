/* See csv.h. A state machine, one byte at a time. */
#include "csv.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

enum state { AT_FIELD, IN_PLAIN, IN_QUOTES, AFTER_QUOTE, AFTER_CR };

struct csv {
    char *text; /* the record's fields, each with its NUL */
    size_t used, size;
    size_t *starts; /* where each field begins in text */
    size_t count, room;
    size_t columns; /* of the first record; 0 before it */
    size_t limit;
    size_t field_start;
    long long line;       /* the line of the next byte */
    long long first_line; /* of the record at hand */
    enum state state;
    enum read_status answer; /* of the last byte */
    bool begun;              /* the first bytes were checked for a byte order mark */
    bool quoted;             /* a quote was in this record, so it is no blank line */
    char error[160];
};

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

struct csv *csv_open(size_t limit) {
    struct csv *csv = calloc(1, sizeof *csv);

    if (!csv) return NULL;
    csv->limit = limit;
    csv->line = 1;
    csv->first_line = 1;
    return csv;
}

void csv_close(struct csv *csv) {
    if (!csv) return;
    free(csv->text);
    free(csv->starts);
    free(csv);
}

static enum read_status refuse(struct csv *csv, const char *why) {
    snprintf(csv->error, sizeof csv->error, "%s", why);
    return READ_BAD;
}

static enum read_status add_byte(struct csv *csv, char byte) {
    if (csv->used >= csv->limit) {
        snprintf(csv->error, sizeof csv->error, "longer than %zu bytes (is a quote not closed?)", csv->limit);
        return READ_BAD;
    }
    if (csv->used == csv->size) {
        size_t size = csv->size ? csv->size * 2 : 4096;
        char *text = realloc(csv->text, size);

        if (!text) return READ_NOMEM;
        csv->text = text;
        csv->size = size;
    }
    csv->text[csv->used++] = byte;
    return READ_MORE;
}

static enum read_status end_field(struct csv *csv) {
    enum read_status status = add_byte(csv, '\0');

    if (status != READ_MORE) return status;
    if (csv->count == csv->room) {
        size_t room = csv->room ? csv->room * 2 : 32;
        size_t *starts = realloc(csv->starts, room * sizeof *starts);

        if (!starts) return READ_NOMEM;
        csv->starts = starts;
        csv->room = room;
    }
    csv->starts[csv->count++] = csv->field_start;
    csv->field_start = csv->used;
    csv->state = AT_FIELD;
    return READ_MORE;
}

static enum read_status check_text(struct csv *csv) {
    const uint8_t *bad = u8_check((const uint8_t *)csv->text, csv->used);
    size_t column = 0;

    if (!bad) return READ_RECORD;
    while (column < csv->count && csv->starts[column] <= (size_t)((const char *)bad - csv->text))
        column++;
    snprintf(csv->error, sizeof csv->error,
             "broken UTF-8 in column %zu (convert the file, for instance: iconv -f GB18030 -t UTF-8)",
             column);
    return READ_BAD;
}

static enum read_status check_columns(struct csv *csv) {
    if (csv->columns == 0) csv->columns = csv->count;
    if (csv->count == csv->columns) return check_text(csv);
    snprintf(csv->error, sizeof csv->error, "%zu column%s where the header has %zu", csv->count,
             csv->count == 1 ? "" : "s", csv->columns);
    return READ_BAD;
}

static bool is_blank(const struct csv *csv) {
    return csv->used == 0 && !csv->quoted;
}

static enum read_status end_record(struct csv *csv) {
    enum read_status status = READ_MORE;

    csv->state = AT_FIELD;
    if (!is_blank(csv)) {
        status = end_field(csv);
        if (status == READ_MORE) status = check_columns(csv);
    }
    return status;
}

/* A byte outside quotes that may end a field. */
static enum read_status take_plain(struct csv *csv, char byte) {
    switch (byte) {
    case ',':
        return end_field(csv);
    case '\n':
        return end_record(csv);
    case '\r':
        csv->state = AFTER_CR;
        return READ_MORE;
    case '"':
        return refuse(csv,
                      "a quote inside an unquoted field (quote the whole field, double the quotes in it)");
    default:
        csv->state = IN_PLAIN;
        return add_byte(csv, byte);
    }
}

static enum read_status take_after_quote(struct csv *csv, char byte) {
    if (byte == '"') {
        csv->state = IN_QUOTES;
        return add_byte(csv, byte);
    }
    if (byte == ',' || byte == '\n' || byte == '\r') return take_plain(csv, byte);
    return refuse(csv, "text after a closing quote (a quote inside a quoted field is written twice)");
}

static enum read_status take_in_quotes(struct csv *csv, char byte) {
    if (byte != '"') return add_byte(csv, byte);
    csv->state = AFTER_QUOTE;
    return READ_MORE;
}

static enum read_status take_by_state(struct csv *csv, char byte) {
    switch (csv->state) {
    case IN_QUOTES:
        return take_in_quotes(csv, byte);
    case AFTER_QUOTE:
        return take_after_quote(csv, byte);
    case AFTER_CR:
        return byte == '\n' ? end_record(csv) : refuse(csv, "a carriage return without a line feed");
    case AT_FIELD:
        if (byte == '"') {
            csv->quoted = true;
            csv->state = IN_QUOTES;
            return READ_MORE;
        }
        break;
    case IN_PLAIN:
        break;
    }
    return take_plain(csv, byte);
}

static enum read_status take_byte(struct csv *csv, char byte) {
    enum read_status status;

    if (byte == '\0')
        return refuse(csv, "a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
    status = take_by_state(csv, byte);
    if (byte == '\n') {
        csv->line++;
        if (status == READ_MORE && csv->state != IN_QUOTES)
            csv->first_line = csv->line; /* a blank line was passed over */
    }
    return status;
}

static void start_record(struct csv *csv) {
    csv->used = 0;
    csv->count = 0;
    csv->field_start = 0;
    csv->quoted = false;
    csv->first_line = csv->line;
    csv->answer = READ_MORE;
}

/* Drops a byte order mark, which was read as the beginning of the first field. */
static void drop_mark(struct csv *csv) {
    if (csv->begun || csv->line > 1 || csv->used < strlen(BYTE_ORDER_MARK)) return;
    csv->begun = true;
    if (csv->count || memcmp(csv->text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) != 0) return;
    csv->used = 0;
    csv->state = AT_FIELD;
}

enum read_status csv_feed(struct csv *csv, const char *data, size_t length, size_t *used) {
    size_t i = 0;

    if (csv->answer == READ_RECORD) start_record(csv);
    while (i < length && csv->answer == READ_MORE) {
        csv->answer = take_byte(csv, data[i++]);
        drop_mark(csv);
    }
    *used = i;
    return csv->answer;
}

enum read_status csv_end(struct csv *csv) {
    if (csv->answer == READ_RECORD) start_record(csv);
    if (csv->answer != READ_MORE) return csv->answer;
    if (csv->state == IN_QUOTES)
        csv->answer = refuse(csv, "a quote is not closed before the end of the file");
    else if (csv->state == AFTER_CR)
        csv->answer = refuse(csv, "a carriage return without a line feed");
    else if (!is_blank(csv))
        csv->answer = refuse(
            csv, "the last line has no line end, so it may have been cut off (if it is whole, add one)");
    return csv->answer;
}

size_t csv_count(const struct csv *csv) {
    return csv->count;
}

const char *csv_field(const struct csv *csv, size_t i) {
    return csv->text + csv->starts[i];
}

long long csv_line(const struct csv *csv) {
    return csv->first_line;
}

const char *csv_error(const struct csv *csv) {
    return csv->error;
}
