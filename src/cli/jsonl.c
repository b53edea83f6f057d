/* See jsonl.h. From lines to objects to the text of each field. */
#include "jsonl.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "common/jsontext.h"

#define NESTING_MAX  100
#define PLAIN_OUTPUT (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

struct jsonl {
    char *text; /* the line being read */
    size_t used, size;
    size_t limit;
    long long line;
    enum read_status answer;
    json_tokener *parser;
    json_object *object; /* of the line at hand; owns values */
    const char *values[FIELD_COUNT];
    char error[200];
};

struct jsonl *jsonl_open(size_t limit) {
    struct jsonl *jsonl = calloc(1, sizeof *jsonl);

    if (!jsonl) return NULL;
    jsonl->parser = json_tokener_new_ex(NESTING_MAX);
    if (!jsonl->parser) {
        free(jsonl);
        return NULL;
    }
    jsonl->limit = limit < INT_MAX ? limit : INT_MAX - 1;
    jsonl->line = 1;
    return jsonl;
}

void jsonl_close(struct jsonl *jsonl) {
    if (!jsonl) return;
    json_object_put(jsonl->object);
    json_tokener_free(jsonl->parser);
    free(jsonl->text);
    free(jsonl);
}

static enum read_status refuse(struct jsonl *jsonl, const char *why) {
    snprintf(jsonl->error, sizeof jsonl->error, "%s", why);
    return READ_BAD;
}

static enum read_status refuse_member(struct jsonl *jsonl, const char *name, const char *why) {
    snprintf(jsonl->error, sizeof jsonl->error, "\"%.40s\" %s", name, why);
    return READ_BAD;
}

static enum read_status add_bytes(struct jsonl *jsonl, const char *data, size_t length) {
    size_t size = jsonl->size ? jsonl->size : 4096;
    char *text;

    if (length > jsonl->limit - jsonl->used) {
        snprintf(jsonl->error, sizeof jsonl->error, "longer than %zu bytes", jsonl->limit);
        return READ_BAD;
    }
    while (size < jsonl->used + length)
        size *= 2;
    if (size > jsonl->size) {
        text = realloc(jsonl->text, size);
        if (!text) return READ_NOMEM;
        jsonl->text = text;
        jsonl->size = size;
    }
    memcpy(jsonl->text + jsonl->used, data, length);
    jsonl->used += length;
    return READ_MORE;
}

/* In params anything goes and is written back; elsewhere a value must be one plain text. */
static enum read_status take_value(struct jsonl *jsonl, enum field field, json_object *value) {
    const char **slot = &jsonl->values[field];

    if (json_object_is_type(value, json_type_null)) return READ_MORE;
    if (json_object_is_type(value, json_type_string))
        *slot = json_object_get_string(value);
    else if (json_object_is_type(value, json_type_int) || field == FIELD_PARAMS)
        *slot = json_object_to_json_string_ext(value, PLAIN_OUTPUT);
    else
        return refuse_member(jsonl, field_names[field], "must be a string or an integer");
    return *slot ? READ_MORE : READ_NOMEM;
}

static enum read_status take_members(struct jsonl *jsonl) {
    struct json_object_iterator at = json_object_iter_begin(jsonl->object);
    struct json_object_iterator end = json_object_iter_end(jsonl->object);
    enum read_status status = READ_MORE;

    for (; status == READ_MORE && !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        enum field field = field_find(name);

        if (field == FIELD_NONE)
            status = refuse_member(jsonl, name, "is no field of a task (put it into params)");
        else
            status = take_value(jsonl, field, json_object_iter_peek_value(&at));
    }
    return status == READ_MORE ? READ_RECORD : status;
}

static enum read_status refuse_byte(struct jsonl *jsonl, const char *why, size_t at) {
    snprintf(jsonl->error, sizeof jsonl->error, "not JSON: %s at byte %zu", why, at + 1);
    return READ_BAD;
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\r")] == '\0';
}

static enum read_status parse_line(struct jsonl *jsonl, const char *text, size_t length) {
    enum json_tokener_error error;
    size_t end;

    json_tokener_reset(jsonl->parser);
    /* The NUL behind the line makes the parser take it as complete. */
    jsonl->object = json_tokener_parse_ex(jsonl->parser, text, (int)length + 1);
    error = json_tokener_get_error(jsonl->parser);
    end = json_tokener_get_parse_end(jsonl->parser);
    if (error == json_tokener_error_parse_eof || error == json_tokener_continue)
        return refuse(jsonl, "not JSON: the line ends in the middle (each line must be a whole object)");
    if (error == json_tokener_error_depth) return refuse(jsonl, "nested too deeply");
    if (error != json_tokener_success) return refuse_byte(jsonl, json_tokener_error_desc(error), end);
    if (end < length && !is_blank(text + end)) return refuse_byte(jsonl, "unexpected character", end);
    if (!json_object_is_type(jsonl->object, json_type_object)) return refuse(jsonl, "not a JSON object");
    return READ_RECORD;
}

static enum read_status read_object(struct jsonl *jsonl, char *text, size_t length) {
    size_t written = 0;
    const char *why = jsontext_check(text, length, &written);
    enum read_status status;

    if (why) return refuse(jsonl, why);
    status = parse_line(jsonl, text, jsontext_join(text, length));
    if (status != READ_RECORD) return status;
    if (jsontext_members(jsonl->object) != written) return refuse(jsonl, "an object names one member twice");
    return take_members(jsonl);
}

/* The line is complete, without its LF. READ_MORE: nothing was on it. */
static enum read_status end_line(struct jsonl *jsonl) {
    char *text;
    size_t length = jsonl->used;
    enum read_status status;

    if (memchr(length ? jsonl->text : "", '\0', length))
        return refuse(jsonl, "a NUL byte (is the file UTF-16? convert it: iconv -f UTF-16 -t UTF-8)");
    status = add_bytes(jsonl, "", 1);
    if (status != READ_MORE) return status;
    text = jsonl->text;
    if (jsonl->line == 1 && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (u8_check((const uint8_t *)text, length))
        return refuse(jsonl, "broken UTF-8 (convert the file, for instance: iconv -f GB18030 -t UTF-8)");
    return is_blank(text) ? READ_MORE : read_object(jsonl, text, length);
}

/* Forgets the object at hand; the next byte is on the next line. */
static void start_line(struct jsonl *jsonl) {
    json_object_put(jsonl->object);
    jsonl->object = NULL;
    memset(jsonl->values, 0, sizeof jsonl->values);
    jsonl->used = 0;
    jsonl->line++;
    jsonl->answer = READ_MORE;
}

enum read_status jsonl_feed(struct jsonl *jsonl, const char *data, size_t length, size_t *used) {
    const char *at = data;
    const char *end = data + length;

    if (jsonl->answer == READ_RECORD) start_line(jsonl);
    while (at < end && jsonl->answer == READ_MORE) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        jsonl->answer = add_bytes(jsonl, at, (size_t)((newline ? newline : end) - at));
        at = newline ? newline + 1 : end;
        if (!newline || jsonl->answer != READ_MORE) continue;
        jsonl->answer = end_line(jsonl);
        if (jsonl->answer == READ_MORE) start_line(jsonl);
    }
    *used = (size_t)(at - data);
    return jsonl->answer;
}

enum read_status jsonl_end(struct jsonl *jsonl) {
    if (jsonl->answer == READ_RECORD) start_line(jsonl);
    if (jsonl->answer == READ_MORE) jsonl->answer = end_line(jsonl);
    return jsonl->answer;
}

const char *jsonl_value(const struct jsonl *jsonl, enum field field) {
    return jsonl->values[field];
}

long long jsonl_line(const struct jsonl *jsonl) {
    return jsonl->line;
}

const char *jsonl_error(const struct jsonl *jsonl) {
    return jsonl->error;
}
