/* See answer.h. */
#include "answer.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/escape.h"
#include "common/messages.h"

char *answer_text(json_object *object) {
    const char *text =
        json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    char *shown = cli_must(escape_json(cli_must((void *)text)));

    json_object_put(object);
    return shown;
}

struct sharers {
    atomic_size_t count;
};

static void free_text(struct answer *answer) {
    if (!answer->sharers || atomic_fetch_sub(&answer->sharers->count, 1) == 1) {
        free(answer->text);
        free(answer->sharers);
    }
    answer->text = NULL;
    answer->sharers = NULL;
}

void answer_share(struct answer *from, struct answer *to) {
    if (!from->sharers) {
        from->sharers = cli_must(malloc(sizeof *from->sharers));
        atomic_init(&from->sharers->count, 1);
    }
    atomic_fetch_add(&from->sharers->count, 1);
    *to = *from;
}

void answer_free(struct answer *answer) {
    free_text(answer);
    *answer = (struct answer){0};
}

void answer_json(struct answer *answer, json_object *object) {
    free_text(answer);
    answer->status = ANSWER_OK;
    answer->text = answer_text(object);
}

void answer_members(struct answer *answer, const struct member *members) {
    json_object *object = json_new();

    json_add(object, members);
    answer_json(answer, object);
}

void answer_error(struct answer *answer, unsigned status, const char *format, ...) {
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args); // NOLINT(clang-analyzer-valist.Uninitialized): it is started
    va_end(args);
    answer_members(answer, MEMBERS(MEMBER_TEXT("error", text)));
    answer->status = status;
}

static unsigned status_of(tp_status status) {
    switch (status) {
    case TP_MISUSE:
    case TP_TOOBIG:
    case TP_UNSUPPORTED:
        return ANSWER_BAD;
    case TP_NONE:
        return ANSWER_NOT_FOUND;
    case TP_EXISTS:
    case TP_CONFLICT:
    case TP_LOST:
        return ANSWER_CHANGED;
    case TP_DISCONNECTED:
    case TP_TIMEOUT:
    case TP_SCHEMA:
    case TP_UNWRITABLE:
        return ANSWER_AWAY;
    default:
        return ANSWER_INTERNAL;
    }
}

void answer_tp(struct answer *answer, tp_status status) {
    const char *text = tp_last_error()->text;

    answer_error(answer, status_of(status), "%s", text && *text ? text : tp_status_text(status));
    answer->lost = status == TP_DISCONNECTED || status == TP_UNWRITABLE;
}
