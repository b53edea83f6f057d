/* An edit that needs a second person: the request for it, and the edit that is read back from one. See
 * edit.h. Read next: edit.c, request.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/sized.h"
#include "ops/edit.h"
#include "ops/four_eyes.h"
#include "ops/request.h"

/* A request has no column for a shard or a deadline: its selection says which. */
enum { SELECTION_SIZE = TPI_UUID_SIZE + 80 };
static const char shard_word[] = " shard=", deadline_word[] = " deadline=";

static void add(const struct tpi_edit *edit, char *selection, int32_t field, const char *word,
                int64_t value) {
    size_t used = strlen(selection);
    if (!tpi_edit_asks(edit, field)) return;
    snprintf(selection + used, SELECTION_SIZE - used, "%s%" PRId64, word, value);
}

static int64_t number_of(const char *selection, const char *word) {
    const char *found = strstr(selection, word);
    return found ? strtoll(found + strlen(word), NULL, 10) : 0;
}

static void new_request(const struct tpi_edit *edit, char *selection, struct tpi_new_request *asked) {
    snprintf(selection, SELECTION_SIZE, "id=%s", edit->id);
    add(edit, selection, TP_EDIT_SHARD, shard_word, edit->request.shard);
    add(edit, selection, TP_EDIT_DEADLINE_AT, deadline_word, edit->request.deadline_at);
    *asked = (struct tpi_new_request){.act = TPI_ACT_EDIT,
                                      .selection = selection,
                                      .who = edit->who,
                                      .why = edit->why,
                                      .edit = &edit->request};
}

void tpi_edit_of_request(const tp_request *request, tp_edit_request *edit) {
    *edit = (tp_edit_request)TP_EDIT_INIT;
    edit->params = request->params;
    edit->biz_key = request->biz_key;
    edit->dedup_key = request->dedup_key;
    edit->due_at = request->due_at;
    edit->fields = request->fields;
    edit->priority = request->priority;
    edit->max_failures = request->max_failures;
    edit->retry = request->retry;
    edit->shard = (int32_t)number_of(request->selection, shard_word);
    edit->deadline_at = number_of(request->selection, deadline_word);
    tpi_utf8_copy(request->id, edit->edit_id, sizeof edit->edit_id);
}

tp_status tpi_edit_find_request(struct tpi_edit *edit) {
    char selection[SELECTION_SIZE];
    struct tpi_new_request asked;
    size_t count = 0;
    new_request(edit, selection, &asked);
    return tpi_request_earlier(edit->conn, &asked, edit->request.edit_id, &count);
}

/* As it was shown, or not at all. */
static tp_status note_task(tp_conn *conn, const char *id, void *arg, size_t *count) {
    struct tpi_edit *edit = arg;
    const char *key = edit->id;
    struct tpi_args args = {0};
    bool failed = edit->pool == TPI_POOL_FAILED;
    tpi_args_number(&args, TPI_P_since, -TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_before, TPI_END_OF_TIME);
    tpi_args_number(&args, TPI_P_modified_at, edit->old->modified_at);
    return tpi_request_note(conn, id, failed ? TPI_S_request_rows_failed : TPI_S_request_rows_pending, &args,
                            &key, 1, count);
}

tp_status tpi_edit_ask_second(struct tpi_edit *edit) {
    char selection[SELECTION_SIZE];
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    struct tpi_new_request asked;
    size_t count = 0;
    tp_status status = edit->approved ? TP_OK : tpi_four_eyes_read(edit->conn, &eyes);
    if (status != TP_OK || !eyes.on) return status == TP_OK ? TP_NONE : status;
    new_request(edit, selection, &asked);
    asked.expire_ms = eyes.expire_ms;
    status = tpi_request_put(edit->conn, &asked, edit->request.edit_id, note_task, edit, &count);
    return status == TP_NONE
               ? tpi_error(TP_CONFLICT, "the task was changed meanwhile; look at it and ask again")
               : status;
}
