/* See body.h. */
#include "body.h"

#include <json-c/json.h>
#include <string.h>
#include <unistr.h>

#include "common/messages.h"

/* The members of which null takes the value out of a task. */
static bool may_be_null(const char *name) {
    return strcmp(name, "params") == 0 || strcmp(name, "biz_key") == 0 || strcmp(name, "dedup_key") == 0;
}

static bool knows(const struct request *request, const char *const *names, struct answer *answer) {
    static const char *const always[] = {"why", "dry_run", "expect", NULL};
    struct json_object_iterator at = json_object_iter_begin(request->body);
    struct json_object_iterator end = json_object_iter_end(request->body);

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        bool known = false;

        for (const char *const *one = always; *one; one++)
            known |= strcmp(*one, name) == 0;
        for (const char *const *one = names; *one; one++)
            known |= strcmp(*one, name) == 0;
        if (known && (json_object_iter_peek_value(&at) || may_be_null(name))) continue;
        answer_error(answer, ANSWER_BAD, known ? "%.40s must not be null" : "this action has no %.40s", name);
        return false;
    }
    return true;
}

json_object *body_member(const struct request *request, const char *key) {
    json_object *value = NULL;

    return json_object_object_get_ex(request->body, key, &value) ? value : NULL;
}

bool body_text(const struct request *request, const char *key, size_t most, const char **text,
               struct answer *answer) {
    json_object *value = body_member(request, key);
    const char *found = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

    if (!value) return true;
    if (found && strlen(found) == (size_t)json_object_get_string_len(value) && strlen(found) <= most &&
        !u8_check((const uint8_t *)found, strlen(found))) {
        *text = found;
        return true;
    }
    answer_error(answer, ANSWER_BAD, "%s must be a text of at most %zu bytes", key, most);
    return false;
}

bool body_number(const struct request *request, const char *key, int64_t least, int64_t most, int64_t *number,
                 struct answer *answer) {
    json_object *value = body_member(request, key);

    if (!value) return true;
    *number = json_object_get_int64(value);
    if (json_object_is_type(value, json_type_int) && *number >= least && *number <= most) return true;
    answer_error(answer, ANSWER_BAD, "%s must be a whole number from %lld to %lld", key, (long long)least,
                 (long long)most);
    return false;
}

bool body_yes_no(const struct request *request, const char *key, bool *yes, struct answer *answer) {
    json_object *value = body_member(request, key);

    if (!value) return true;
    *yes = json_object_get_boolean(value);
    if (json_object_is_type(value, json_type_boolean)) return true;
    answer_error(answer, ANSWER_BAD, "%s must be true or false", key);
    return false;
}

bool body_common(const struct request *request, const char *const *names, struct body_common *common,
                 struct answer *answer) {
    *common = (struct body_common){.expect = -1};
    return knows(request, names, answer) && body_text(request, "why", TP_REASON_MAX, &common->why, answer) &&
           body_yes_no(request, "dry_run", &common->dry_run, answer) &&
           body_number(request, "expect", 0, INT32_MAX, &common->expect, answer);
}

bool body_needed(const struct request *request, const char *key, const char **text, struct answer *answer) {
    if (!body_text(request, key, BODY_TEXT_MAX, text, answer)) return false;
    if (*text && **text) return true;
    answer_error(answer, ANSWER_BAD, "%s is missing", key);
    return false;
}

void body_answer_more(const struct request *request, const char *name, const struct body_common *common,
                      size_t count, const struct member *more, struct answer *answer) {
    json_object *object = json_new();

    json_add(object,
             MEMBERS(MEMBER_NUMBER("count", (int64_t)count), MEMBER_YES_NO("dry_run", common->dry_run)));
    json_add(object, more);
    answer_json(answer, object);
    if (!common->dry_run)
        cli_warn("%s: %s, %zu%s%s", request->who, name, count, common->why ? ": " : "",
                 common->why ? common->why : "");
}

void body_answer(const struct request *request, const char *name, const struct body_common *common,
                 size_t count, struct answer *answer) {
    body_answer_more(request, name, common, count, &(struct member){.key = NULL}, answer);
}

void body_requested(const struct request *request, const char *name, const char *id, size_t count,
                    struct answer *answer) {
    answer_members(answer, MEMBERS(MEMBER_NUMBER("count", (int64_t)count), MEMBER_YES_NO("dry_run", 0),
                                   MEMBER_YES_NO("requested", 1), MEMBER_TEXT("request", id)));
    cli_warn("%s: %s, %zu, written as request %s", request->who, name, count, id ? id : "");
}

bool body_expected(const struct body_common *common, size_t count, struct answer *answer) {
    if (common->expect < 0 || (size_t)common->expect == count) return true;
    answer_members(answer, MEMBERS(MEMBER_TEXT("error", "the number has changed meanwhile; nothing was done, "
                                                        "look at the new one and decide again"),
                                   MEMBER_NUMBER("count", (int64_t)count)));
    answer->status = ANSWER_CHANGED;
    return false;
}
