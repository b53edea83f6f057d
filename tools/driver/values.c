/* Values as other drivers give them. A value of the real driver is read whole at the first call, changed,
 * and given out in chunks. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { ROOM_FIRST = 4096, NUMBER_MAX = 40, PADDED_MAX = 8 };

bool value_changes(const struct stmt *stmt, SQLSMALLINT type) {
    const struct habits *habits = &stmt->object.dbc->habits;
#define CHANGES(name) || habits->name
    return stmt->prepared && type == SQL_C_CHAR && (0 HABITS_OF_VALUES(CHANGES));
#undef CHANGES
}

void value_forget(struct stmt *stmt) {
    free(stmt->value.data);
    stmt->value = (struct value){0};
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static bool grow(struct value *value, size_t size) {
    char *data = realloc(value->data, size);
    if (data) value->data = data;
    return data;
}

static SQLRETURN read_whole(struct stmt *stmt, SQLUSMALLINT column) {
    struct value *value = &stmt->value;
    size_t room = ROOM_FIRST;
    for (;;) {
        SQLLEN left = 0;
        if (!grow(value, value->length + room + 1)) return fail(&stmt->object, "HY001", 0, "no memory");
        char *piece = value->data + value->length;
        SQLRETURN answer = stmt->object.dbc->call.SQLGetData(stmt->object.real, column, SQL_C_CHAR, piece,
                                                             (SQLLEN)room, &left);
        if (answer == SQL_NO_DATA) return SQL_SUCCESS;
        if (!SQL_SUCCEEDED(answer)) return answer;
        value->is_null = left == SQL_NULL_DATA;
        if (value->is_null) return SQL_SUCCESS;
        bool whole = left != SQL_NO_TOTAL && (size_t)left < room;
        value->length += whole ? (size_t)left : strnlen(piece, room - 1);
        if (whole) return SQL_SUCCESS;
        room *= 2;
    }
}

/* ---- Changing ------------------------------------------------------------------------------------------ */

/* 1700000000000 as 1.7E+12. */
static void add_exponent(struct value *value) {
    char digits[NUMBER_MAX];
    bool negative = value->data[0] == '-';
    size_t count = value->length - negative;
    if (count < 4 || count >= NUMBER_MAX) return;
    snprintf(digits, sizeof digits, "%.*s", (int)count, value->data + negative);
    if (strspn(digits, "0123456789") != count) return;
    size_t used = count;
    while (used > 1 && digits[used - 1] == '0')
        used--;
    int length = snprintf(value->data, NUMBER_MAX + 8, "%s%c%s%.*sE+%zu", negative ? "-" : "", digits[0],
                          used > 1 ? "." : "", (int)used - 1, digits + 1, count - 1);
    value->length = (size_t)length;
}

static void pad(struct value *value, size_t size) {
    if (!grow(value, size + 1)) return;
    while (value->length < size)
        value->data[value->length++] = ' ';
}

/* Of a time as text. */
static void cut_fraction(struct value *value) {
    const char *point = memchr(value->data, '.', value->length);
    if (point && memchr(value->data, ':', value->length)) value->length = (size_t)(point - value->data);
}

/* 'word' AS name: a CHAR on some servers. */
static bool is_literal(const struct stmt *stmt, const char *name) {
    char there[80];
    snprintf(there, sizeof there, "' AS %s", name);
    return strstr(stmt->text, there);
}

static void change(struct stmt *stmt, SQLUSMALLINT column) {
    const struct dbc *dbc = stmt->object.dbc;
    const struct habits *habits = &dbc->habits;
    struct value *value = &stmt->value;
    SQLSMALLINT type = 0, length = 0, digits = 0, nullable = 0;
    SQLULEN size = 0;
    SQLCHAR name[64];
    dbc->call.SQLDescribeCol(stmt->object.real, column, name, sizeof name, &length, &type, &size, &digits,
                             &nullable);
    bool is_number = type == SQL_BIGINT || type == SQL_INTEGER || type == SQL_DOUBLE || type == SQL_FLOAT;
    bool is_time = type == SQL_TYPE_TIMESTAMP || type == SQL_TIMESTAMP;
    bool is_char = type == SQL_CHAR || type == SQL_WCHAR;
    bool is_short = (type == SQL_VARCHAR || type == SQL_WVARCHAR) && size <= PADDED_MAX;
    if (habits->exponents && is_number) add_exponent(value);
    if (habits->whole_seconds && is_time) cut_fraction(value);
    if (habits->padded && (is_char || (is_short && is_literal(stmt, (const char *)name)))) pad(value, size);
    if (habits->empty_null && value->length == 0) value->is_null = true;
}

/* ---- Giving -------------------------------------------------------------------------------------------- */

/* As long as fits; where characters are counted, a quarter less, and none is cut. */
static size_t piece_length(const struct stmt *stmt, size_t room) {
    const struct value *value = &stmt->value;
    size_t length = room - 1;
    if (!stmt->object.dbc->habits.pieces) return length;
    length -= length / 4;
    while (length > 0 && ((unsigned char)value->data[value->given + length] & 0xC0) == 0x80)
        length--;
    return length;
}

SQLRETURN value_get(struct stmt *stmt, SQLUSMALLINT column, char *out, SQLLEN room, SQLLEN *left) {
    struct value *value = &stmt->value;
    if (value->column != column) {
        value_forget(stmt);
        SQLRETURN answer = read_whole(stmt, column);
        if (!SQL_SUCCEEDED(answer)) return answer;
        value->column = column;
        if (!value->is_null) change(stmt, column);
    }
    if (value->over) return SQL_NO_DATA;
    size_t there = value->length - value->given;
    if (left) *left = value->is_null ? SQL_NULL_DATA : (SQLLEN)there;
    if (value->is_null || there < (size_t)room) {
        value->over = true;
        if (!value->is_null) snprintf(out, (size_t)room, "%.*s", (int)there, value->data + value->given);
        return SQL_SUCCESS;
    }
    size_t length = piece_length(stmt, (size_t)room);
    memcpy(out, value->data + value->given, length);
    out[length] = '\0';
    value->given += length;
    if (left && stmt->object.dbc->habits.no_total) *left = SQL_NO_TOTAL;
    fail(&stmt->object, "01004", 0, "String data, right truncated");
    return SQL_SUCCESS_WITH_INFO;
}
