/* See connstr.h. Errors name a part by its number, because any value may be a password. */
#include "odbc/connstr.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

/* Any value may be a password. */
static void free_value(char *value) {
    if (value) tpi_wipe(value, strlen(value));
    free(value);
}

static const char *skip_blanks(const char *at) {
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static char *copy_trimmed(const char *from, const char *to) {
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return strndup(from, (size_t)(to - from));
}

/* at is behind the opening brace. Gives what follows the closing one, NULL when there is none. */
static const char *read_braced(const char *at, struct tpi_buf *value) {
    for (;;) {
        size_t plain = strcspn(at, "}");
        tpi_buf_add(value, at, plain);
        at += plain;
        if (*at == '\0') return NULL;
        if (at[1] != '}') return at + 1;
        tpi_buf_char(value, '}');
        at += 2;
    }
}

/* Puts the value that begins at *at into *value (owned) and moves *at behind it. */
static tp_status read_value(const char **at, size_t number, char **value) {
    const char *from = skip_blanks(*at), *wrong = NULL;
    if (*from != '{') {
        const char *to = from + strcspn(from, ";");
        *value = copy_trimmed(from, to);
        *at = to;
        return *value ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
    }
    struct tpi_buf text = {0};
    tpi_buf_reserve(&text, strlen(from));
    tpi_buf_text(&text, "");
    const char *end = read_braced(from + 1, &text);
    if (end) end = skip_blanks(end);
    if (!end)
        wrong = "opens a brace { and never closes it; add } behind it, and write }} for a brace inside it";
    else if (*end && *end != ';')
        wrong = "goes on behind its closing brace; write }} for a brace inside it, or ; behind it";
    if (!wrong && !text.failed) {
        *value = text.data;
        *at = end;
        return TP_OK;
    }
    bool no_memory = text.failed;
    tpi_buf_wipe(&text);
    return no_memory ? tpi_error(TP_NOMEM, "out of memory")
                     : tpi_error(TP_MISUSE, "connection string: the value of part %zu %s", number, wrong);
}

static bool append(struct tpi_connstr *cs, char *key, char *value, bool bare) {
    struct tpi_pair *pairs = realloc(cs->pairs, (cs->count + 1) * sizeof *pairs);
    if (!pairs) return false;
    cs->pairs = pairs;
    cs->pairs[cs->count++] = (struct tpi_pair){key, value, bare};
    return true;
}

static tp_status read_pair(const char **at, struct tpi_connstr *cs) {
    const char *equals = *at + strcspn(*at, "=;");
    size_t number = cs->count + 1;
    if (*equals != '=' || equals == *at)
        return tpi_error(TP_MISUSE,
                         "connection string: part %zu is not of the form Key=value; parts are separated by ;",
                         number);
    char *key = copy_trimmed(*at, equals), *value = NULL;
    if (!key) return tpi_error(TP_NOMEM, "out of memory");
    *at = equals + 1;
    bool bare = *skip_blanks(*at) != '{';
    tp_status status = read_value(at, number, &value);
    if (status == TP_OK && append(cs, key, value, bare)) return TP_OK;
    free(key);
    free_value(value);
    return status == TP_OK ? tpi_error(TP_NOMEM, "out of memory") : status;
}

tp_status tpi_connstr_parse(const char *text, struct tpi_connstr *out) {
    struct tpi_connstr cs = {0};
    tp_status status = TP_OK;
    const char *at = skip_blanks(text);
    while (*at && status == TP_OK) {
        if (*at == ';')
            at++;
        else
            status = read_pair(&at, &cs);
        at = skip_blanks(at);
    }
    if (status == TP_OK && cs.count == 0)
        status = tpi_error(TP_MISUSE, "connection string: it is empty; it names at least Driver= or DSN=");
    if (status != TP_OK)
        tpi_connstr_free(&cs);
    else
        *out = cs;
    return status;
}

void tpi_connstr_free(struct tpi_connstr *cs) {
    for (size_t i = 0; i < cs->count; i++) {
        free(cs->pairs[i].key);
        free_value(cs->pairs[i].value);
    }
    free(cs->pairs);
    *cs = (struct tpi_connstr){0};
}

static struct tpi_pair *find(const struct tpi_connstr *cs, const char *key) {
    for (size_t i = 0; i < cs->count; i++)
        if (strcasecmp(cs->pairs[i].key, key) == 0) return &cs->pairs[i];
    return NULL;
}

const char *tpi_connstr_get(const struct tpi_connstr *cs, const char *key) {
    const struct tpi_pair *pair = find(cs, key);
    return pair ? pair->value : NULL;
}

bool tpi_connstr_take(struct tpi_connstr *cs, const char *key, char **value) {
    struct tpi_pair *pair = find(cs, key);
    if (!pair) return false;
    free(pair->key);
    if (value)
        *value = pair->value;
    else
        free_value(pair->value);
    size_t i = (size_t)(pair - cs->pairs);
    memmove(pair, pair + 1, (cs->count - i - 1) * sizeof *pair);
    cs->count--;
    return true;
}

static bool append_copy(struct tpi_connstr *cs, const char *key, const char *value, bool bare) {
    char *own_key = strdup(key), *own_value = strdup(value);
    if (own_key && own_value && append(cs, own_key, own_value, bare)) return true;
    free(own_key);
    free_value(own_value);
    return false;
}

bool tpi_connstr_set(struct tpi_connstr *cs, const char *key, const char *value) {
    struct tpi_pair *pair = find(cs, key);
    if (!pair) return append_copy(cs, key, value, false);
    char *own_value = strdup(value);
    if (!own_value) return false;
    free_value(pair->value);
    pair->value = own_value;
    pair->bare = false;
    return true;
}

bool tpi_connstr_copy(const struct tpi_connstr *from, struct tpi_connstr *to) {
    *to = (struct tpi_connstr){0};
    for (size_t i = 0; i < from->count; i++) {
        const struct tpi_pair *pair = &from->pairs[i];
        if (append_copy(to, pair->key, pair->value, pair->bare)) continue;
        tpi_connstr_free(to);
        return false;
    }
    return true;
}

/* By the specification a comma would, too; but not every driver takes braces off. */
static bool needs_braces(const char *value) {
    size_t length = strlen(value);
    if (strpbrk(value, "[]{}();?*=!@\n\t")) return true;
    return length && (isspace((unsigned char)value[0]) || isspace((unsigned char)value[length - 1]));
}

/* At most so many bytes are written. */
static size_t written_length(const struct tpi_connstr *cs) {
    size_t length = 0;
    for (size_t i = 0; i < cs->count; i++)
        length += strlen(cs->pairs[i].key) + 2 * strlen(cs->pairs[i].value) + strlen("={};");
    return length;
}

void tpi_connstr_write(const struct tpi_connstr *cs, struct tpi_buf *out) {
    tpi_buf_reserve(out, written_length(cs));
    for (size_t i = 0; i < cs->count; i++) {
        const char *value = cs->pairs[i].value;
        bool braces = !cs->pairs[i].bare && needs_braces(value);
        tpi_buf_text(out, cs->pairs[i].key);
        tpi_buf_text(out, braces ? "={" : "=");
        for (; *value; value++) {
            if (braces && *value == '}') tpi_buf_char(out, '}');
            tpi_buf_char(out, *value);
        }
        tpi_buf_text(out, braces ? "};" : ";");
    }
}

const char *tpi_connstr_shown(const char *value) {
    for (const char *at = value; *at; at++)
        if ((!isalnum((unsigned char)*at) && !strchr("._-", *at)) || at - value > 20) return "...";
    return value;
}

enum { LONGEST_WORD = 32 };

/* How many letters are to be put in, taken out or changed to make b of a, case aside. Words longer than the
 * table count as far apart. row[j] is the distance of a, as far as it is read, from the first j letters of
 * b. */
static size_t distance(const char *a, const char *b) {
    size_t row[LONGEST_WORD + 1], length = strlen(b);
    if (strlen(a) > LONGEST_WORD || length > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= length; j++) {
            bool same = tolower((unsigned char)b[j - 1]) == tolower((unsigned char)*a);
            size_t change = diagonal + (same ? 0 : 1),
                   other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < other ? change : other;
        }
    }
    return row[length];
}

bool tpi_connstr_alike(const char *a, const char *b) {
    size_t apart = distance(a, b);
    return apart > 0 && apart <= (strlen(b) > 5 ? 2u : 1u);
}
