/* See incoming.h. */
#include "incoming.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "common/jsontext.h"
#include "common/messages.h"

static void count_parts(struct incoming *incoming, const char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bool quote = data[i] == '"' && !incoming->escaped;

        incoming->escaped = incoming->in_text && data[i] == '\\' && !incoming->escaped;
        incoming->in_text ^= quote;
        incoming->parts += !incoming->in_text && (data[i] == ',' || data[i] == '[' || data[i] == '{');
    }
}

bool incoming_add(struct incoming *incoming, const char *data, size_t size) {
    count_parts(incoming, data, size);
    if (incoming->parts > INCOMING_PARTS_MAX) return false;
    if (incoming->size + size >= incoming->room) {
        incoming->room =
            2 * incoming->room > incoming->size + size ? 2 * incoming->room : incoming->size + size + 1;
        incoming->text = cli_must(realloc(incoming->text, incoming->room));
    }
    memcpy(incoming->text + incoming->size, data, size);
    incoming->size += size;
    incoming->text[incoming->size] = '\0';
    return true;
}

static json_object *parse(const char *text, size_t length) {
    json_tokener *tokener = cli_must(json_tokener_new());
    json_object *object = json_tokener_parse_ex(tokener, text, (int)length + 1);
    size_t end = json_tokener_get_parse_end(tokener);
    bool whole = object && (end >= length || end + strspn(text + end, " \t\r\n") == length);

    json_tokener_free(tokener);
    if (whole && json_object_is_type(object, json_type_object)) return object;
    json_object_put(object);
    return NULL;
}

struct json_object *incoming_read(struct incoming *incoming, const char **why) {
    size_t written = 0;
    json_object *object = NULL;

    if (!incoming->text || memchr(incoming->text, '\0', incoming->size) ||
        u8_check((const uint8_t *)incoming->text, incoming->size))
        *why = "not JSON in UTF-8";
    else
        *why = jsontext_check(incoming->text, incoming->size, &written);
    if (*why) return NULL;
    object = parse(incoming->text, jsontext_join(incoming->text, incoming->size));
    if (!object)
        *why = "not one JSON object";
    else if (jsontext_members(object) != written)
        *why = "an object that names one member twice";
    if (!*why) return object;
    json_object_put(object);
    return NULL;
}

void incoming_free(struct incoming *incoming) {
    free(incoming->text);
}
