/* Reads the text of a rule. See cron.h; the syntax for people is in docs/schedules.md. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cron.h"

enum { FIELDS_MAX = 7, TEXT_MAX = 200 };
enum field { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR };

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

/* Weekdays are 0 to 7 in the Unix form (both ends Sunday), 1 to 7 from Sunday on in Quartz's. */
static const struct spec {
    const char *name;
    int low, high;
    const char *const *names;
    int name_count, first_name;
    const char *allowed;
} specs[] =
    {
        [SECOND] = {"second", 0, 59, NULL, 0, 0, "0 to 59"},
        [MINUTE] = {"minute", 0, 59, NULL, 0, 0, "0 to 59"},
        [HOUR] = {"hour", 0, 23, NULL, 0, 0, "0 to 23"},
        [DAY] = {"day of month", 1, 31, NULL, 0, 0, "1 to 31"},
        [MONTH] = {"month", 1, 12, month_names, 12, 1, "1 to 12 or JAN to DEC"},
        [WEEKDAY] = {"weekday", 1, 7, weekday_names, 7, 1, "1 to 7 or SUN to SAT"},
        [YEAR] = {"year", 1970, 2099, NULL, 0, 0, "1970 to 2099"},
},
  unix_weekday = {"weekday", 0, 6, weekday_names, 7, 0, "0 to 7 or SUN to SAT"};

/* One field being read. */
struct reader {
    const struct spec *spec;
    enum field field;
    bool quartz;
    const char *text; /* of the field */
    uint64_t set[3];  /* by number, years from 1970 */
    bool star;        /* begins with a * */
    bool whole;       /* is one part that spans all numbers, with a step perhaps */
    struct tpi_cron_rule *rule;
    char *error;
};

static bool fail(char *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, TPI_RULE_ERROR, format, args);
    va_end(args);
    return false;
}

static bool refuse(struct reader *reader, const char *part, const char *why) {
    return fail(reader->error, "the %s \"%s\" cannot be read at \"%s\": %s", reader->spec->name, reader->text,
                part, why);
}

static bool refuse_value(struct reader *reader, const char *part) {
    char why[100];
    snprintf(why, sizeof why, "%s is allowed, with * , - and /", reader->spec->allowed);
    return refuse(reader, part, why);
}

/* ---- Numbers and names --------------------------------------------------------------------------------- */

static int upper(char c) {
    return toupper((unsigned char)c);
}

static int find_name(const struct spec *spec, const char *at) {
    for (int i = 0; i < spec->name_count; i++) {
        const char *name = spec->names[i];
        if (upper(at[0]) == name[0] && upper(at[1]) == name[1] && upper(at[2]) == name[2])
            return i + spec->first_name;
    }
    return -1;
}

/* The number or name at *at, which moves behind it. False: none, or out of range. */
static bool take_number(const struct reader *reader, const char **at, int *number) {
    const struct spec *spec = reader->spec;
    int digits = 0, value = 0;
    while (digits < 5 && isdigit((unsigned char)(*at)[digits]))
        value = value * 10 + ((*at)[digits++] - '0');
    if (digits == 0) {
        value = strnlen(*at, 3) == 3 ? find_name(spec, *at) : -1;
        digits = 3;
        if (value < 0) return false;
    }
    int high = spec == &unix_weekday ? 7 : spec->high;
    if (value < spec->low || value > high) return false;
    *at += digits;
    *number = value;
    return true;
}

/* 0 to 31 as it stands. */
static bool take_small(const char **at, int *number) {
    int value = 0, digits = 0;
    while (digits < 3 && isdigit((unsigned char)(*at)[digits]))
        value = value * 10 + ((*at)[digits++] - '0');
    if (digits == 0 || value > 31) return false;
    *at += digits;
    *number = value;
    return true;
}

/* As a set has it: Sunday is 0, the year 1970 is 0. */
static int bit_of(const struct reader *reader, int number) {
    if (reader->field == YEAR) return number - reader->spec->low;
    if (reader->field != WEEKDAY) return number;
    return reader->quartz ? number - 1 : number % 7;
}

static void add_range(struct reader *reader, int from, int to, int step) {
    for (int number = from; number <= to; number += step) {
        int bit = bit_of(reader, number);
        reader->set[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

/* ---- Days that depend on the month -------------------------------------------------------------- */

/* L, L-n, LW, L-nW; nW. False: it is not of this kind. */
static bool take_special_day(struct reader *reader, const char *part) {
    struct tpi_cron_rule *rule = reader->rule;
    const char *at = part;
    bool last = upper(*at) == 'L';
    int number = 0;
    if (last) {
        at++;
        if (*at == '-' && (at++, !take_small(&at, &number) || number > 30)) return false;
    } else if (!take_small(&at, &number) || number < 1) {
        return false;
    }
    bool near = upper(*at) == 'W';
    if (near) at++;
    if (*at || (!last && !near)) return false;
    uint32_t bit = UINT32_C(1) << number;
    if (last && near)
        rule->near_last_days |= bit;
    else if (last)
        rule->last_days |= bit;
    else
        rule->near_days |= bit;
    return true;
}

/* nL, n#k. L alone is Saturday, as Quartz has it. */
static bool take_special_weekday(struct reader *reader, const char *part) {
    const char *at = part;
    int number = 0, week = 0;
    if (upper(*at) == 'L' && !at[1]) {
        add_range(reader, 7, 7, 1);
        return true;
    }
    if (!take_number(reader, &at, &number)) return false;
    uint32_t bit = UINT32_C(1) << bit_of(reader, number);
    if (upper(*at) == 'L' && !at[1]) {
        reader->rule->last_weekdays |= bit;
        return true;
    }
    if (*at++ != '#' || !take_small(&at, &week) || *at || week < 1 || week > 5) return false;
    reader->rule->nth_weekdays[week] |= bit;
    return true;
}

static bool take_special(struct reader *reader, const char *part) {
    if (!reader->quartz) return false;
    if (reader->field == DAY) return take_special_day(reader, part);
    return reader->field == WEEKDAY && take_special_weekday(reader, part);
}

/* ---- One field ---------------------------------------------------------------------------------- */

static bool take_step(struct reader *reader, const char *part, const char *at, int from, int *to, int *step,
                      bool single) {
    bool many = reader->spec->low > 0 || reader->spec == &unix_weekday;
    int most = reader->spec->high - reader->spec->low + many;
    char *end = NULL;
    if (*at == '\0') return true;
    if (*at != '/') return refuse_value(reader, part);
    if (single && !reader->quartz)
        return refuse(reader, part, "a step stands behind * or a range, such as */5 or 0-30/5");
    long number = isdigit((unsigned char)at[1]) ? strtol(at + 1, &end, 10) : 0;
    if (number < 1 || number > most || *end) {
        char why[60];
        snprintf(why, sizeof why, "a step is a number from 1 to %d", most);
        return refuse(reader, part, why);
    }
    if (single) *to = reader->spec->high;
    *step = (int)number;
    return *to >= from;
}

/* The range of a part: all, one number, or two. */
static bool take_range(struct reader *reader, const char *part, const char **at, int *from, int *to,
                       bool *single) {
    const struct spec *spec = reader->spec;
    *single = false;
    if (**at == '*') {
        *from = spec->low;
        *to = spec->high;
        (*at)++;
        return true;
    }
    if (!take_number(reader, at, from)) return refuse_value(reader, part);
    *to = *from;
    *single = **at != '-';
    if (*single) return true;
    (*at)++;
    if (!take_number(reader, at, to)) return refuse_value(reader, part);
    if (spec == &unix_weekday && *to == 0 && *from > 0) *to = 7; /* MON-SUN */
    if (*to < *from)
        return refuse(reader, part, "a range does not run over its end; write two, such as 22-23,0-2");
    return true;
}

static bool take_part(struct reader *reader, const char *part) {
    const char *at = part;
    int from = 0, to = 0, step = 1;
    bool single = false;
    if (*part == '?')
        return refuse(reader, part,
                      reader->quartz ? "a ? stands alone, for the day of month or the weekday"
                                     : "? belongs to the form with seconds (6 or 7 fields)");
    if (take_special(reader, part)) return true;
    if (!take_range(reader, part, &at, &from, &to, &single)) return false;
    if (!take_step(reader, part, at, from, &to, &step, single)) return false;
    reader->whole = from == reader->spec->low && to == reader->spec->high;
    add_range(reader, from, to, step);
    return true;
}

static bool take_field(struct reader *reader) {
    char parts[TEXT_MAX + 1];
    int count = 0;
    bool whole = true;
    memcpy(parts, reader->text, strlen(reader->text) + 1);
    reader->star = parts[0] == '*';
    for (char *part = parts, *next; part; part = next, count++) {
        next = strchr(part, ',');
        if (next) *next++ = '\0';
        if (*part == '\0') return refuse(reader, ",", "a part of the list is missing");
        reader->whole = false;
        if (!take_part(reader, part)) return false;
        whole = whole && reader->whole;
    }
    reader->whole = whole && count == 1;
    return true;
}

/* ---- A cron rule -------------------------------------------------------------------------------- */

/* Cuts text into words. False: there are more than FIELDS_MAX. */
static bool split(const char *text, char words[FIELDS_MAX][TEXT_MAX + 1], int *count) {
    *count = 0;
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t length = strcspn(text, " \t");
        if (*count == FIELDS_MAX) return false;
        memcpy(words[*count], text, length);
        words[(*count)++][length] = '\0';
        text += length;
    }
    return true;
}

static void store(struct tpi_cron_rule *rule, const struct reader *reader) {
    switch (reader->field) {
    case SECOND:
        rule->seconds = reader->set[0];
        break;
    case MINUTE:
        rule->minutes = reader->set[0];
        break;
    case HOUR:
        rule->hours = (uint32_t)reader->set[0];
        rule->all_hours = reader->whole;
        break;
    case DAY:
        rule->days = (uint32_t)reader->set[0];
        break;
    case MONTH:
        rule->months = (uint32_t)reader->set[0];
        break;
    case WEEKDAY:
        rule->weekdays = (uint32_t)reader->set[0];
        break;
    case YEAR:
        memcpy(rule->years, reader->set, sizeof rule->years);
        rule->any_year = false;
        break;
    }
}

/* star says whether the field begins with a *. */
static bool read_field(struct tpi_cron_rule *rule, enum field field, bool quartz, const char *text,
                       bool *star, char *error) {
    struct reader reader = {.field = field, .quartz = quartz, .text = text, .rule = rule, .error = error};
    reader.spec = field == WEEKDAY && !quartz ? &unix_weekday : &specs[field];
    /* In Quartz's form one of the two day fields says nothing: it lets every day through. */
    if (quartz && (field == DAY || field == WEEKDAY) && strcmp(text, "?") == 0)
        add_range(&reader, reader.spec->low, reader.spec->high, 1);
    else if (!take_field(&reader))
        return false;
    *star = reader.star;
    store(rule, &reader);
    return true;
}

static bool read_fields(struct tpi_cron_rule *rule, char words[FIELDS_MAX][TEXT_MAX + 1], int count,
                        char *error) {
    bool quartz = count > 5, star[FIELDS_MAX] = {false};
    rule->seconds = 1;
    rule->any_year = true;
    for (int i = 0; i < count; i++) {
        enum field field = (enum field)(quartz ? i : i + 1);
        if (!read_field(rule, field, quartz, words[i], &star[field], error)) return false;
    }
    rule->either = !quartz && !star[DAY] && !star[WEEKDAY];
    if (!quartz) return true;
    bool no_day = strcmp(words[DAY], "?") == 0, no_weekday = strcmp(words[WEEKDAY], "?") == 0;
    if (no_day != no_weekday) return true;
    return fail(error, "with seconds, exactly one of day of month (\"%s\") and weekday (\"%s\") must be ?",
                words[DAY], words[WEEKDAY]);
}

static bool read_cron(struct tpi_cron_rule *rule, const char *text, char *error) {
    char words[FIELDS_MAX][TEXT_MAX + 1];
    int count = 0;
    bool few = split(text, words, &count);
    if (few && count >= 5) return read_fields(rule, words, count, error);
    return fail(
        error,
        "the rule \"%s\" has %s%d field%s; it takes 5 (minute hour day month weekday), 6 or 7 (second "
        "minute hour day month weekday [year]), or one of \"every 5m\", \"after 5m\", @hourly",
        text, few ? "" : "more than ", count, count == 1 ? "" : "s");
}

/* ---- Other rules -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *fields;
} nicknames[] = {
    {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"},
};

static bool read_nickname(struct tpi_cron_rule *rule, const char *text, char *error) {
    for (size_t i = 0; i < sizeof nicknames / sizeof nicknames[0]; i++)
        if (strcmp(text, nicknames[i].name) == 0) return read_cron(rule, nicknames[i].fields, error);
    return fail(error, "\"%s\" is not known; it is one of @hourly @daily @midnight @weekly @monthly @yearly",
                text);
}

static bool read_period(struct tpi_cron_rule *rule, const char *text, char *error) {
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    const char *at = text + strspn(text, " \t");
    int64_t number = 0;
    int digits = 0;
    for (; isdigit((unsigned char)*at) && digits < 15; at++, digits++)
        number = number * 10 + (*at - '0');
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (digits == 0 || number == 0 || strcmp(at, units[i].name) != 0) continue;
        if (number > TP_DURATION_MAX / units[i].ms) break;
        rule->period_ms = number * units[i].ms;
        return true;
    }
    return fail(
        error,
        "\"%s\" is no period; it is a whole number with ms, s, m, h or d, more than 0 and at most 100 "
        "years, such as 5m",
        text + strspn(text, " \t"));
}

bool tpi_rule_parse(const char *text, struct tpi_cron_rule *rule, char error[TPI_RULE_ERROR]) {
    char trimmed[TEXT_MAX + 1];
    *rule = (struct tpi_cron_rule){.kind = TPI_RULE_CRON};
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    if (length == 0) return fail(error, "the rule is empty");
    if (length > TEXT_MAX)
        return fail(error, "the rule has %zu bytes; at most %d are allowed", length, TEXT_MAX);
    memcpy(trimmed, text, length);
    trimmed[length] = '\0';
    bool every = strncmp(trimmed, "every ", 6) == 0, after = strncmp(trimmed, "after ", 6) == 0;
    if (trimmed[0] == '@') return read_nickname(rule, trimmed, error);
    if (!every && !after) return read_cron(rule, trimmed, error);
    rule->kind = every ? TPI_RULE_EVERY : TPI_RULE_AFTER;
    return read_period(rule, trimmed + 6, error);
}
