/* Puts the prefix, parameter markers and repeated rows into a statement's text, leaves out its optional
 * parts, and quotes names where the database wants that. Must not know which statement it writes. See
 * render.h. */
#include "store/render.h"

#include <ctype.h>
#include <string.h>

static void write_params(struct tpi_buf *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        tpi_buf_text(out, i ? ", ?" : "?");
}

/* A statement being written; param counts its parameters. */
struct writer {
    const struct tpi_sql *sql;
    const char *prefix;
    struct tpi_repeats repeats;
    size_t param;
    struct tpi_buf *out;
};

static void write_param(struct writer *writer) {
    enum tpi_param_kind kind = tpi_param_kind((enum tpi_param)writer->sql->params[writer->param++]);
    size_t count = 1;
    if (kind == TPI_TEXT_LIST) count = writer->repeats.list;
    if (kind == TPI_NUMBER_LIST) count = writer->repeats.numbers;
    write_params(writer->out, count);
}

/* The end of an optional part, whose parameters are passed over. */
static const char *pass_over(struct writer *writer, const char *at) {
    for (; *at != TPI_SQL_IF_END; at++)
        if (*at == TPI_SQL_PARAM) writer->param++;
    return at;
}

/* Does the mark begin what is not to be written? */
static bool left_out(const struct writer *writer, char mark) {
    return (mark == TPI_SQL_IF && writer->repeats.numbers == 0) ||
           (mark == TPI_SQL_BUT_0 && writer->repeats.zero);
}

static void write_part(struct writer *writer, const char *from, const char *to) {
    for (; from < to; from++) {
        if (*from == TPI_SQL_PREFIX)
            tpi_buf_text(writer->out, writer->prefix);
        else if (*from == TPI_SQL_PARAM)
            write_param(writer);
        else if (left_out(writer, *from))
            from = pass_over(writer, from);
        else if (*from != TPI_SQL_IF && *from != TPI_SQL_BUT_0 && *from != TPI_SQL_IF_END)
            tpi_buf_char(writer->out, *from);
    }
}

void tpi_render(const struct tpi_sql *sql, const char *prefix, struct tpi_repeats repeats,
                struct tpi_buf *out) {
    struct writer writer = {sql, prefix, repeats, 0, out};
    const char *end = sql->text + strlen(sql->text);
    const char *begin = strchr(sql->text, TPI_SQL_ROWS);
    if (!begin) {
        write_part(&writer, sql->text, end);
        return;
    }
    const char *close = strchr(begin, TPI_SQL_ROWS_END);
    write_part(&writer, sql->text, begin);
    size_t first = writer.param;
    for (size_t i = 0; i < repeats.rows; i++) {
        writer.param = first;
        if (i) tpi_buf_text(out, "UNION ALL");
        write_part(&writer, begin + 1, close);
    }
    write_part(&writer, close + 1, end);
}

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

void tpi_render_script(const char *text, const char *prefix, const char *word, const char *replacement,
                       struct tpi_buf *out) {
    size_t length = word ? strlen(word) : 0;
    for (const char *at = text; *at; at++) {
        bool alone = length && strncmp(at, word, length) == 0 && !word_char(at[length]) &&
                     (at == text || !word_char(at[-1]));
        if (alone) {
            tpi_buf_text(out, replacement);
            at += length - 1;
        } else if (*at == TPI_SQL_PREFIX) {
            tpi_buf_text(out, prefix);
        } else {
            tpi_buf_char(out, *at);
        }
    }
}

static void write_name(const char *at, const char *end, const struct tpi_names *names, struct tpi_buf *out) {
    tpi_buf_text(out, names->quote);
    for (; at < end; at++) {
        char c = *at;
        if (names->stored == SQL_IC_UPPER && c >= 'a' && c <= 'z') c = (char)(c - 'a' + 'A');
        if (names->stored == SQL_IC_LOWER && c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        tpi_buf_char(out, c);
    }
    tpi_buf_text(out, names->quote);
}

void tpi_render_names(const struct tpi_names *names, struct tpi_buf *text) {
    struct tpi_buf out = {0};
    bool quoted = false;
    if (!names->quote[0] || text->failed || !text->length) return;
    for (const char *at = text->data, *end = at; *at; at = end) {
        bool lower = false;
        for (; !quoted && word_char(*end); end++)
            lower = lower || (*end >= 'a' && *end <= 'z');
        if (end == at) end++;
        if (*at == '\'') quoted = !quoted;
        if (lower)
            write_name(at, end, names, &out);
        else
            tpi_buf_add(&out, at, (size_t)(end - at));
    }
    tpi_buf_free(text);
    *text = out;
}
