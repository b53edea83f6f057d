/* See embed_text.h. */
#include "embed_text.h"

#include <ctype.h>
#include <string.h>

#include "dialect/dialect.h"
#include "embed_words.h"

/* Of the text that is being made. The optional part may stand in the repeated one. */
static struct state {
    bool in_script; /* no parameters: :NEW is a trigger's */
    bool in_rows, in_shards;
    bool rows_seen; /* a statement has one repeated part */
} state;
static struct embed_text *target;

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool embed_is_mark(char c) {
    return c > 0 && c <= EMBED_GROUPED && !isspace((unsigned char)c);
}

/* Copies a quoted part, from its opening to its closing quote. */
static const char *copy_quoted(const char *at, char **out) {
    const char *end = strchr(at + 1, *at);
    if (!end) embed_die("a quote is not closed", at);
    while (at <= end) {
        if (embed_is_mark(*at)) embed_die("a part begins or ends inside quotes", at);
        *(*out)++ = *at++;
    }
    return at;
}

/* The end of a comment that begins at at, or NULL. */
static const char *comment_end(const char *at) {
    if (at[0] == '-' && at[1] == '-') return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*') return NULL;
    const char *end = strstr(at, "*/");
    if (!end) embed_die("a comment is not closed", at);
    return end + 2;
}

/* Where a script begins or ends what MySQL's client is to leave out. What is in between is a part of the
 * statement. */
static const char *not_for_mysql(const char *at) {
    if (state.in_script && strncmp(at, "/*M! ", 5) == 0) return at + 5;
    return state.in_script && strncmp(at, "*/", 2) == 0 ? at + 2 : NULL;
}

static void refuse_mark(bool wrong, const char *what) {
    if (wrong) embed_die(what, target->text);
}

/* Copies a mark, which a word put there, unless it is about the whole statement. */
static const char *copy_mark(const char *at, char **out) {
    switch (*at) {
    case EMBED_GROUPED:
        target->grouped = true;
        return at + 1;
    case TPI_SQL_ROWS:
        refuse_mark(state.in_shards, "a part to be repeated begins inside an optional one");
        refuse_mark(state.rows_seen, "two parts are to be repeated");
        state.rows_seen = state.in_rows = true;
        break;
    case TPI_SQL_ROWS_END:
        refuse_mark(!state.in_rows || state.in_shards, "a part began in a comment");
        state.in_rows = false;
        break;
    case TPI_SQL_IF:
        refuse_mark(state.in_shards, "an optional part begins inside another");
        state.in_shards = true;
        break;
    case TPI_SQL_IF_END:
        refuse_mark(!state.in_shards, "a part began in a comment");
        state.in_shards = false;
        break;
    case TPI_SQL_BUT_0:
        refuse_mark(!state.in_shards, "what is not for shard 0 stands in no part about shards");
        break;
    }
    *(*out)++ = *at;
    return at + 1;
}

static const char *take_param(const char *at, char **out) {
    size_t length = 0;
    while (word_char(at[1 + length]))
        length++;
    if (length >= sizeof target->params[0] || target->param_count == EMBED_PARAMS_MAX)
        embed_die("too many parameters, or a long name", at);
    memcpy(target->params[target->param_count], at + 1, length);
    target->params[target->param_count++][length] = '\0';
    *(*out)++ = TPI_SQL_PARAM;
    return at + 1 + length;
}

static void blank(char **out) {
    if (*out > target->text && (*out)[-1] != ' ') *(*out)++ = ' ';
}

/* Puts one token or character from at behind what is there, and gives where the next begins. */
static const char *step(const char *at, char **out) {
    const char *end = not_for_mysql(at);
    if (!end) end = comment_end(at);
    if (end) return end;
    if (embed_is_mark(*at)) return copy_mark(at, out);
    if (*at == '\'' || *at == '"') return copy_quoted(at, out);
    if (isspace((unsigned char)*at)) {
        blank(out);
        return at + 1;
    }
    if (!state.in_script && *at == ':' && isalpha((unsigned char)at[1])) return take_param(at, out);
    bool starts_word = *out == target->text || !word_char((*out)[-1]);
    if (starts_word && strncmp(at, "tp_", 3) == 0) {
        *(*out)++ = TPI_SQL_PREFIX;
        return at + 3;
    }
    if (!state.in_script && *at == '?') embed_die("a ? outside quotes would take a parameter's value", at);
    *(*out)++ = *at;
    return at + 1;
}

void embed_text_make(const char *from, const char *to, bool script, struct embed_text *result) {
    char *out = result->text;
    target = result;
    state = (struct state){.in_script = script};
    target->param_count = 0;
    target->grouped = false;
    while (from < to)
        from = step(from, &out);
    if (state.in_rows || state.in_shards) embed_die("a part ends in a comment", target->text);
    while (out > target->text && (out[-1] == ' ' || out[-1] == ';'))
        out--;
    *out = '\0';
}

void embed_text_line(const char *from, const char *to, struct embed_text *result) {
    char *out = result->text;
    for (const char *at = from; at < to;) {
        bool prefix = (at == from || !word_char(at[-1])) && strncmp(at, "tp_", 3) == 0;
        *out++ = prefix ? TPI_SQL_PREFIX : *at;
        at += prefix ? 3 : 1;
    }
    *out = '\0';
}
