/* Builds JSON objects and prints them, one a line. See json.h. */
#include "json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "messages.h"
#include "out.h"

json_object *json_new(void) {
    return cli_must(json_object_new_object());
}

/* A real number is written with its decimals. NULL: null. */
static json_object *value_of(const struct member *member) {
    char text[64];

    switch (member->type) {
    case VALUE_TEXT:
        return member->text && *member->text ? cli_must(json_object_new_string(member->text)) : NULL;
    case VALUE_EXACT:
        return member->text ? cli_must(json_object_new_string(member->text)) : NULL;
    case VALUE_NUMBER:
    case VALUE_TIME:
        return cli_must(json_object_new_int64(member->number));
    case VALUE_REAL:
        snprintf(text, sizeof text, "%.*f", member->decimals, member->real);
        return cli_must(json_object_new_double_s(member->real, text));
    case VALUE_YES_NO:
        return cli_must(json_object_new_boolean(member->number != 0));
    case VALUE_JSON:
        return member->json;
    case VALUE_NULL:
        break;
    }
    return NULL;
}

void json_add(json_object *object, const struct member *members) {
    for (; members->key; members++)
        json_object_object_add(object, members->key, value_of(members));
}

static void put_json(json_object *object, void (*put)(const char *format, ...)) {
    const char *text = cli_must((void *)json_object_to_json_string_ext(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    char *shown = cli_must(escape_json(text));

    put("%s\n", shown);
    free(shown);
    json_object_put(object);
}

void out_json(json_object *object) {
    put_json(object, out_text);
}

void err_json(json_object *object) {
    put_json(object, err_text);
}

void out_members(const struct member *members) {
    json_object *object = json_new();

    json_add(object, members);
    out_json(object);
}
