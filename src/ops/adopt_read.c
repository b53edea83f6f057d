/* What the settings of an adoption mean: names must be identifiers, values numbers or texts in single quotes;
 * anything else is refused with its line. Must not know the scripts. See adopt.h and adopt_lines.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/adopt_lines.h"

enum { VALUE_MAX = 120, NAME_MAX_BYTES = 16, IDENTIFIER_MAX = 63 };

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
static tp_status read_name(const struct tpi_adopt_reader *reader, const char **at, struct tpi_buf *out) {
    bool exact = **at == '"';
    const char *from = *at + exact, *to = exact ? quoted_end(from) : plain_end(from);
    if (to == from || to - from > IDENTIFIER_MAX || (exact && *to != '"'))
        return tpi_adopt_refuse(reader, "no name of a table or column", *at);
    write_name(reader->adoption->dialect, from, to, exact, out);
    *at = blanks(to + exact);
    return out->failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* A number, or a text in single quotes. A backslash would mean different things to different databases. */
static tp_status read_value(const struct tpi_adopt_reader *reader, const char **at, struct tpi_buf *out) {
    const char *from = *at, *to = from;
    bool good;
    if (*from == '\'') {
        for (to++; *to && (*to != '\'' || to[1] == '\''); to += *to == '\'' ? 2 : 1)
            if (*to == '\\' || *to == '[' || *to == ']')
                return tpi_adopt_refuse(reader, "a text with \\ or [ or ]", from);
        good = *to == '\'' && to - from > 1 && to - from <= VALUE_MAX;
        to += *to == '\'';
    } else {
        to += *to == '-';
        size_t digits = strspn(to, "0123456789");
        to += digits;
        good = digits && digits <= 18;
    }
    if (!good || (*blanks(to) && *blanks(to) != ','))
        return tpi_adopt_refuse(reader, "no number and no text in single quotes", from);
    tpi_buf_add(out, from, (size_t)(to - from));
    *at = blanks(to);
    return out->failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

static tp_status end_of(const struct tpi_adopt_reader *reader, const char *at) {
    return *at ? tpi_adopt_refuse(reader, "there is more than can be here", at) : TP_OK;
}

static tp_status only_name(const struct tpi_adopt_reader *reader, const char *at, struct tpi_buf *out) {
    tp_status status = read_name(reader, &at, out);
    return status == TP_OK ? end_of(reader, at) : status;
}

static tp_status only_value(const struct tpi_adopt_reader *reader, const char *at, struct tpi_buf *out) {
    tp_status status = read_value(reader, &at, out);
    return status == TP_OK ? end_of(reader, at) : status;
}

static tp_status read_table_name(struct tpi_adopt_reader *reader, enum tpi_setting setting,
                                 struct tpi_buf *out) {
    const char *at = tpi_adopt_begin(reader, setting);
    tp_status status = read_name(reader, &at, out);
    if (status == TP_OK && *at == '.') {
        at++;
        tpi_buf_char(out, '.');
        status = read_name(reader, &at, out);
    }
    return status == TP_OK ? end_of(reader, at) : status;
}

static tp_status read_table(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    const char *name = tpi_adopt_begin(reader, NAME);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (name[length] || length > NAME_MAX_BYTES || !isalpha((unsigned char)*name))
        return tpi_adopt_refuse(reader, "a letter, and up to 15 small letters, digits or _", name);
    tpi_buf_text(&words[TPI_ADOPT_NAME], name);
    return read_table_name(reader, TABLE, &words[TPI_ADOPT_TABLE]);
}

static tp_status read_keys(struct tpi_adopt_reader *reader) {
    struct tpi_adoption *adoption = reader->adoption;
    const char *at = tpi_adopt_begin(reader, KEY);
    for (;;) {
        if (adoption->key_count == TPI_ADOPT_KEYS_MAX)
            return tpi_adopt_refuse(reader, "at most 8 columns", at);
        tp_status status = read_name(reader, &at, &adoption->keys[adoption->key_count++]);
        if (status != TP_OK) return status;
        if (*at != ',') return end_of(reader, at);
        at = blanks(at + 1);
    }
}

/* COLUMN = VALUE */
static tp_status read_only(struct tpi_adopt_reader *reader, struct tpi_buf *out) {
    const char *at = tpi_adopt_begin(reader, ONLY);
    tp_status status = read_name(reader, &at, out);
    if (status == TP_OK && *at != '=') status = tpi_adopt_refuse(reader, "want COLUMN = VALUE", at);
    if (status != TP_OK) return status;
    tpi_buf_text(out, " = ");
    return only_value(reader, blanks(at + 1), out);
}

/* The condition of an open row: one of the values, or above a number; free; and what only= says. */
static tp_status read_open(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words, *out = &words[TPI_ADOPT_OPEN];
    const char *state = words[TPI_ADOPT_STATE].data, *at = tpi_adopt_begin(reader, OPEN);
    if (words[TPI_ADOPT_OWNER].length) {
        tpi_buf_text(out, words[TPI_ADOPT_OWNER].data);
        tpi_buf_text(out, " IS NULL AND ");
    }
    tpi_buf_char(out, '(');
    for (;;) {
        bool above = *at == '>';
        if (above) at = blanks(at + 1);
        if (above && *at == '\'') return tpi_adopt_refuse(reader, "> wants a number", at);
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
    tpi_buf_text(out, " AND ");
    return read_only(reader, out);
}

/* 5 and '5', also with blanks: a column of numbers takes both. */
static bool number_of(const char *value, long long *number) {
    char *end;
    const char *from = value + (*value == '\'');
    *number = strtoll(from, &end, 10);
    return end > from && strspn(end, " '") == strlen(end);
}

/* Without the blanks at its end, which some columns do not see. */
static size_t length_of(const char *value) {
    size_t length = strlen(value);
    while (length && strchr(" '", value[length - 1]))
        length--;
    return length;
}

/* To the database: numbers by what they are, texts in any case where the column compares so. */
static bool same_value(const char *a, const char *b) {
    long long left, right;
    if (number_of(a, &left) && number_of(b, &right)) return left == right;
    return length_of(a) == length_of(b) && strncasecmp(a, b, length_of(a)) == 0;
}

/* Does open take a row of that value? */
static bool is_open(struct tpi_adopt_reader *reader, const char *value) {
    struct tpi_buf one = {0};
    long long number, bound;
    bool found = false;
    for (const char *at = tpi_adopt_begin(reader, OPEN); *at && !found; at = blanks(at + (*at == ','))) {
        bool above = *at == '>';
        if (above) at = blanks(at + 1);
        tpi_buf_clear(&one);
        if (read_value(reader, &at, &one) != TP_OK) break;
        /* To some databases any text is more than any number. */
        found = above ? !number_of(value, &number) || (number_of(one.data, &bound) && number > bound)
                      : same_value(one.data, value);
    }
    tpi_buf_free(&one);
    return found;
}

/* A row that carries the mark, or a result, must not look open to anybody. */
static tp_status check_results(struct tpi_adopt_reader *reader) {
    static const struct {
        enum tpi_setting setting;
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
        (void)tpi_adopt_begin(reader, reader->values[results[i].setting] ? results[i].setting : DONE);
        return tpi_adopt_refuse(reader,
                                open ? "an open row's value too; old consumers would take the row"
                                     : "the value of taken too; say another",
                                value);
    }
    if (same_value(words[TPI_ADOPT_FAILED].data, words[TPI_ADOPT_DONE].data)) {
        (void)tpi_adopt_begin(reader, FAILED);
        return tpi_adopt_refuse(reader, "the value of done too; say another", words[TPI_ADOPT_DONE].data);
    }
    return TP_OK;
}

static tp_status read_states(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    bool owned = reader->values[OWNER] != NULL;
    tp_status status = only_name(reader, tpi_adopt_begin(reader, STATE), &words[TPI_ADOPT_STATE]);
    if (status == TP_OK && owned)
        status = only_name(reader, tpi_adopt_begin(reader, OWNER), &words[TPI_ADOPT_OWNER]);
    if (status == TP_OK) status = read_open(reader);
    if (status == TP_OK) status = only_value(reader, tpi_adopt_begin(reader, TAKEN), &words[TPI_ADOPT_TAKEN]);
    if (status == TP_OK) status = only_value(reader, tpi_adopt_begin(reader, DONE), &words[TPI_ADOPT_DONE]);
    if (status == TP_OK)
        status = only_value(reader, tpi_adopt_begin(reader, reader->values[SKIPPED] ? SKIPPED : DONE),
                            &words[TPI_ADOPT_SKIPPED]);
    if (status == TP_OK)
        status = only_value(reader, tpi_adopt_begin(reader, FAILED), &words[TPI_ADOPT_FAILED]);
    if (status == TP_OK) status = check_results(reader);
    if (status != TP_OK) return status;
    tpi_buf_text(&words[TPI_ADOPT_MARK], words[owned ? TPI_ADOPT_OWNER : TPI_ADOPT_STATE].data);
    return TP_OK;
}

/* ---- A table that nobody else takes rows from ------------------------------------------------------------
 */

static tp_status read_word(struct tpi_adopt_reader *reader, enum tpi_setting setting, const char *word) {
    const char *value = tpi_adopt_begin(reader, setting);
    return strcmp(value, word) == 0 ? TP_OK : tpi_adopt_refuse(reader, "can only be", word);
}

/* The table of failed rows, the columns that go into it, and what is written into the row before. */
static tp_status read_history(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words, *columns = &words[TPI_ADOPT_COLUMNS];
    tp_status status = read_table_name(reader, HISTORY, &words[TPI_ADOPT_HISTORY]);
    const char *at = status == TP_OK ? tpi_adopt_begin(reader, COLUMNS) : "";
    for (bool more = true; more && status == TP_OK;) {
        status = read_name(reader, &at, columns);
        more = *at == ',';
        if (more) tpi_buf_text(columns, ", ");
        at = blanks(at + more);
    }
    if (status == TP_OK) status = end_of(reader, at);
    if (status == TP_OK && reader->values[REASON])
        status = only_name(reader, tpi_adopt_begin(reader, REASON), &words[TPI_ADOPT_REASON]);
    if (status == TP_OK && reader->values[FAILURES])
        status = only_name(reader, tpi_adopt_begin(reader, FAILURES), &words[TPI_ADOPT_COUNTED]);
    return status;
}

static tp_status read_alone(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    tp_status status = read_word(reader, ALONE, "yes");
    if (status == TP_OK) status = read_word(reader, DONE, "delete");
    if (status == TP_OK) status = read_word(reader, FAILED, "delete");
    if (status == TP_OK && reader->values[HISTORY]) status = read_history(reader);
    if (status != TP_OK) return status;
    tpi_buf_text(&words[TPI_ADOPT_ALONE], "yes");
    if (reader->values[ONLY]) return read_only(reader, &words[TPI_ADOPT_OPEN]);
    tpi_buf_text(&words[TPI_ADOPT_OPEN], "1 = 1");
    return TP_OK;
}

/* ---- Content ----------------------------------------------------------------------------------------------
 */

/* A column of the old row; the state as it was before the mark. */
static tp_status read_column(struct tpi_adopt_reader *reader, enum tpi_setting setting, struct tpi_buf *out,
                             const char *absent) {
    const struct tpi_buf *words = reader->adoption->words;
    struct tpi_buf name = {0};
    if (!reader->values[setting]) {
        tpi_buf_text(out, absent);
        return TP_OK;
    }
    tp_status status = only_name(reader, tpi_adopt_begin(reader, setting), &name);
    const struct tpi_buf *state = &words[TPI_ADOPT_STATE];
    if (status == TP_OK && state->length && strcmp(name.data, state->data) == 0) {
        tpi_buf_text(out, "link.link_was");
    } else if (status == TP_OK) {
        tpi_buf_text(out, "src.");
        tpi_buf_text(out, name.data);
    }
    tpi_buf_free(&name);
    return status;
}

static tp_status read_content(struct tpi_adopt_reader *reader) {
    struct tpi_buf *words = reader->adoption->words;
    const char *handler = tpi_adopt_begin(reader, HANDLER);
    int64_t batch = 1000;
    tp_status status = *handler == '\'' ? only_value(reader, handler, &words[TPI_ADOPT_HANDLER])
                                        : read_column(reader, HANDLER, &words[TPI_ADOPT_HANDLER], "");
    if (status == TP_OK) status = read_column(reader, BIZ_KEY, &words[TPI_ADOPT_BIZ_KEY], "");
    if (status == TP_OK) status = read_column(reader, PARAMS, &words[TPI_ADOPT_PARAMS], "NULL");
    if (status == TP_OK) status = read_column(reader, FAILURES, &words[TPI_ADOPT_FAILURES], "0");
    if (status == TP_OK) status = read_column(reader, SHARD, &words[TPI_ADOPT_SHARD], "0");
    if (status == TP_OK) status = read_column(reader, DUE, &words[TPI_ADOPT_DUE], "");
    if (status != TP_OK) return status;
    if (reader->values[BATCH] && (!tpi_number_exact(tpi_adopt_begin(reader, BATCH), &batch) || batch < 1 ||
                                  batch > TPI_ADOPT_BATCH_MAX))
        return tpi_adopt_refuse(reader, "1 to 10000 rows", reader->values[BATCH]);
    tpi_buf_int(&words[TPI_ADOPT_BATCH], batch);
    return TP_OK;
}

/* What a round writes into a row must not be what the row is known by. */
static tp_status check_keys(struct tpi_adopt_reader *reader) {
    static const enum tpi_adopt_word written[] = {TPI_ADOPT_STATE, TPI_ADOPT_OWNER, TPI_ADOPT_REASON,
                                                  TPI_ADOPT_COUNTED};
    const struct tpi_adoption *adoption = reader->adoption;
    for (size_t i = 0; i < adoption->key_count; i++)
        for (size_t j = 0; j < sizeof written / sizeof written[0]; j++) {
            const struct tpi_buf *word = &adoption->words[written[j]];
            const char *key = adoption->keys[i].data;
            int (*compare)(const char *, const char *) = adoption->dialect->name_case ? strcmp : strcasecmp;
            if (!word->length || compare(key, word->data) != 0) continue;
            (void)tpi_adopt_begin(reader, KEY);
            return tpi_adopt_refuse(reader, "a round writes into this column, and would lose the row", key);
        }
    return TP_OK;
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
    struct tpi_adopt_reader reader = {.adoption = adoption};
    adoption->dialect = dialect;
    if (!dialect->adopt || !dialect->adopt->file)
        return tpi_error(TP_UNSUPPORTED, "dialect %s cannot adopt a table: it has no text that makes ids",
                         dialect->name);
    if (!tpi_utf8_valid(mapping, strlen(mapping))) return tpi_error(TP_MISUSE, "the mapping is not UTF-8");
    char *text = strdup(mapping);
    if (!text) return tpi_error(TP_NOMEM, "out of memory");
    tp_status status = tpi_adopt_lines(&reader, text);
    if (status == TP_OK) status = read_table(&reader);
    if (status == TP_OK) status = read_keys(&reader);
    if (status == TP_OK) status = reader.values[ALONE] ? read_alone(&reader) : read_states(&reader);
    if (status == TP_OK) status = check_keys(&reader);
    if (status == TP_OK) status = read_content(&reader);
    free(text);
    return no_memory(adoption) ? tpi_error(TP_NOMEM, "out of memory") : status;
}

void tpi_adopt_free(struct tpi_adoption *adoption) {
    for (size_t i = 0; i < TPI_ADOPT_COUNT; i++)
        tpi_buf_free(&adoption->words[i]);
    for (size_t i = 0; i < TPI_ADOPT_KEYS_MAX; i++)
        tpi_buf_free(&adoption->keys[i]);
}

bool tpi_adopt_alone(const struct tpi_adoption *adoption) {
    return adoption->words[TPI_ADOPT_ALONE].length != 0;
}
