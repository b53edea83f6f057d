/* See request.h. */
#include "request.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "common/messages.h"
#include "common/values.h"

enum { VALUE_MAX = 1024 };

/* The texts of a selection. */
static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"pool", offsetof(tp_list_request, pool)},
    {"handler", offsetof(tp_list_request, handler)},
    {"state", offsetof(tp_list_request, state)},
    {"reason", offsetof(tp_list_request, reason)},
    {"reason_like", offsetof(tp_list_request, reason_like)},
    {"biz_key", offsetof(tp_list_request, biz_key)},
    {"dedup_key", offsetof(tp_list_request, dedup_key)},
    {"worker", offsetof(tp_list_request, worker)},
    {"group", offsetof(tp_list_request, group)},
    {"gate", offsetof(tp_list_request, gate)},
};
#define TEXTS (sizeof texts / sizeof texts[0])

void request_free(struct request *request) {
    for (size_t i = 0; i < request->count; i++) {
        free(request->parameters[i].name);
        free(request->parameters[i].value);
    }
    free(request->id);
    json_object_put(request->body);
    *request = (struct request){0};
}

const char *request_add(struct request *request, const char *name, const char *value) {
    if (request->count == REQUEST_PARAMETERS_MAX) return "there are too many parameters";
    if (!value || !*value) return "a parameter has no value; leave it out";
    if (strlen(name) > VALUE_MAX || strlen(value) > VALUE_MAX) return "a parameter is too long";
    if (u8_check((const uint8_t *)name, strlen(name)) || u8_check((const uint8_t *)value, strlen(value)))
        return "a parameter is not valid UTF-8";
    if (request_text(request, name)) return "a parameter was given twice";
    request->parameters[request->count].name = cli_must(strdup(name));
    request->parameters[request->count++].value = cli_must(strdup(value));
    return NULL;
}

const char *request_text(const struct request *request, const char *name) {
    for (size_t i = 0; i < request->count; i++)
        if (strcmp(request->parameters[i].name, name) == 0) return request->parameters[i].value;
    return NULL;
}

bool request_number(const struct request *request, const char *name, int64_t least, int64_t most,
                    int64_t *value, struct answer *answer) {
    const char *text = request_text(request, name);

    if (!text || value_integer(text, least, most, value)) return true;
    answer_error(answer, ANSWER_BAD, "%s must be a whole number from %lld to %lld", name, (long long)least,
                 (long long)most);
    return false;
}

static bool read_time(const char *name, const char *text, int64_t *value, struct answer *answer) {
    if (!text || value_time(text, value)) return true;
    answer_error(answer, ANSWER_BAD, "%s must be " TIME_WANTED, name);
    return false;
}

bool request_time(const struct request *request, const char *name, int64_t *value, struct answer *answer) {
    return read_time(name, request_text(request, name), value, answer);
}

static bool is_selecting(const char *name) {
    for (size_t i = 0; i < TEXTS; i++)
        if (strcmp(texts[i].name, name) == 0) return true;
    return strcmp(name, "id") == 0 || strcmp(name, "since") == 0 || strcmp(name, "until") == 0;
}

bool request_knows(const struct request *request, const char *const *names, bool selection,
                   struct answer *answer) {
    for (size_t i = 0; i < request->count; i++) {
        const char *name = request->parameters[i].name;
        bool known = selection && is_selecting(name);

        for (const char *const *one = names; *one && !known; one++)
            known = strcmp(*one, name) == 0;
        if (known) continue;
        answer_error(answer, ANSWER_BAD, "there is no parameter %.40s here", name);
        return false;
    }
    return true;
}

static void set_text(tp_list_request *list, size_t i, const char *text) {
    memcpy((char *)list + texts[i].offset, &text, sizeof text);
}

bool request_selection(const struct request *request, tp_list_request *list, const char **ids,
                       struct answer *answer) {
    for (size_t i = 0; i < TEXTS; i++)
        set_text(list, i, request_text(request, texts[i].name));
    ids[0] = request_text(request, "id");
    list->ids = ids[0] ? ids : NULL;
    list->id_count = ids[0] != NULL;
    return request_time(request, "since", &list->since, answer) &&
           request_time(request, "until", &list->until, answer);
}

/* ---- Of a body ----------------------------------------------------------------------------------------- */

static bool refuse(struct answer *answer, const char *name, const char *what) {
    answer_error(answer, ANSWER_BAD, "selection: %.40s %s", name, what);
    return false;
}

static const char *string_of(json_object *value) {
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

    return text && strlen(text) == (size_t)json_object_get_string_len(value) &&
                   !u8_check((const uint8_t *)text, strlen(text))
               ? text
               : NULL;
}

static bool take_ids(json_object *value, tp_list_request *list, const char **ids, struct answer *answer) {
    bool many = json_object_is_type(value, json_type_array);
    size_t count = many ? json_object_array_length(value) : 1;

    if (count < 1 || count > REQUEST_IDS_MAX) return refuse(answer, "id", "takes 1 to 1000 ids");
    for (size_t i = 0; i < count; i++) {
        ids[i] = string_of(many ? json_object_array_get_idx(value, i) : value);
        if (!ids[i]) return refuse(answer, "id", "must be a text, or a list of texts");
    }
    list->ids = ids;
    list->id_count = count;
    return true;
}

static bool take_member(const char *name, json_object *value, tp_list_request *list, const char **ids,
                        struct answer *answer) {
    const char *text = string_of(value);

    if (!value) return refuse(answer, name, "must not be null; leave it out");
    if (strcmp(name, "id") == 0) return take_ids(value, list, ids, answer);
    if (strcmp(name, "since") == 0)
        return read_time(name, json_object_get_string(value), &list->since, answer);
    if (strcmp(name, "until") == 0)
        return read_time(name, json_object_get_string(value), &list->until, answer);
    for (size_t i = 0; i < TEXTS; i++) {
        if (strcmp(texts[i].name, name) != 0) continue;
        if (!text || !*text || strlen(text) > VALUE_MAX) return refuse(answer, name, "must be a text");
        set_text(list, i, text);
        return true;
    }
    return refuse(answer, name, "is no member of it");
}

bool request_selection_of(json_object *object, tp_list_request *list, const char **ids,
                          struct answer *answer) {
    if (!json_object_is_type(object, json_type_object)) {
        answer_error(answer, ANSWER_BAD, "selection must be an object");
        return false;
    }
    struct json_object_iterator at = json_object_iter_begin(object), end = json_object_iter_end(object);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        if (!take_member(json_object_iter_peek_name(&at), json_object_iter_peek_value(&at), list, ids,
                         answer))
            return false;
    }
    return true;
}

bool request_is_narrow(const tp_list_request *list) {
    return list->id_count || list->handler || list->state || list->reason || list->reason_like ||
           list->biz_key || list->dedup_key || list->worker || list->group || list->gate || list->since ||
           list->until || list->pool;
}
