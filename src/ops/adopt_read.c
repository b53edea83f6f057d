/* Reads the mapping of an adoption: lines NAME = VALUE, # begins a comment. Names must be identifiers, values
 * numbers or texts in single quotes; anything else is refused with its line. Must not know the scripts. See
 * adopt.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/adopt.h"

enum { VALUE_MAX = 120, LINE_MAX_BYTES = 1000, NAME_MAX_BYTES = 16, IDENTIFIER_MAX = 63 };

/* X(enumerator, "name", required) */
#define SETTING_LIST(X)                                                                                      \
    X(NAME, "name", true)                                                                                    \
    X(TABLE, "table", true)                                                                                  \
    X(KEY, "key", true)                                                                                      \
    X(STATE, "state", true)                                                                                  \
    X(OPEN, "open", true)                                                                                    \
    X(OWNER, "owner", false)                                                                                 \
    X(TAKEN, "taken", true)                                                                                  \
    X(DONE, "done", true)                                                                                    \
    X(SKIPPED, "skipped", false)                                                                             \
    X(FAILED, "failed", true)                                                                                \
    X(ONLY, "only", false)                                                                                   \
    X(HANDLER, "handler", true)                                                                              \
    X(BIZ_KEY, "biz_key", false)                                                                             \
    X(PARAMS, "params", false)                                                                               \
    X(FAILURES, "failures", false)                                                                           \
    X(BATCH, "batch", false)
#define SETTING_ENUM(id, name, required) id,
#define SETTING_ROW(id, name, required)  {name, required},
enum setting { SETTING_LIST(SETTING_ENUM) SETTING_COUNT };
static const struct {
    const char *name;
    bool required;
} settings[SETTING_COUNT] = {SETTING_LIST(SETTING_ROW)};

struct reader {
    struct tpi_adoption *adoption;
    int line;
    int lines[SETTING_COUNT]; /* 0: not given */
    char *values[SETTING_COUNT];
    const char *what; /* the setting that is read */
};

static tp_status refuse(const struct reader *reader, const char *why, const char *text) {
    return tpi_error(TP_MISUSE, "line %d: %s: %s%s%.60s%s", reader->line, reader->what, why,
                     *text ? ": '" : "", text, *text ? "'" : "");
}

static const char *blanks(const char *at) {
    return at + strspn(at, " \t");
}

/* ---- Names and values ---------------------------------------------------------------------------------- */

static bool plain(char c, bool first) {
    return isalpha((unsigned char)c) || c == '_' || (!first && (isdigit((unsigned char)c) || c == '$'));
}

/* The name from..to in the quotes of the database, folded as it would be without them. */
static void write_name(const struct tpi_dialect *dialect, const char *from, const char *to, bool exact,
                       struct tpi_buf *out) {
    int name_case = exact ? 0 : dialect->name_case;
    tpi_buf_char(out, dialect->name_quote);
    for (; from < to; from++) {
        bool lower = *from >= 'a' && *from <= 'z', upper = *from >= 'A' && *from <= 'Z';
        bool folds = name_case < 0 ? upper : name_case > 0 && lower;
        tpi_buf_char(out, folds ? (char)(*from ^ 0x20) : *from);
    }
    tpi_buf_char(out, dialect->name_quote);
}

/* In double quotes there may be what else needs them, but no quote. */
static const char *quoted_end(const char *at) {
    while (plain(*at, false) || *at == ' ' || *at == '#' || *at == '-')
        at++;
    return at;
}

static const char *plain_end(const char *at) {
    const char *from = at;
    while (plain(*at, at == from))
        at++;
    return at;
}

/* One name at *at; in double quotes it is exactly that. */
static tp_status read_name(const struct reader *reader, const char **at, struct tpi_buf *out) {
    bool exact = **at == '"';
    const char *from = *at + exact, *to = exact ? quoted_end(from) : plain_end(from);
    if (to == from || to - from > IDENTIFIER_MAX || (exact && *to != '"'))
        return refuse(reader, "no name of a table or column", *at);
    write_name(reader->adoption->dialect, from, to, exact, out);
    *at = blanks(to + exact);
    return out->failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* A number, or a text in single quotes. A backslash would mean different things to different databases. */
static tp_status read_value(const struct reader *reader, const char **at, struct tpi_buf *out) {
    const char *from = *at, *to = from;
    bool good;
    if (*from == '\'') {
        for (to++; *to && (*to != '\'' || to[1] == '\''); to += *to == '\'' ? 2 : 1)
            if (*to == '\\' || *to == '[' || *to == ']')
                return refuse(reader, "a text with \\ or [ or ]", from);
        good = *to == '\'' && to - from > 1 && to - from <= VALUE_MAX;
        to += *to == '\'';
    } else {
        to += *to == '-';
        size_t digits = strspn(to, "0123456789");
        to += digits;
        good = digits && digits <= 18;
    }
    if (!good || (*blanks(to) && *blanks(to) != ','))
        return refuse(reader, "no number and no text in single quotes", from);
    tpi_buf_add(out, from, (size_t)(to - from));
    *at = blanks(to);
    return out->failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

static tp_status end_of(const struct reader *reader, const char *at) {
    return *at ? refuse(reader, "there is more than can be here", at) : TP_OK;
}

static tp_status only_name(const struct reader *reader, const char *at, struct tpi_buf *out) {
    tp_status status = read_name(reader, &at, out);
    return status == TP_OK ? end_of(reader, at) : status;
}

static tp_status only_value(const struct reader *reader, const char *at, struct tpi_buf *out) {
    tp_status status = read_value(reader, &at, out);
    return status == TP_OK ? end_of(reader, at) : status;
}

static const char *begin(struct reader *reader, enum setting setting) {
    reader->line = reader->lines[setting];
    reader->what = settings[setting].name;
    return reader->values[setting];
}

static tp_status read_table(struct reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    const char *name = begin(reader, NAME), *at;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (name[length] || length > NAME_MAX_BYTES || !isalpha((unsigned char)*name))
        return refuse(reader, "a letter, and up to 15 small letters, digits or _", name);
    tpi_buf_text(&words[TPI_ADOPT_NAME], name);
    at = begin(reader, TABLE);
    tp_status status = read_name(reader, &at, &words[TPI_ADOPT_TABLE]);
    if (status == TP_OK && *at == '.') {
        at++;
        tpi_buf_char(&words[TPI_ADOPT_TABLE], '.');
        status = read_name(reader, &at, &words[TPI_ADOPT_TABLE]);
    }
    return status == TP_OK ? end_of(reader, at) : status;
}

static tp_status read_keys(struct reader *reader) {
    struct tpi_adoption *adoption = reader->adoption;
    const char *at = begin(reader, KEY);
    for (;;) {
        if (adoption->key_count == TPI_ADOPT_KEYS_MAX) return refuse(reader, "at most 8 columns", at);
        tp_status status = read_name(reader, &at, &adoption->keys[adoption->key_count++]);
        if (status != TP_OK) return status;
        if (*at != ',') return end_of(reader, at);
        at = blanks(at + 1);
    }
}

/* The condition of an open row: one of the values, or above a number; free; and what only= says. */
static tp_status read_open(struct reader *reader) {
    struct tpi_buf *words = reader->adoption->words, *out = &words[TPI_ADOPT_OPEN];
    const char *state = words[TPI_ADOPT_STATE].data, *at = begin(reader, OPEN);
    if (words[TPI_ADOPT_OWNER].length) {
        tpi_buf_text(out, words[TPI_ADOPT_OWNER].data);
        tpi_buf_text(out, " IS NULL AND ");
    }
    tpi_buf_char(out, '(');
    for (;;) {
        bool above = *at == '>';
        if (above) at = blanks(at + 1);
        if (above && *at == '\'') return refuse(reader, "> wants a number", at);
        tpi_buf_text(out, state);
        tpi_buf_text(out, above ? " > " : " = ");
        tp_status status = read_value(reader, &at, out);
        if (status != TP_OK) return status;
        if (*at != ',') break;
        at = blanks(at + 1);
        tpi_buf_text(out, " OR ");
    }
    tpi_buf_char(out, ')');
    tp_status status = end_of(reader, at);
    if (status != TP_OK || !reader->values[ONLY]) return status;
    at = begin(reader, ONLY);
    tpi_buf_text(out, " AND ");
    status = read_name(reader, &at, out);
    if (status == TP_OK && *at != '=') status = refuse(reader, "want COLUMN = VALUE", at);
    tpi_buf_text(out, " = ");
    if (status != TP_OK) return status;
    return only_value(reader, blanks(at + 1), out);
}

/* To the database: numbers by what they are, texts in any case where the column compares so. */
static bool same_value(const char *a, const char *b) {
    if (*a == '\'' || *b == '\'') return strcasecmp(a, b) == 0;
    return strtoll(a, NULL, 10) == strtoll(b, NULL, 10);
}

/* Does open take a row of that value? */
static bool is_open(struct reader *reader, const char *value) {
    struct tpi_buf one = {0};
    bool found = false;
    for (const char *at = begin(reader, OPEN); *at && !found; at = blanks(at + (*at == ','))) {
        bool above = *at == '>';
        if (above) at = blanks(at + 1);
        tpi_buf_clear(&one);
        if (read_value(reader, &at, &one) != TP_OK) break;
        found = above ? *value != '\'' && strtoll(value, NULL, 10) > strtoll(one.data, NULL, 10)
                      : same_value(one.data, value);
    }
    tpi_buf_free(&one);
    return found;
}

/* A row that carries the mark, or a result, must not look open to anybody. */
static tp_status check_results(struct reader *reader) {
    static const struct {
        enum setting setting;
        enum tpi_adopt_word word;
    } results[] = {{TAKEN, TPI_ADOPT_TAKEN},
                   {DONE, TPI_ADOPT_DONE},
                   {SKIPPED, TPI_ADOPT_SKIPPED},
                   {FAILED, TPI_ADOPT_FAILED}};
    struct tpi_buf *words = reader->adoption->words;
    if (words[TPI_ADOPT_OWNER].length) return TP_OK; /* the mark stays in the owner's column */
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        const char *value = words[results[i].word].data;
        bool open = is_open(reader, value), same = i && same_value(value, words[TPI_ADOPT_TAKEN].data);
        if (!open && !same) continue;
        (void)begin(reader, reader->values[results[i].setting] ? results[i].setting : DONE);
        return refuse(reader,
                      open ? "an open row's value too; old consumers would take the row"
                           : "the value of taken too; say another",
                      value);
    }
    if (same_value(words[TPI_ADOPT_FAILED].data, words[TPI_ADOPT_DONE].data)) {
        (void)begin(reader, FAILED);
        return refuse(reader, "the value of done too; say another", words[TPI_ADOPT_DONE].data);
    }
    return TP_OK;
}

static tp_status read_states(struct reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    bool owned = reader->values[OWNER] != NULL;
    tp_status status = only_name(reader, begin(reader, STATE), &words[TPI_ADOPT_STATE]);
    if (status == TP_OK && owned) status = only_name(reader, begin(reader, OWNER), &words[TPI_ADOPT_OWNER]);
    if (status == TP_OK) status = read_open(reader);
    if (status == TP_OK) status = only_value(reader, begin(reader, TAKEN), &words[TPI_ADOPT_TAKEN]);
    if (status == TP_OK) status = only_value(reader, begin(reader, DONE), &words[TPI_ADOPT_DONE]);
    if (status == TP_OK)
        status = only_value(reader, begin(reader, reader->values[SKIPPED] ? SKIPPED : DONE),
                            &words[TPI_ADOPT_SKIPPED]);
    if (status == TP_OK) status = only_value(reader, begin(reader, FAILED), &words[TPI_ADOPT_FAILED]);
    if (status == TP_OK) status = check_results(reader);
    if (status != TP_OK) return status;
    tpi_buf_text(&words[TPI_ADOPT_MARK], words[owned ? TPI_ADOPT_OWNER : TPI_ADOPT_STATE].data);
    return TP_OK;
}

/* A column of the old row; the state as it was before the mark. */
static tp_status read_column(struct reader *reader, enum setting setting, struct tpi_buf *out,
                             const char *absent) {
    const struct tpi_buf *words = reader->adoption->words;
    struct tpi_buf name = {0};
    if (!reader->values[setting]) {
        tpi_buf_text(out, absent);
        return TP_OK;
    }
    tp_status status = only_name(reader, begin(reader, setting), &name);
    if (status == TP_OK && strcmp(name.data, words[TPI_ADOPT_STATE].data) == 0) {
        tpi_buf_text(out, "link.link_was");
    } else if (status == TP_OK) {
        tpi_buf_text(out, "src.");
        tpi_buf_text(out, name.data);
    }
    tpi_buf_free(&name);
    return status;
}

static tp_status read_content(struct reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    const char *handler = begin(reader, HANDLER);
    int64_t batch = 1000;
    tp_status status = *handler == '\'' ? only_value(reader, handler, &words[TPI_ADOPT_HANDLER])
                                        : read_column(reader, HANDLER, &words[TPI_ADOPT_HANDLER], "");
    if (status == TP_OK) status = read_column(reader, BIZ_KEY, &words[TPI_ADOPT_BIZ_KEY], "");
    if (status == TP_OK) status = read_column(reader, PARAMS, &words[TPI_ADOPT_PARAMS], "NULL");
    if (status == TP_OK) status = read_column(reader, FAILURES, &words[TPI_ADOPT_FAILURES], "0");
    if (status != TP_OK) return status;
    if (reader->values[BATCH] &&
        (!tpi_number_exact(begin(reader, BATCH), &batch) || batch < 1 || batch > TPI_ADOPT_BATCH_MAX))
        return refuse(reader, "1 to 10000 rows", reader->values[BATCH]);
    tpi_buf_int(&words[TPI_ADOPT_BATCH], batch);
    return TP_OK;
}

/* ---- The file ------------------------------------------------------------------------------------------ */

static tp_status take_setting(struct reader *reader, char *line) {
    char *value = strchr(line, '=');
    size_t length = strcspn(line, " \t=");
    reader->what = line;
    if (!value) return refuse(reader, "want NAME = VALUE", "");
    line[length] = '\0';
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(settings[i].name, line) != 0) continue;
        if (reader->values[i]) return refuse(reader, "given twice", "");
        reader->values[i] = value + 1 + strspn(value + 1, " \t");
        reader->lines[i] = reader->line;
        return *reader->values[i] ? TP_OK : refuse(reader, "the value is missing", "");
    }
    return refuse(reader, "no such setting", "");
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

static tp_status take_line(struct reader *reader, char *line) {
    cut_comment(line);
    for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
        line[--length] = '\0';
    line += strspn(line, " \t");
    if (!*line) return TP_OK;
    for (const char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c) && *c != '\t') return refuse(reader, "a control character", "");
    return take_setting(reader, line);
}

static tp_status take_lines(struct reader *reader, char *text) {
    tp_status status = TP_OK;
    for (char *line = text; line && status == TP_OK;) {
        char *next = strchr(line, '\n');
        if (next) *next++ = '\0';
        reader->line++;
        reader->what = "the line";
        status = strlen(line) > LINE_MAX_BYTES ? refuse(reader, "too long", "") : take_line(reader, line);
        line = next;
    }
    for (size_t i = 0; i < SETTING_COUNT && status == TP_OK; i++)
        if (settings[i].required && !reader->values[i])
            status =
                tpi_error(TP_MISUSE, "%s = is missing%s", settings[i].name,
                          i == TAKEN ? ": a table without a mark that old consumers see cannot be shared "
                                       "with them; see docs/adopting.md"
                                     : "");
    return status;
}

static bool no_memory(const struct tpi_adoption *adoption) {
    bool failed = false;
    for (size_t i = 0; i < TPI_ADOPT_COUNT; i++)
        failed = failed || adoption->words[i].failed;
    for (size_t i = 0; i < adoption->key_count; i++)
        failed = failed || adoption->keys[i].failed;
    return failed;
}

tp_status tpi_adopt_read(const char *mapping, const struct tpi_dialect *dialect,
                         struct tpi_adoption *adoption) {
    struct reader reader = {.adoption = adoption};
    adoption->dialect = dialect;
    if (!dialect->adopt || !dialect->adopt->file)
        return tpi_error(TP_UNSUPPORTED, "dialect %s cannot adopt a table: it has no text that makes ids",
                         dialect->name);
    if (!tpi_utf8_valid(mapping, strlen(mapping))) return tpi_error(TP_MISUSE, "the mapping is not UTF-8");
    char *text = strdup(mapping);
    if (!text) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = take_lines(&reader, text);
    if (status == TP_OK) status = read_table(&reader);
    if (status == TP_OK) status = read_keys(&reader);
    if (status == TP_OK) status = read_states(&reader);
    if (status == TP_OK) status = read_content(&reader);
    free(text);
    return no_memory(adoption) ? tpi_error(TP_NOMEM, "out of memory") : status;
}
