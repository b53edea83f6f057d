/* See totals.h. */
#include "totals.h"

#include <json-c/json.h>
#include <json-c/json_pointer.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsontext.h"

const char *const fate_keys[FATE_COUNT] = {
#define FATE_KEY(id, key) [id] = key,
    FATE_LIST(FATE_KEY)
#undef FATE_KEY
};

/* ---- The number in a task's params --------------------------------------------------------------------- */

/* NULL: no JSON, or such that two readers may take another number from it. */
static struct json_object *parse(const char *params) {
    size_t length = strlen(params), written = 0;
    if (jsontext_check(params, length, &written)) return NULL;
    struct json_object *tree = json_tokener_parse(params);
    if (!tree || jsontext_members(tree) == written) return tree;
    json_object_put(tree);
    return NULL;
}

/* A number as it was written, or a text that is one. */
static bool read_number(struct json_object *value, struct decimal *number) {
    switch (json_object_get_type(value)) {
    case json_type_int:
    case json_type_double:
        return decimal_read(json_object_to_json_string(value), number);
    case json_type_string:
        return decimal_read(json_object_get_string(value), number);
    default:
        return false;
    }
}

static bool find_number(const char *params, const char *pointer, struct decimal *number) {
    struct json_object *tree = parse(params), *value = NULL;
    bool found = tree && json_pointer_get(tree, pointer, &value) == 0 && read_number(value, number);
    json_object_put(tree);
    return found;
}

/* ---- Adding up ----------------------------------------------------------------------------------------- */

static enum fate fate_of(const tp_created *task) {
    if (strcmp(task->pool, "finished") == 0)
        return strcmp(task->state, "done") == 0 ? FATE_DONE : FATE_SKIPPED;
    return strcmp(task->pool, "failed") == 0 ? FATE_FAILED : FATE_OPEN;
}

const struct handler_totals *totals_find(const struct totals *totals, const char *handler) {
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(totals->handlers[i].handler, handler) == 0) return &totals->handlers[i];
    return NULL;
}

struct handler_totals *totals_new(struct totals *totals, const char *handler) {
    struct handler_totals *more = realloc(totals->handlers, (totals->count + 1) * sizeof *more);
    totals->handlers = cli_must(more);
    struct handler_totals *added = &more[totals->count++];
    *added = (struct handler_totals){0};
    snprintf(added->handler, sizeof added->handler, "%s", handler);
    return added;
}

void totals_add(struct totals *totals, const tp_created *task) {
    struct handler_totals *handler = (struct handler_totals *)totals_find(totals, task->handler);
    struct decimal number = {0};
    if (!handler) handler = totals_new(totals, task->handler);
    struct total *came = &handler->of[FATE_CAME], *fate = &handler->of[fate_of(task)];
    came->count++;
    fate->count++;
    if (!totals->pointer) return;
    if (!find_number(task->params, totals->pointer, &number)) {
        if (totals->unread++ == 0)
            snprintf(totals->first_unread, sizeof totals->first_unread, "%s", task->id);
        return;
    }
    if (!decimal_add(&came->sum, &number) || !decimal_add(&fate->sum, &number)) totals->too_long = true;
}

static int by_name(const void *a, const void *b) {
    const struct handler_totals *one = a, *other = b;
    return strcmp(one->handler, other->handler);
}

void totals_sort(struct totals *totals) {
    if (totals->count) qsort(totals->handlers, totals->count, sizeof *totals->handlers, by_name);
}

void totals_free(struct totals *totals) {
    free(totals->handlers);
    *totals = (struct totals){0};
}
