/* See selection.h. */
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/messages.h"
#include "common/selected.h"
#include "common/values.h"

enum { IDS_MAX = 1000000, WORD_SIZE = 64 };

struct selection selection;

struct poptOption selection_table[] = {
    {"id", '\0', POPT_ARG_ARGV, &selection.ids, 0,
     "this task; may be given many times; - reads ids from standard input", "ID"},
    OPTION_TEXT("handler", '\0', &selection.handler, "NAME", "tasks of one handler"),
    OPTION_TEXT("pool", '\0', &selection.pool, "POOL",
                "pending, finished, failed or all; purge also: once, history"),
    OPTION_TEXT("state", '\0', &selection.state, "STATE", "pending, handling, failed, done or skipped"),
    OPTION_TEXT("reason", '\0', &selection.reason, "TEXT", "tasks whose reason has this in it"),
    OPTION_TEXT("reason-like", '\0', &selection.reason_like, "TEXT",
                "tasks whose reason is this one but for digits and ids, as failures shows it"),
    OPTION_TEXT("biz-key", '\0', &selection.biz_key, "KEY", "tasks about one business row"),
    OPTION_TEXT("dedup-key", '\0', &selection.dedup_key, "KEY", "tasks with this key"),
    OPTION_TEXT("group", '\0', &selection.group, "NAME", "tasks of one group"),
    OPTION_TEXT(
        "gate", '\0', &selection.gate, "NAME",
        "tasks that wait at a gate or that it let through; =KEY: of an order key; >NAME: that wait for "
        "a group"),
    OPTION_TEXT("since", '\0', &selection.since, "TIME",
                "changed last (settled) then or later; 2h: two hours ago"),
    OPTION_TEXT("until", '\0', &selection.until, "TIME",
                "changed last (settled) then or earlier; 2h likewise"),
    OPTION_TEXT(
        "worker", '\0', &selection.worker, "TOKEN",
        "held or settled by one worker: a claim token, or the 12 digits at the end of all its tokens"),
    POPT_TABLEEND,
};

bool selection_is_narrow(void) {
    return selection.ids || selection.handler || selection.state || selection.reason ||
           selection.reason_like || selection.biz_key || selection.dedup_key || selection.since ||
           selection.until || selection.worker || selection.group || selection.gate;
}

static size_t id_count(void) {
    size_t count = 0;

    while (selection.ids && selection.ids[count])
        count++;
    return count;
}

static void add_id(char ***ids, size_t *count, const char *text) {
    if (*count == IDS_MAX) args_fail("more than %d ids; give them in parts", IDS_MAX);
    if (*count % 1024 == 0) *ids = cli_must(realloc(*ids, (*count + 1025) * sizeof **ids));
    (*ids)[(*count)++] = cli_must(strdup(text));
    (*ids)[*count] = NULL;
}

/* One longer than any id is cut, and refused as none. */
static void read_ids(char ***ids, size_t *count) {
    char word[WORD_SIZE];

    while (scanf("%63s", word) == 1)
        add_id(ids, count, word);
    if (ferror(stdin)) cli_end(cli_fail(EXIT_IO, "standard input cannot be read"));
    if (*count == 0) args_fail("standard input has no ids");
}

static void take_ids(void) {
    static bool taken;
    char **ids = NULL;
    size_t count = 0;
    bool read = false;

    if (taken || !selection.ids) return;
    taken = true;
    for (char **id = selection.ids; *id; id++) {
        if (strcmp(*id, "-") != 0) {
            add_id(&ids, &count, *id);
            continue;
        }
        if (read) args_fail("--id - was given twice");
        read = true;
        read_ids(&ids, &count);
    }
    for (char **id = selection.ids; *id; id++)
        free(*id);
    free(selection.ids);
    selection.ids = ids;
}

void selection_moment(const char *option, const char *text, int64_t *ms) {
    int64_t ago = 0, now = 0;
    tp_status status;

    if (!text || value_time(text, ms)) return;
    if (!value_duration(text, &ago))
        args_fail("%s must be " TIME_WANTED ", or how long ago, like 2h, not \"%.*s\"", option,
                  args_shown(text), text);
    status = tp_now(args_connect(), &now);
    if (status != TP_OK) cli_end(cli_fail_tp(status));
    *ms = now > ago ? now - ago : 1;
}

void selection_for_list(tp_list_request *request) {
    take_ids();
    request->ids = (const char *const *)selection.ids;
    request->id_count = id_count();
    request->pool = selection.pool;
    request->handler = selection.handler;
    request->state = selection.state;
    request->reason = selection.reason;
    request->reason_like = selection.reason_like;
    request->biz_key = selection.biz_key;
    request->dedup_key = selection.dedup_key;
    request->worker = selection.worker;
    request->group = selection.group;
    request->gate = selection.gate;
    selection_moment("--since", selection.since, &request->since);
    selection_moment("--until", selection.until, &request->until);
}

void selection_for_action(tp_selection *action) {
    tp_list_request request = TP_LIST_INIT;

    selection_for_list(&request);
    selected_for_action(&request, action);
}
