/* See json.h. */
#include "json.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "escape.h"
#include "messages.h"
#include "out.h"

void out_json(struct json_object *object) {
    const char *text = cli_must((void *)json_object_to_json_string_ext(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    char *shown = cli_must(escape_json(text));

    out_text("%s\n", shown);
    free(shown);
    json_object_put(object);
}

void json_put_text(struct json_object *object, const char *name, const char *text) {
    json_object *value = text && *text ? cli_must(json_object_new_string(text)) : NULL;

    json_object_object_add(object, name, value);
}

void json_put_number(struct json_object *object, const char *name, int64_t value) {
    json_object_object_add(object, name, cli_must(json_object_new_int64(value)));
}

void json_put_time(struct json_object *object, const char *name, int64_t ms) {
    if (ms)
        json_put_number(object, name, ms);
    else
        json_object_object_add(object, name, NULL);
}
