/* See totals_record.h. */
#include "totals_record.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clocks.h"

enum { RECORD_MAX = 16 * 1024 * 1024 };

/* ---- Writing ------------------------------------------------------------------------------------------- */

static struct json_object *handler_record(const struct totals *totals, const struct handler_totals *handler) {
    struct json_object *object = json_new();
    json_add(object, MEMBERS(MEMBER_TEXT("handler", handler->handler)));
    for (int fate = 0; fate < FATE_COUNT; fate++) {
        char text[DECIMAL_TEXT_SIZE];
        struct json_object *total = json_new();
        json_add(total, MEMBERS(MEMBER_NUMBER("count", handler->of[fate].count)));
        if (totals->pointer)
            json_add(total, MEMBERS(MEMBER_TEXT("sum", decimal_text(&handler->of[fate].sum, text))));
        json_add(object, MEMBERS(MEMBER_JSON(fate_keys[fate], total)));
    }
    return object;
}

struct json_object *totals_record(const struct totals_of *of, const struct totals *totals) {
    struct json_object *object = json_new(), *handlers = cli_must(json_object_new_array());
    for (size_t i = 0; i < totals->count; i++)
        json_object_array_add(handlers, handler_record(totals, &totals->handlers[i]));
    json_add(object, MEMBERS(MEMBER_TEXT("day", of->day), MEMBER_TEXT("time_zone", of->zone),
                             MEMBER_NUMBER("from", of->from), MEMBER_NUMBER("until", of->until),
                             MEMBER_TEXT("handler", of->handler), MEMBER_TEXT("amount", of->pointer),
                             MEMBER_NUMBER("unread", totals->unread),
                             MEMBER_NUMBER("written_at", clock_utc_ms()), MEMBER_JSON("totals", handlers)));
    return object;
}

enum cli_exit totals_record_write(struct json_object *record, const char *file) {
    size_t length = strlen(file) + sizeof ".new";
    char *draft = cli_must(malloc(length));
    snprintf(draft, length, "%s.new", file);
    const char *text = json_object_to_json_string_ext(record, JSON_C_TO_STRING_PRETTY);
    FILE *out = fopen(draft, "we");
    bool written = out && fputs(text, out) >= 0 && fputc('\n', out) != EOF && fflush(out) == 0 &&
                   fsync(fileno(out)) == 0;
    int error = errno;
    if (out && fclose(out) != 0 && written) written = false, error = errno;
    if (written && rename(draft, file) != 0) written = false, error = errno;
    if (!written && out) (void)unlink(draft);
    json_object_put(record);
    free(draft);
    return written ? EXIT_DONE : cli_fail(EXIT_IO, "%s cannot be written: %s", file, strerror(error));
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static bool copy_text(struct json_object *object, const char *key, char *out, size_t size) {
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(object, key, &value)) return false;
    if (value && !json_object_is_type(value, json_type_string)) return false;
    return snprintf(out, size, "%s", value ? json_object_get_string(value) : "") < (int)size;
}

static bool copy_number(struct json_object *object, const char *key, int64_t *out) {
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_int))
        return false;
    *out = json_object_get_int64(value);
    return true;
}

static bool read_handler(struct json_object *object, struct totals *totals) {
    char name[TP_HANDLER_MAX + 1], sum[DECIMAL_TEXT_SIZE];
    if (!copy_text(object, "handler", name, sizeof name) || totals_find(totals, name)) return false;
    struct handler_totals *handler = totals_new(totals, name);
    for (int fate = 0; fate < FATE_COUNT; fate++) {
        struct json_object *total = NULL;
        struct total *into = &handler->of[fate];
        if (!json_object_object_get_ex(object, fate_keys[fate], &total) ||
            !copy_number(total, "count", &into->count))
            return false;
        if (!totals->pointer) continue;
        if (!copy_text(total, "sum", sum, sizeof sum) || !decimal_read(sum, &into->sum)) return false;
    }
    return true;
}

static bool read_record(struct json_object *record, struct totals_of *of, struct totals *totals) {
    struct json_object *handlers = NULL;
    if (!copy_text(record, "day", of->day, sizeof of->day) ||
        !copy_text(record, "time_zone", of->zone, sizeof of->zone) ||
        !copy_text(record, "handler", of->handler, sizeof of->handler) ||
        !copy_text(record, "amount", of->pointer, sizeof of->pointer) ||
        !copy_number(record, "from", &of->from) || !copy_number(record, "until", &of->until) ||
        !copy_number(record, "unread", &totals->unread))
        return false;
    totals->pointer = of->pointer[0] ? of->pointer : NULL;
    if (!json_object_object_get_ex(record, "totals", &handlers) ||
        !json_object_is_type(handlers, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(handlers); i++)
        if (!read_handler(json_object_array_get_idx(handlers, i), totals)) return false;
    return true;
}

enum cli_exit totals_record_read(const char *file, struct totals_of *of, struct totals *totals) {
    FILE *in = fopen(file, "re");
    if (!in) return cli_fail(EXIT_IO, "%s cannot be read: %s", file, strerror(errno));
    char *text = cli_must(malloc(RECORD_MAX + 1));
    size_t length = fread(text, 1, RECORD_MAX, in);
    bool failed = ferror(in);
    text[length] = '\0';
    fclose(in);
    struct json_object *record = failed ? NULL : json_tokener_parse(text);
    bool read = record && read_record(record, of, totals);
    json_object_put(record);
    free(text);
    return read ? EXIT_DONE : cli_fail(EXIT_INPUT, "%s is no report of control-totals", file);
}

/* ---- Comparing ----------------------------------------------------------------------------------------- */

static size_t compare_handler(const struct handler_totals *was, const struct handler_totals *is, bool sums,
                              const char *was_said, const char *is_said, const enum fate *fates,
                              size_t fate_count) {
    char before[DECIMAL_TEXT_SIZE], now[DECIMAL_TEXT_SIZE];
    size_t found = 0;
    for (size_t i = 0; i < fate_count; i++) {
        const struct total *a = &was->of[fates[i]], *b = &is->of[fates[i]];
        if (a->count == b->count && (!sums || decimal_equal(&a->sum, &b->sum))) continue;
        found++;
        if (sums)
            cli_warn("%s, %s: %s %" PRId64 " tasks, sum %s; %s %" PRId64 " tasks, sum %s", was->handler,
                     fate_keys[fates[i]], was_said, a->count, decimal_text(&a->sum, before), is_said,
                     b->count, decimal_text(&b->sum, now));
        else
            cli_warn("%s, %s: %s %" PRId64 " tasks; %s %" PRId64 " tasks", was->handler, fate_keys[fates[i]],
                     was_said, a->count, is_said, b->count);
    }
    return found;
}

size_t totals_compare(const struct totals *was, const struct totals *is, const char *was_said,
                      const char *is_said, const enum fate *fates, size_t fate_count) {
    bool sums = was->pointer && is->pointer;
    size_t found = 0;
    for (size_t i = 0; i < was->count; i++) {
        struct handler_totals none = {0};
        const struct handler_totals *other = totals_find(is, was->handlers[i].handler);
        found += compare_handler(&was->handlers[i], other ? other : &none, sums, was_said, is_said, fates,
                                 fate_count);
    }
    for (size_t i = 0; i < is->count; i++) {
        struct handler_totals none = {0};
        if (totals_find(was, is->handlers[i].handler)) continue;
        memcpy(none.handler, is->handlers[i].handler, sizeof none.handler);
        found += compare_handler(&none, &is->handlers[i], sums, was_said, is_said, fates, fate_count);
    }
    return found;
}
