/* What the console reads of a request: parameters, the selection of a body, what all actions have, masks. Of
 * any input: no crash, an answer or none but not half of both, and what a mask hides is nowhere in what is
 * shown. The first line is a query, name=value&..., the second one masks with commas between; the rest is the
 * body. */
#include <json-c/json.h>

#include "console/body.h"
#include "console/mask.h"
#include "fuzz.h"
#include "fuzz_cli.h"

static void add_parameters(struct request *request, char *query) {
    char *rest = query;

    for (char *pair = strsep(&rest, "&"); pair; pair = strsep(&rest, "&")) {
        char *value = strchr(pair, '=');

        if (value) *value++ = '\0';
        (void)request_add(request, pair, value);
    }
}

/* Refused means answered, and the other way round. */
static void try_parameters(const struct request *request) {
    static const char *const names[] = {"after", "limit", NULL};
    struct answer answer = {0};
    tp_list_request list = TP_LIST_INIT;
    const char *ids[REQUEST_IDS_MAX];
    int64_t limit = 7;

    require(request_knows(request, names, true, &answer) == (answer.status == 0));
    answer_free(&answer);
    require(request_selection(request, &list, ids, &answer) == (answer.status == 0));
    answer_free(&answer);
    require(request_number(request, "limit", 1, 200, &limit, &answer) == (answer.status == 0));
    require(answer.status || (limit >= 1 && limit <= 200));
    answer_free(&answer);
}

static void try_body(const struct request *request) {
    static const char *const names[] = {"selection", "id", "handler", NULL};
    struct answer answer = {0};
    struct body_common common;
    tp_list_request list = TP_LIST_INIT;
    const char *ids[REQUEST_IDS_MAX], *handler = NULL;
    json_object *selection = body_member(request, "selection");

    if (body_common(request, names, &common, &answer)) {
        require(answer.status == 0 && common.expect >= -1);
        if (selection && request_selection_of(selection, &list, ids, &answer))
            for (size_t i = 0; i < list.id_count; i++)
                require(ids[i] != NULL);
        else
            require(!selection || answer.status == ANSWER_BAD);
        answer_free(&answer);
        require(body_needed(request, "handler", &handler, &answer) ==
                (handler && *handler && !answer.status));
    } else {
        require(answer.status == ANSWER_BAD);
    }
    answer_free(&answer);
}

/* What is shown in place of something hidden is JSON, and hidden means that it is another text. */
static void try_masks(char *names, const char *text) {
    char *texts[MASKS_MAX + 1] = {NULL}, *rest = names;
    const char *wrong;
    struct masks *masks;
    size_t count = 0;
    bool hidden;

    for (char *one = strsep(&rest, ","); one && count < MASKS_MAX; one = strsep(&rest, ","))
        texts[count++] = one;
    masks = masks_open(texts, &wrong);
    if (!masks) return;
    char *shown = mask_text(masks, text, &hidden);
    require(hidden == (strcmp(shown, text) != 0) || strstr(text, "\"***\""));
    json_object *again = hidden ? json_tokener_parse(shown) : NULL;
    require(!hidden || again);
    json_object_put(again);
    free(shown);
    masks_close(masks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    struct request request = {0};
    char *query = fuzz_text(&fuzz, '\n'), *masks = fuzz_text(&fuzz, '\n'), *body = fuzz_rest(&fuzz);
    json_tokener *tokener = json_tokener_new();

    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    add_parameters(&request, query);
    try_parameters(&request);
    request.body = json_tokener_parse_ex(tokener, body, (int)strlen(body));
    if (json_object_is_type(request.body, json_type_object)) try_body(&request);
    try_masks(masks, body);
    json_tokener_free(tokener);
    request_free(&request);
    free(query);
    free(masks);
    free(body);
    return 0;
}
