/* What the history says of an edit. See edit.h. */
#include "ops/edit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

bool tpi_edit_asks(const struct tpi_edit *edit, int32_t field) {
    return edit->request.fields & field;
}

__attribute__((format(printf, 2, 3))) static void add(struct tpi_edit_words *words, const char *format, ...) {
    size_t room = sizeof words->text - words->used;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(words->text + words->used, room, format, list);
    va_end(list);
    if (length > 0) words->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void say(struct tpi_edit_words *words, const char *what, int64_t before, int64_t after,
                const char *unit) {
    add(words, "%s%s %" PRId64 " -> %" PRId64 "%s", words->used ? ", " : "", what, before, after, unit);
}

static void say_text(struct tpi_edit_words *words, const char *what, const char *before, const char *after) {
    say(words, what, (int64_t)strlen(before ? before : ""), (int64_t)strlen(after ? after : ""), " bytes");
}

void tpi_edit_say(const struct tpi_edit *edit, const tp_task *old, struct tpi_edit_words *words) {
    const tp_edit_request *request = &edit->request;
    if (tpi_edit_asks(edit, TP_EDIT_PARAMS)) say_text(words, "params", old->params, request->params);
    if (tpi_edit_asks(edit, TP_EDIT_BIZ_KEY)) say_text(words, "biz_key", old->biz_key, request->biz_key);
    if (tpi_edit_asks(edit, TP_EDIT_DEDUP_KEY))
        say_text(words, "dedup_key", old->dedup_key, request->dedup_key);
    if (tpi_edit_asks(edit, TP_EDIT_PRIORITY)) say(words, "priority", old->priority, request->priority, "");
    if (tpi_edit_asks(edit, TP_EDIT_SHARD)) say(words, "shard", old->shard, request->shard, "");
    if (tpi_edit_asks(edit, TP_EDIT_DUE_AT)) say(words, "due_at", old->due_at, request->due_at, "");
    if (tpi_edit_asks(edit, TP_EDIT_DEADLINE_AT))
        say(words, "deadline_at", old->deadline_at, request->deadline_at, "");
    if (tpi_edit_asks(edit, TP_EDIT_MAX_FAILURES))
        say(words, "max_failures", old->max_failures, request->max_failures, "");
    if (request->retry) add(words, words->used ? ", retry" : "retry");
}

void tpi_edit_say_why(const struct tpi_edit *edit, struct tpi_edit_words *words) {
    if (*edit->why) add(words, ": %s", edit->why);
    words->text[tpi_utf8_cut(words->text, strlen(words->text), TP_REASON_MAX)] = '\0';
    tpi_utf8_tame(words->text);
}

bool tpi_edit_same_words(const char *stored, const char *asked) {
    static const char digits[] = "-0123456789";
    for (; *asked; asked++, stored++) {
        size_t before = strspn(asked, digits);
        if (before && strncmp(asked + before, " -> ", 4) == 0) {
            asked += before;
            stored += strspn(stored, digits);
        }
        if (*stored != *asked) return false;
    }
    return !*stored || strncmp(stored, ": ", 2) == 0;
}
