/* Cuts the mapping of an adoption into settings. Must not know what their values mean. See adopt_lines.h. */
#include "ops/adopt_lines.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"

enum { LINE_MAX_BYTES = 1000 };

#define SETTING_ROW(id, name, shared, alone) {name, {shared, alone}},
static const struct {
    const char *name;
    bool required[2]; /* of a table that old consumers work on, too; of one that they do not */
} settings[SETTING_COUNT] = {TPI_SETTING_LIST(SETTING_ROW)};
#undef SETTING_ROW

tp_status tpi_adopt_refuse(const struct tpi_adopt_reader *reader, const char *why, const char *text) {
    return tpi_error(TP_MISUSE, "line %d: %s: %s%s%.60s%s", reader->line, reader->what, why,
                     *text ? ": '" : "", text, *text ? "'" : "");
}

const char *tpi_adopt_begin(struct tpi_adopt_reader *reader, enum tpi_setting setting) {
    reader->line = reader->lines[setting];
    reader->what = settings[setting].name;
    return reader->values[setting];
}

static tp_status take_setting(struct tpi_adopt_reader *reader, char *line) {
    char *value = strchr(line, '=');
    size_t length = strcspn(line, " \t=");
    reader->what = line;
    if (!value) return tpi_adopt_refuse(reader, "want NAME = VALUE", "");
    line[length] = '\0';
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(settings[i].name, line) != 0) continue;
        if (reader->values[i]) return tpi_adopt_refuse(reader, "given twice", "");
        reader->values[i] = value + 1 + strspn(value + 1, " \t");
        reader->lines[i] = reader->line;
        return *reader->values[i] ? TP_OK : tpi_adopt_refuse(reader, "the value is missing", "");
    }
    return tpi_adopt_refuse(reader, "no such setting", "");
}

/* A # that stands in quotes is none. */
static void cut_comment(char *line) {
    char quote = '\0';
    for (; *line && (quote || *line != '#'); line++)
        if (*line == quote)
            quote = '\0';
        else if (!quote && (*line == '\'' || *line == '"'))
            quote = *line;
    *line = '\0';
}

static tp_status take_line(struct tpi_adopt_reader *reader, char *line) {
    cut_comment(line);
    for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
        line[--length] = '\0';
    line += strspn(line, " \t");
    if (!*line) return TP_OK;
    for (const char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c) && *c != '\t')
            return tpi_adopt_refuse(reader, "a control character", "");
    return take_setting(reader, line);
}

/* What stands for a mark, and what goes without one. */
static tp_status check_together(struct tpi_adopt_reader *reader) {
    static const enum tpi_setting marked[] = {STATE, OPEN, OWNER, TAKEN, SKIPPED},
                                  deleted[] = {HISTORY, COLUMNS, REASON};
    const bool alone = reader->values[ALONE] != NULL;
    for (size_t i = 0; alone && i < sizeof marked / sizeof marked[0]; i++)
        if (reader->values[marked[i]]) {
            (void)tpi_adopt_begin(reader, marked[i]);
            return tpi_adopt_refuse(reader,
                                    "rows that nobody else takes have no mark; leave it out, or alone =", "");
        }
    for (size_t i = 0; i < sizeof deleted / sizeof deleted[0]; i++)
        if (reader->values[deleted[i]] && !(alone && reader->values[HISTORY])) {
            (void)tpi_adopt_begin(reader, deleted[i]);
            return tpi_adopt_refuse(reader, "is for alone = yes with a history", "");
        }
    if (!reader->values[HISTORY] || reader->values[COLUMNS]) return TP_OK;
    (void)tpi_adopt_begin(reader, HISTORY);
    return tpi_adopt_refuse(reader, "which columns = of a row go into it?", "");
}

tp_status tpi_adopt_lines(struct tpi_adopt_reader *reader, char *text) {
    tp_status status = TP_OK;
    for (char *line = text; line && status == TP_OK;) {
        char *next = strchr(line, '\n');
        if (next) *next++ = '\0';
        reader->line++;
        reader->what = "the line";
        status = strlen(line) > LINE_MAX_BYTES ? tpi_adopt_refuse(reader, "too long", "")
                                               : take_line(reader, line);
        line = next;
    }
    if (status == TP_OK) status = check_together(reader);
    const bool alone = reader->values[ALONE] != NULL;
    for (size_t i = 0; i < SETTING_COUNT && status == TP_OK; i++)
        if (settings[i].required[alone] && !reader->values[i])
            status = tpi_error(TP_MISUSE, "%s = is missing%s", settings[i].name,
                               i == TAKEN || i == STATE
                                   ? ": a table without a mark that old consumers see cannot be shared with "
                                     "them; alone = yes says that there are none; see docs/adopting.md"
                                   : "");
    return status;
}
