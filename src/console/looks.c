/* See looks.h. What only some may see, the parameters of tasks, is left out for the others. */
#include "looks.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/messages.h"
#include "common/pool_columns.h"
#include "common/records.h"
#include "common/task_columns.h"
#include "common/values.h"

enum {
    LIMIT = 100,
    LIMIT_MAX = 200,
    READ_MAX = 50000,
    ROWS_MAX = 1000,
    RUNNING_MAX = 200,
    GROUPS_MAX = 200,
    SEARCHED_MAX = 10000
};
enum { CURSOR_SIZE = TP_ID_SIZE + 24 };

static json_object *new_list(void) {
    return cli_must(json_object_new_array());
}

/* Records beyond what one answer may have are left out. */
struct list {
    json_object *objects;
    const struct column *columns;
    int64_t now;
    bool all;
    const struct request *request; /* whose right to parameters counts; NULL: there are none */
    const tp_list_request *wanted; /* of failures */
};

static json_object *list_add(struct list *list, const void *record) {
    json_object *object;

    if (json_object_array_length(list->objects) >= ROWS_MAX) return NULL;
    object = record_object(list->columns, record);
    json_object_array_add(list->objects, object);
    return object;
}

/* ---- Tasks --------------------------------------------------------------------------------------------- */

/* ID, or ID@MS where the list is in the order of changes. */
static bool read_cursor(const struct request *request, tp_list_request *list, char id[CURSOR_SIZE],
                        struct answer *answer) {
    const char *text = request_text(request, "after"), *at = text ? strchr(text, '@') : NULL;

    if (!text) return true;
    if (strlen(text) >= CURSOR_SIZE || (at && !value_integer(at + 1, 1, TP_TIME_MAX, &list->after_at))) {
        answer_error(answer, ANSWER_BAD, "after must be what next said");
        return false;
    }
    snprintf(id, CURSOR_SIZE, "%.*s", (int)strcspn(text, "@"), text);
    list->after_id = id;
    return true;
}

static void add_next(json_object *object, const tp_batch *batch, tp_list_request *list, tp_status status) {
    char text[CURSOR_SIZE + 24] = "";

    if (status == TP_OK && tp_list_next(batch, list) == TP_OK) {
        snprintf(text, sizeof text, "%s", list->after_id);
        if (list->after_at) snprintf(text, sizeof text, "%s@%lld", list->after_id, (long long)list->after_at);
    }
    json_add(object, MEMBERS(MEMBER_TEXT("next", text)));
}

void look_tasks(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_list_request list = TP_LIST_INIT;
    struct list tasks = {NULL, task_columns, 0, false, NULL, NULL};
    char id[CURSOR_SIZE];
    const char *ids[1];
    tp_batch *batch = NULL;
    int64_t limit = LIMIT;
    json_object *object;
    tp_status status;

    if (!request_selection(request, &list, ids, answer) || !read_cursor(request, &list, id, answer) ||
        !request_number(request, "limit", 1, LIMIT_MAX, &limit, answer))
        return;
    list.limit = (size_t)limit;
    list.read_max = READ_MAX;
    status = tp_list(conn, &list, &batch);
    if (status < 0) {
        answer_tp(answer, status);
        return;
    }
    tasks.objects = new_list();
    for (size_t i = 0; i < tp_batch_count(batch); i++)
        look_hide_params(list_add(&tasks, tp_batch_task(batch, i)));
    object = json_new();
    json_add(object, MEMBERS(MEMBER_JSON("tasks", tasks.objects)));
    add_next(object, batch, &list, status);
    answer_json(answer, object);
    tp_batch_free(batch);
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

static void add_failure(const tp_failure *failure, void *arg) {
    struct list *list = arg;
    char *command = failure_command(failure, list->wanted);
    struct failure_shown shown = failure_shown(failure, command);

    (void)list_add(list, &shown);
    free(command);
}

void look_failures(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_list_request list = TP_LIST_INIT, read;
    struct list groups = {.columns = failure_columns, .wanted = &list};
    const char *ids[1];
    int64_t limit = LIMIT;
    int cut = 0;
    tp_status status;

    if (!request_selection(request, &list, ids, answer) ||
        !request_number(request, "limit", 1, GROUPS_MAX, &limit, answer))
        return;
    list.limit = (size_t)limit;
    read = list;
    if ((!list.pool || strcmp(list.pool, "all") == 0) && !reader_retries(request->reader))
        read.pool = "failed";
    groups.objects = new_list();
    status = tp_failures_each(conn, &read, add_failure, &groups, &cut);
    if (status >= 0) {
        answer_members(answer, MEMBERS(MEMBER_JSON("groups", groups.objects), MEMBER_YES_NO("cut", cut)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(groups.objects);
}

/* ---- Workers ------------------------------------------------------------------------------------------- */

static void add_worker(const tp_worker_row *row, void *arg) {
    struct list *list = arg;
    struct worker_shown shown;
    json_object *object;

    if (!worker_is_shown(row, list->now, &shown) && !list->all) return;
    object = list_add(list, &shown);
    if (object) json_add(object, MEMBERS(MEMBER_JSON("in_progress", new_list())));
}

#define RUNNING(type, member) COLUMN_OF(type, tp_running, member)
static const char *running_id(const void *record, char text[RECORD_TEXT_SIZE]) {
    (void)text;
    return ((const tp_running *)record)->id;
}
static const struct column running_columns[] = {
    {NULL, "id", .shown = running_id},
    {NULL, "handler", RUNNING(TEXT, handler)},
    {NULL, "biz_key", RUNNING(TEXT, biz_key)},
    {NULL, "failures", RUNNING(NUMBER, failures)},
    {NULL, "wanted_at", RUNNING(TIME, wanted_at), .may_miss = true},
    {NULL, "claimed_at", RUNNING(TIME, claimed_at), .may_miss = true},
    {NULL, "lapses_at", RUNNING(TIME, lapses_at), .may_miss = true},
    COLUMNS_END,
};

/* To the worker that has it. */
static void add_running(const tp_running *running, void *arg) {
    struct list *list = arg;
    json_object *id, *tasks;

    for (size_t i = 0; running->worker && i < json_object_array_length(list->objects); i++) {
        json_object *worker = json_object_array_get_idx(list->objects, i);

        if (!json_object_object_get_ex(worker, "id", &id) ||
            strcmp(json_object_get_string(id), running->worker->id) != 0 ||
            !json_object_object_get_ex(worker, "in_progress", &tasks))
            continue;
        if (!json_object_array_length(tasks)) /* those claimed first come first */
            json_add(
                worker,
                MEMBERS(
                    MEMBER_TEXT("oldest_task", running->id), MEMBER_TEXT("oldest_handler", running->handler),
                    MEMBER_NUMBER_IF(running->claimed_at != 0, "oldest_claimed_at", running->claimed_at),
                    MEMBER_NUMBER_IF(running->claimed_at != 0, "oldest_ms",
                                     list->now > running->claimed_at ? list->now - running->claimed_at : 1)));
        id = record_object(running_columns, running);
        json_add(id, MEMBERS(MEMBER_NUMBER_IF(running->percent >= 0, "percent", running->percent)));
        json_object_array_add(tasks, id);
        return;
    }
}

void look_workers(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_running_request running = TP_RUNNING_INIT;
    struct list workers = {NULL, worker_columns, 0, request_text(request, "all") != NULL, NULL, NULL};
    tp_status status = tp_now(conn, &workers.now);

    running.limit = RUNNING_MAX; /* those claimed first */
    workers.objects = new_list();
    if (status >= 0) status = tp_worker_each(conn, add_worker, &workers);
    if (status >= 0) status = tp_running_each(conn, &running, add_running, &workers);
    if (status >= 0) {
        answer_members(answer, MEMBERS(MEMBER_JSON("workers", workers.objects)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(workers.objects);
}

/* ---- Schedules and history ----------------------------------------------------------------------------- */

static void add_schedule(const tp_schedule *schedule, void *arg) {
    struct list *list = arg;
    json_object *object = list_add(list, schedule);

    if (object) look_show_params(object, list->request, schedule->params);
}

void look_schedules(tp_conn *conn, const struct request *request, struct answer *answer) {
    struct list schedules = {new_list(), schedule_columns, 0, false, request, NULL};
    tp_status status = tp_schedule_each(conn, add_schedule, &schedules);

    if (status >= 0) {
        answer_members(answer, MEMBERS(MEMBER_JSON("schedules", schedules.objects)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(schedules.objects);
}

struct events {
    struct list list;
    const char *who, *what;
    int64_t after, limit, seen;
    int64_t next; /* how many lie before the next page; 0: there is none */
};

static void add_event(const tp_history *event, void *arg) {
    struct events *events = arg;
    int64_t number = events->seen++;

    if (number < events->after || events->next) return;
    if (events->who && strcmp(events->who, event->who) != 0) return;
    if (events->what && strcmp(events->what, event->event) != 0) return;
    if ((int64_t)json_object_array_length(events->list.objects) == events->limit)
        events->next = number;
    else
        (void)list_add(&events->list, event);
}

void look_history(tp_conn *conn, const struct request *request, struct answer *answer) {
    struct events events = {.list = {.columns = history_columns}, .limit = LIMIT};
    char next[24] = "";
    tp_status status;

    events.who = request_text(request, "who");
    events.what = request_text(request, "what");
    if (!request_number(request, "limit", 1, LIMIT_MAX, &events.limit, answer) ||
        !request_number(request, "after", 0, SEARCHED_MAX, &events.after, answer))
        return;
    events.list.objects = new_list();
    status = tp_history_each(
        conn, NULL, events.who || events.what ? SEARCHED_MAX : (size_t)(events.after + events.limit + 1),
        add_event, &events);
    if (events.next && events.next <= SEARCHED_MAX)
        snprintf(next, sizeof next, "%lld", (long long)events.next);
    if (status >= 0) {
        answer_members(answer,
                       MEMBERS(MEMBER_JSON("events", events.list.objects), MEMBER_TEXT("next", next)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(events.list.objects);
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static void add_request(const tp_request *one, void *arg) {
    struct list *list = arg;
    json_object *object = list_add(list, one);

    if (object) look_show_params(object, list->request, one->fields & TP_EDIT_PARAMS ? one->params : NULL);
}

void look_requests(tp_conn *conn, const struct request *request, struct answer *answer) {
    struct list requests = {NULL, request_details, 0, false, request, NULL};
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    int64_t limit = LIMIT;
    tp_status status;

    if (!request_number(request, "limit", 1, LIMIT_MAX, &limit, answer)) return;
    requests.objects = new_list();
    status = tp_four_eyes_get(conn, &eyes);
    if (status >= 0)
        status = tp_request_each(conn, NULL, request_text(request, "state"), (size_t)limit, add_request,
                                 &requests);
    if (status >= 0) {
        answer_members(answer,
                       MEMBERS(MEMBER_JSON("requests", requests.objects), MEMBER_YES_NO("four_eyes", eyes.on),
                               MEMBER_NUMBER("retries", eyes.retry_max),
                               MEMBER_NUMBER("expires_ms", eyes.expire_ms)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(requests.objects);
}
