/* See render.h. */
#include "store/render.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static void places(struct tpi_buf *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        tpi_buf_text(out, i ? ", ?" : "?");
}

/* from..to; *param counts parameters. */
static void part(const struct tpi_sql *sql, const char *prefix, size_t list, const char *from, const char *to,
                 size_t *param, struct tpi_buf *out) {
    for (; from < to; from++) {
        if (*from == TPI_SQL_PREFIX)
            tpi_buf_text(out, prefix);
        else if (*from != TPI_SQL_PARAM)
            tpi_buf_char(out, *from);
        else
            places(out, tpi_param_kind((enum tpi_param)sql->params[(*param)++]) == TPI_TEXT_LIST ? list : 1);
    }
}

void tpi_render(const struct tpi_sql *sql, const char *prefix, size_t list, size_t rows,
                struct tpi_buf *out) {
    size_t param = 0;
    const char *end = sql->text + strlen(sql->text);
    const char *begin = strchr(sql->text, TPI_SQL_ROWS);
    if (!begin) {
        part(sql, prefix, list, sql->text, end, &param, out);
        return;
    }
    const char *close = strchr(begin, TPI_SQL_ROWS_END);
    part(sql, prefix, list, sql->text, begin, &param, out);
    size_t first = param;
    for (size_t i = 0; i < rows; i++) {
        param = first;
        if (i) tpi_buf_text(out, "UNION ALL");
        part(sql, prefix, list, begin + 1, close, &param, out);
    }
    part(sql, prefix, list, close + 1, end, &param, out);
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
