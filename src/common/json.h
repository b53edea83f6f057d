/* JSON output for programs: one object a line. Must not know records; read next: records.h. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdint.h>

struct json_object;

enum value_type {
    VALUE_TEXT,   /* "" and NULL: null */
    VALUE_EXACT,  /* text; NULL: null */
    VALUE_NUMBER, /* of any width */
    VALUE_TIME,   /* milliseconds since 1970 */
    VALUE_REAL,
    VALUE_YES_NO,
    VALUE_JSON, /* an object or a list */
    VALUE_NULL
};

/* A member of an object: of text, number, real and json the one that its type names. */
struct member {
    const char *key;
    enum value_type type;
    const char *text;
    int64_t number;
    double real;
    int decimals; /* of real */
    struct json_object *json;
};

#define MEMBER_TEXT(name, value)                                                                             \
    { .key = (name), .type = VALUE_TEXT, .text = (value) }
#define MEMBER_NUMBER(name, value)                                                                           \
    { .key = (name), .type = VALUE_NUMBER, .number = (value) }
/* null unless given */
#define MEMBER_NUMBER_IF(given, name, value)                                                                 \
    { .key = (name), .type = (given) ? VALUE_NUMBER : VALUE_NULL, .number = (value) }
#define MEMBER_YES_NO(name, value)                                                                           \
    { .key = (name), .type = VALUE_YES_NO, .number = (value) }
/* Takes value over. */
#define MEMBER_JSON(name, value)                                                                             \
    { .key = (name), .type = VALUE_JSON, .json = (value) }
/* What json_add and out_members take. */
#define MEMBERS(...) ((const struct member[]){__VA_ARGS__, {.key = NULL}})

struct json_object *json_new(void);
/* Adds members up to one without a key. */
void json_add(struct json_object *object, const struct member *members);
/* Prints object on a line of its own and frees it. */
void out_json(struct json_object *object);
/* The same on standard error. */
void err_json(struct json_object *object);
/* The same for an object of these members. */
void out_members(const struct member *members);

#endif
