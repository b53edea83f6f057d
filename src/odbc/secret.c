/* See secret.h. A password of the connection string is found as it is and as it is written in braces. Others,
 * which are in odbc.ini or in another key's value by mistake, are found by the word in front of them. */
#include "odbc/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    STARS = 3,
    SHORT =
        4, /* a password of fewer bytes is hidden only where it is a word: its letters are in other words */
};

/* The ends of keys whose values are secret: PWD, PWD2, SSLPassword, TLSKEYPWD, ... */
static const char *const secret_words[] = {"pwd",      "pwd1",       "pwd2",      "pwd3",
                                           "password", "password1",  "password2", "password3",
                                           "passwd",   "passphrase", "secret",    "token"};
enum { SECRET_WORDS = sizeof secret_words / sizeof secret_words[0] };

/* How many bytes of the end of key[0..length) are such a word; 0: none. */
static size_t secret_end(const char *key, size_t length) {
    for (size_t i = 0; i < SECRET_WORDS; i++) {
        size_t word = strlen(secret_words[i]);
        if (length >= word && strncasecmp(key + length - word, secret_words[i], word) == 0) return word;
    }
    return 0;
}

bool tpi_secret_key(const char *key) {
    return secret_end(key, strlen(key)) > 0;
}

/* Writes stars over at[0..length), at most three, and gives what follows them. */
static char *cover(char *at, size_t length) {
    if (length > STARS) {
        memmove(at + STARS, at + length, strlen(at + length) + 1);
        length = STARS;
    }
    memset(at, '*', length);
    return at + length;
}

/* ---- Known passwords ----------------------------------------------------------------------------------- */

static bool alone(const char *text, const char *at, size_t length) {
    return (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]);
}

static void hide_value(const char *secret, char *text) {
    size_t length = strlen(secret);
    if (length == 0) return;
    for (char *at = text; (at = strstr(at, secret));)
        at = length >= SHORT || alone(text, at, length) ? cover(at, length) : at + 1;
}

/* The same as it is written in braces: each closing brace twice. */
static void hide_braced(const char *secret, char *text) {
    struct tpi_buf braced = {0};
    tpi_buf_reserve(&braced, 2 * strlen(secret));
    for (const char *at = secret; *at; at++) {
        if (*at == '}') tpi_buf_char(&braced, '}');
        tpi_buf_char(&braced, *at);
    }
    if (braced.data && !braced.failed) hide_value(braced.data, text);
    tpi_buf_wipe(&braced);
}

static void hide_known(const struct tpi_connstr *given, char *text) {
    for (size_t i = 0; i < given->count; i++) {
        const char *value = given->pairs[i].value;
        if (!tpi_secret_key(given->pairs[i].key)) continue;
        if (strchr(value, '}')) hide_braced(value, text);
        hide_value(value, text);
    }
}

/* ---- Behind a word ------------------------------------------------------------------------------------- */

static size_t braced_length(const char *at) {
    const char *end = at + 1;
    while (*end && (*end != '}' || end[1] == '}'))
        end += *end == '}' ? 2 : 1;
    return (size_t)(end - at);
}

/* Bytes of the value at at that are to be covered, and how many stand before them. */
static size_t value_length(const char *at, size_t *before) {
    *before = *at == '{' || *at == '\'' || *at == '"';
    if (*at == '{') return braced_length(at) - 1;
    if (*before) return strcspn(at + 1, *at == '"' ? "\"" : "'");
    return strcspn(at, ";&'\"\t\n ");
}

/* PWD=..., password = ...: the whole value is hidden. */
static void hide_behind_words(char *text) {
    for (char *at = text; (at = strchr(at, '='));) {
        char *end = at++;
        size_t before = 0;
        while (end > text && end[-1] == ' ')
            end--;
        if (!secret_end(text, (size_t)(end - text))) continue;
        at += strspn(at, " ");
        size_t length = value_length(at, &before);
        at = cover(at + before, length);
    }
}

/* ...://user:password@host */
static void hide_in_addresses(char *text) {
    for (char *at = text; (at = strstr(at, "://"));) {
        at += strlen("://");
        size_t length = strcspn(at, "/ '\"");
        char *host = memchr(at, '@', length), *colon = memchr(at, ':', length);
        for (char *next = host; next; next = memchr(next + 1, '@', length - (size_t)(next + 1 - at)))
            host = next;
        if (host && colon && colon < host) at = cover(colon + 1, (size_t)(host - colon) - 1);
    }
}

void tpi_secret_hide(const struct tpi_connstr *given, char *text) {
    if (given) hide_known(given, text);
    hide_behind_words(text);
    hide_in_addresses(text);
}
