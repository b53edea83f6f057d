/* One task with its life, and what its handler told: how far it is, its steps, its result. See looks.h. */
#include <json-c/json.h>
#include <stdlib.h>

#include "common/life.h"
#include "common/messages.h"
#include "common/pool_columns.h"
#include "common/records.h"
#include "common/task_columns.h"
#include "looks.h"
#include "mask.h"

static json_object *new_list(void) {
    return cli_must(json_object_new_array());
}

/* ---- What only some may see ---------------------------------------------------------------------------- */

void look_hide_params(json_object *object) {
    json_add(object, MEMBERS(MEMBER_TEXT("params", NULL), MEMBER_YES_NO("params_hidden", 1)));
}

void look_show_params(json_object *object, const struct request *request, const char *params) {
    bool hidden;
    char *shown;

    if (!request->params) {
        look_hide_params(object);
        return;
    }
    shown = mask_text(request->masks, params ? params : "", &hidden);
    json_add(object, MEMBERS(MEMBER_TEXT("params", params ? shown : NULL), MEMBER_YES_NO("params_hidden", 0),
                             MEMBER_YES_NO("params_masked", hidden)));
    free(shown);
}

/* The same of another text that may hold what parameters hold. */
static void show_text(json_object *object, const struct request *request, const char *key, const char *text) {
    bool hidden;
    char *shown = request->params && *text ? mask_text(request->masks, text, &hidden) : NULL;

    json_add(object, MEMBERS(MEMBER_TEXT(key, shown)));
    free(shown);
}

/* ---- The task ------------------------------------------------------------------------------------------ */

static json_object *life_of(const struct life *life) {
    json_object *moments = new_list();

    for (size_t i = 0; i < life->count; i++)
        json_object_array_add(moments, record_object(life_columns, &life->moments[i]));
    return moments;
}

/* Who asked for its end, while nobody knows yet what comes of that. */
static json_object *cancel_of(const struct life *life, const tp_task *task) {
    const struct moment *asked = life_asked(life, task);
    json_object *object = asked ? json_new() : NULL;

    if (asked)
        json_add(object, MEMBERS(MEMBER_NUMBER("at", asked->at), MEMBER_TEXT("who", asked->who),
                                 MEMBER_TEXT("reason", asked->reason)));
    return object;
}

struct reports {
    const struct request *request;
    json_object *progress, *steps;
};

static void take_progress(const tp_progress *progress, void *arg) {
    struct reports *reports = arg;

    reports->progress = json_new();
    json_add(reports->progress,
             MEMBERS(MEMBER_NUMBER_IF(progress->percent >= 0, "percent", progress->percent),
                     MEMBER_NUMBER("at", progress->at)));
    show_text(reports->progress, reports->request, "message", progress->message);
}

static void take_step(const tp_step_row *step, void *arg) {
    struct reports *reports = arg;
    json_object *object = json_new();

    json_add(object, MEMBERS(MEMBER_TEXT("name", step->name), MEMBER_NUMBER("at", step->at)));
    show_text(object, reports->request, "result", step->result);
    json_object_array_add(reports->steps, object);
}

/* What the task's handler told: how far it is, its steps that are done, its result. */
static tp_status add_reports(tp_conn *conn, const struct request *request, const tp_task *task,
                             json_object *object) {
    struct reports reports = {.request = request, .steps = new_list()};
    tp_status status = tp_progress_of(conn, task, take_progress, &reports);

    if (status >= 0) status = tp_step_each(conn, task, take_step, &reports);
    json_add(object, MEMBERS(MEMBER_JSON("progress", reports.progress), MEMBER_JSON("steps", reports.steps)));
    show_text(object, request, "result", task->result);
    return status < 0 ? status : TP_OK;
}

void look_task(tp_conn *conn, const struct request *request, struct answer *answer) {
    struct life *life = cli_must(malloc(sizeof *life));
    tp_batch *batch = NULL;
    tp_status status = tp_show(conn, request->id, &batch);
    json_object *object = NULL;

    if (status == TP_OK) status = life_read(conn, tp_batch_task(batch, 0), life);
    if (status == TP_OK) {
        object = record_object(task_columns, tp_batch_task(batch, 0));
        status = add_reports(conn, request, tp_batch_task(batch, 0), object);
    }
    if (status == TP_NONE) {
        answer_error(answer, ANSWER_NOT_FOUND, "no task has this id; it may have been purged");
    } else if (status != TP_OK) {
        answer_tp(answer, status);
        json_object_put(object);
    } else {
        json_add(object, MEMBERS(MEMBER_TEXT("warning", task_warning(tp_batch_task(batch, 0))),
                                 MEMBER_TEXT("worker", life->worker), MEMBER_JSON("life", life_of(life)),
                                 MEMBER_JSON("cancel", cancel_of(life, tp_batch_task(batch, 0)))));
        look_show_params(object, request, tp_batch_task(batch, 0)->params);
        answer_json(answer, object);
    }
    tp_batch_free(batch);
    free(life);
}
