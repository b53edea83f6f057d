/* Days of a calendar from CSV, and the list of them. See calendar_days.h. */
#include "calendar_days.h"

#include <stdlib.h>
#include <string.h>

#include "csv.h"

/* ---- The list ------------------------------------------------------------------------------------------ */

static const char *copy(const char *text) {
    return text && *text ? cli_must(strdup(text)) : NULL;
}

void days_add(struct days *days, const char *date, tp_day_kind kind, const char *cut_off, const char *name) {
    if (days->count == days->room) {
        days->room = days->room ? 2 * days->room : 64;
        days->all = cli_must(realloc(days->all, days->room * sizeof *days->all));
    }
    days->all[days->count++] =
        (tp_calendar_day){sizeof *days->all, copy(date), copy(cut_off), copy(name), kind, 0};
}

void days_free(struct days *days) {
    for (size_t i = 0; i < days->count; i++) {
        free((void *)days->all[i].date);
        free((void *)days->all[i].cut_off);
        free((void *)days->all[i].name);
    }
    free(days->all);
}

/* ---- CSV ----------------------------------------------------------------------------------------------- */

enum column { DATE, KIND, CUT_OFF, NAME, COLUMNS };
static const char *const column_names[COLUMNS] = {"date", "kind", "cut_off", "name"};

struct reader {
    struct csv *csv;
    struct days *days;
    bool headed;
    size_t at[COLUMNS]; /* where a column is, from 1; 0: it is not there */
    char *error;
};

static bool fail(const struct reader *reader, const char *what, const char *text) {
    snprintf(reader->error, DAYS_ERROR_SIZE, "line %lld: %s \"%.60s\"", csv_line(reader->csv), what, text);
    return false;
}

static bool read_head(struct reader *reader) {
    for (size_t i = 0; i < csv_count(reader->csv); i++) {
        const char *name = csv_field(reader->csv, i);
        enum column column = DATE;

        while (column < COLUMNS && strcmp(name, column_names[column]) != 0)
            column++;
        if (column == COLUMNS)
            return fail(reader, "the columns are date, kind, cut_off, name; there is none", name);
        if (reader->at[column]) return fail(reader, "twice the column", name);
        reader->at[column] = i + 1;
    }
    reader->headed = true;
    return reader->at[DATE] ? true : fail(reader, "the first line lacks the column", "date");
}

static const char *field(const struct reader *reader, enum column column) {
    return reader->at[column] ? csv_field(reader->csv, reader->at[column] - 1) : "";
}

static bool read_kind(const char *text, tp_day_kind *kind) {
    *kind = TP_DAY_CLOSED;
    if (strcmp(text, "half") == 0) *kind = TP_DAY_HALF;
    if (strcmp(text, "open") == 0) *kind = TP_DAY_OPEN;
    return *kind != TP_DAY_CLOSED || !*text || strcmp(text, "closed") == 0;
}

static bool read_record(struct reader *reader) {
    tp_day_kind kind = TP_DAY_CLOSED;

    if (!reader->headed) return read_head(reader);
    if (!read_kind(field(reader, KIND), &kind))
        return fail(reader, "kind is closed, half or open, not", field(reader, KIND));
    days_add(reader->days, field(reader, DATE), kind, field(reader, CUT_OFF), field(reader, NAME));
    return true;
}

static bool read_all(struct reader *reader, const char *text, size_t length) {
    bool ended = false;

    while (!ended) {
        enum read_status status;
        size_t used = 0;

        ended = length == 0;
        status = ended ? csv_end(reader->csv) : csv_feed(reader->csv, text, length, &used);
        text += used;
        length -= used;
        if (status == READ_BAD) {
            snprintf(reader->error, DAYS_ERROR_SIZE, "line %lld: %s", csv_line(reader->csv),
                     csv_error(reader->csv));
            return false;
        }
        if (status == READ_RECORD && !read_record(reader)) return false;
    }
    return reader->headed ? true
                          : fail(reader, "there is no line with the columns, the first of which is", "date");
}

bool days_from_csv(const char *text, size_t length, struct days *days, char error[DAYS_ERROR_SIZE]) {
    struct reader reader = {.csv = cli_must(csv_open(4096)), .days = days, .error = error};
    bool read = read_all(&reader, text, length);

    csv_close(reader.csv);
    return read;
}
