/* json-c cuts integers off at the ends of 64 bits, reads NaN and Infinity, keeps the last of two members with
 * one name, cuts a name at \u0000 and turns a lone surrogate into U+FFFD. Each of them changes what the file
 * said without any error, and so does -0 as 0, so this scan of the text finds them. It also finds comments,
 * strings in single quotes, commas before a bracket, True and NULL, and raw control characters: json-c's
 * strict mode cannot be asked to, for in 0.18 it refuses every string that is not ASCII. It need not be a
 * parser: json-c is one. That also turns pairs whose character ends in D800 to DFFF (U+2D800, a Chinese one)
 * into U+FFFD, so pairs never get there. */
#include "jsontext.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

struct scan {
    const char *at, *end;
    size_t members;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_digits(const char *at) {
    while (is_digit(*at))
        at++;
    return at;
}

/* number is NUL-terminated and short. */
static const char *check_integer(const char *number) {
    errno = 0;
    if (strcmp(number, "-0") == 0) return "-0, which would become 0 (write 0, or -0.0)";
    if (*number == '-')
        (void)strtoll(number, NULL, 10);
    else
        (void)strtoull(number, NULL, 10);
    return errno ? "an integer beyond 64 bits (write it as a string)" : NULL;
}

/* The JSON grammar, which json-c only nearly follows ("1." for instance). */
static const char *check_number(const char *number) {
    const char *at = number + (*number == '-');
    const char *digits = at;

    at = skip_digits(at);
    if (at == digits || (digits[0] == '0' && at - digits > 1)) return "not a JSON number";
    if (*at == '\0') return check_integer(number);
    if (*at == '.') {
        if (!is_digit(at[1])) return "not a JSON number";
        at = skip_digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (!is_digit(*at)) return "not a JSON number";
        at = skip_digits(at);
    }
    return *at ? "not a JSON number" : NULL;
}

static const char *scan_number(struct scan *scan) {
    char number[512] = {0};
    size_t length = 0;

    while (scan->at < scan->end && *scan->at && strchr("+-.0123456789eE", *scan->at)) {
        if (length + 1 == sizeof number) return "a number of more than 500 digits (write it as a string)";
        number[length++] = *scan->at++;
    }
    number[length] = '\0';
    return check_number(number);
}

/* The value of four hex digits, or -1. */
static long read_hex(const struct scan *scan, const char *at) {
    char digits[5] = {0};
    char *rest;
    long value;

    if (scan->end - at < 4) return -1;
    memcpy(digits, at, 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4) return -1;
    value = strtol(digits, &rest, 16);
    return *rest ? -1 : value;
}

/* at is behind "\u". */
static const char *scan_unicode(struct scan *scan) {
    long value = read_hex(scan, scan->at);
    long low;

    if (value < 0) return "\\u without four hex digits";
    if (value == 0) return "\\u0000, which text in a database cannot hold";
    scan->at += 4;
    if (value < 0xD800 || value > 0xDFFF) return NULL;
    low = -1;
    if (value < 0xDC00 && scan->end - scan->at >= 6 && scan->at[0] == '\\' && scan->at[1] == 'u')
        low = read_hex(scan, scan->at + 2);
    if (low < 0xDC00 || low > 0xDFFF) return "half of a surrogate pair, which is no character";
    scan->at += 6;
    return NULL;
}

/* at is behind the opening quote. */
static const char *scan_string(struct scan *scan) {
    const char *why = NULL;

    while (!why && scan->at < scan->end && *scan->at != '"') {
        char c = *scan->at++;

        if ((unsigned char)c < 0x20) return "a raw control character in a string (escape it, a tab as \\t)";
        if (c != '\\' || scan->at == scan->end) continue;
        if (*scan->at++ == 'u') why = scan_unicode(scan);
    }
    if (!why && scan->at < scan->end) scan->at++;
    return why;
}

/* 0: no pair is at text. */
static ucs4_t pair_at(const char *text, size_t left) {
    struct scan scan = {text, text + left, 0};
    long high = left >= 12 && memcmp(text, "\\u", 2) == 0 ? read_hex(&scan, text + 2) : -1;
    long low =
        high >= 0xD800 && high < 0xDC00 && memcmp(text + 6, "\\u", 2) == 0 ? read_hex(&scan, text + 8) : -1;

    return low < 0xDC00 || low > 0xDFFF ? 0 : (ucs4_t)(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
}

size_t jsontext_join(char *text, size_t length) {
    size_t to = 0;
    size_t from = 0;

    while (from < length) {
        ucs4_t c = text[from] == '\\' ? pair_at(text + from, length - from) : 0;

        if (c) {
            to += (size_t)u8_uctomb((uint8_t *)text + to, c, 4);
            from += 12;
            continue;
        }
        /* What stands behind a backslash begins nothing. */
        if (text[from] == '\\' && from + 1 < length) text[to++] = text[from++];
        text[to++] = text[from++];
    }
    text[to] = '\0';
    return to;
}

/* A word is read by its letters. */
static const char *scan_word(struct scan *scan) {
    static const char *const words[] = {"true", "false", "null"};
    size_t length = 0;

    while (scan->at + length < scan->end && is_letter(scan->at[length]))
        length++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (length != strlen(words[i]) || memcmp(scan->at, words[i], length) != 0) continue;
        scan->at += length;
        return NULL;
    }
    return "not JSON (its only words are true, false and null)";
}

/* at is behind the comma. */
static const char *scan_comma(const struct scan *scan) {
    const char *at = scan->at;

    while (at < scan->end && strchr(" \t\r\n", *at))
        at++;
    return at < scan->end && (*at == '}' || *at == ']') ? "not JSON (a comma with nothing behind it)" : NULL;
}

static const char *scan_token(struct scan *scan) {
    char c = *scan->at;

    if (is_digit(c) || c == '-') return scan_number(scan);
    if (is_letter(c)) return scan_word(scan);
    scan->at++;
    if (c == '"') return scan_string(scan);
    if (c == ',') return scan_comma(scan);
    if (c == '\'') return "not JSON (strings stand in double quotes)";
    if (c == '/') return "not JSON (it has no comments)";
    scan->members += c == ':';
    return NULL;
}

const char *jsontext_check(const char *text, size_t length, size_t *members) {
    struct scan scan = {text, text + length, 0};
    const char *why = NULL;

    while (!why && scan.at < scan.end)
        why = scan_token(&scan);
    *members = scan.members;
    return why;
}

static size_t array_members(struct json_object *array) {
    size_t members = 0;

    for (size_t i = 0; i < json_object_array_length(array); i++)
        members += jsontext_members(json_object_array_get_idx(array, i));
    return members;
}

/* Recursion is bounded: the parser refuses deep nesting. */
size_t jsontext_members(struct json_object *tree) {
    struct json_object_iterator at, end;
    size_t members = 0;

    if (json_object_is_type(tree, json_type_array)) return array_members(tree);
    if (!json_object_is_type(tree, json_type_object)) return 0;
    at = json_object_iter_begin(tree);
    end = json_object_iter_end(tree);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        members += 1 + jsontext_members(json_object_iter_peek_value(&at));
    return members;
}
