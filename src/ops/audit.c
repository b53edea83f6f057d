/* Records acts, and who acts on a connection. See audit.h. */
#include "ops/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/refused.h"
#include "store/record.h"

const char tpi_audit_no_hash[TPI_SHA256_SIZE] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* ---- Who acts ------------------------------------------------------------------------------------------ */

tp_status tp_conn_actor(tp_conn *conn, const tp_actor *given) {
    tp_actor actor = TP_ACTOR_INIT;
    char request[TPI_UUID_SIZE] = "";
    if (!conn) return tpi_error(TP_MISUSE, "tp_conn_actor: conn is NULL");
    tp_status status = given ? tpi_read_sized(TPI_SIZED_actor, given, &actor) : TP_OK;
    if (status == TP_OK && actor.request_id && *actor.request_id)
        status = tpi_check_uuid("request_id", actor.request_id, request);
    if (status != TP_OK) return status;
    tpi_utf8_copy(actor.who ? actor.who : "", conn->actor.who, sizeof conn->actor.who);
    tpi_utf8_copy(actor.why ? actor.why : "", conn->actor.why, sizeof conn->actor.why);
    memcpy(conn->actor.request_id, request, sizeof request);
    return TP_OK;
}

bool tpi_audit_has_actor(const tp_conn *conn) {
    return *conn->actor.who != '\0';
}

const char *tpi_audit_who(const tp_conn *conn, const char *given, char name[TPI_WHO_MAX + 1]) {
    const char *who = given && *given ? given : conn->actor.who;
    char process[TPI_PROCESS_NAME_SIZE];
    tpi_process_name(process);
    tpi_utf8_copy(*who ? who : process, name, TPI_WHO_MAX + 1);
    return name;
}

/* ---- Hashes -------------------------------------------------------------------------------------------- */

static void add_field(struct tpi_buf *text, const char *name, const char *value) {
    if (!value) value = "";
    tpi_buf_text(text, name);
    tpi_buf_char(text, ' ');
    tpi_buf_int(text, (int64_t)strlen(value));
    tpi_buf_char(text, ' ');
    tpi_buf_text(text, value);
    tpi_buf_char(text, '\n');
}

static void add_number(struct tpi_buf *text, const char *name, int64_t value) {
    char digits[TPI_DIGITS_SIZE];
    tpi_digits(value, digits);
    add_field(text, name, digits);
}

/* docs/audit.md has this text, so that others can make it too. */
bool tpi_audit_hash(const tp_audit *row, char out[TPI_SHA256_SIZE]) {
    struct tpi_buf text = {0};
    tpi_buf_text(&text, "taskpool audit 1\n");
    add_number(&text, "seq", row->seq);
    add_field(&text, "act", row->act);
    add_number(&text, "at", row->at);
    add_field(&text, "who", row->who);
    add_field(&text, "action", row->action);
    add_field(&text, "subject", row->subject);
    add_field(&text, "detail", row->detail);
    add_number(&text, "changed", row->changed);
    add_field(&text, "ids_hash", row->ids_hash);
    add_field(&text, "request_id", row->request_id);
    add_field(&text, "why", row->why);
    add_field(&text, "prev_hash", row->prev_hash);
    bool whole = !text.failed;
    if (whole) tpi_sha256(text.data, text.length, out);
    tpi_buf_free(&text);
    return whole;
}

static int compare_ids(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of the ids in their order, a line each. */
static tp_status hash_ids(const struct tpi_act *act, char out[TPI_SHA256_SIZE]) {
    struct tpi_buf text = {0};
    const char **ids = malloc(act->id_count * sizeof *ids);
    if (ids) {
        memcpy(ids, act->ids, act->id_count * sizeof *ids);
        qsort(ids, act->id_count, sizeof *ids, compare_ids);
    }
    for (size_t i = 0; ids && i < act->id_count; i++) {
        tpi_buf_text(&text, ids[i]);
        tpi_buf_char(&text, '\n');
    }
    bool whole = ids && !text.failed;
    if (whole) tpi_sha256(text.data, text.length, out);
    free(ids);
    tpi_buf_free(&text);
    return whole ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
}

/* ---- The row ------------------------------------------------------------------------------------------- */

/* The texts of a row, as they are stored: what the database would change in them changes their hash. */
struct texts {
    char who[TPI_WHO_MAX + 1], subject[TPI_WHO_MAX + 1];
    char detail[TP_REASON_MAX + 1], why[TP_REASON_MAX + 1];
    char ids_hash[TPI_SHA256_SIZE], prev_hash[TPI_SHA256_SIZE], hash[TPI_SHA256_SIZE];
};

static void copy_text(const char *text, char *out, size_t size) {
    tpi_utf8_copy(text ? text : "", out, size);
}

/* The row before is missing where somebody deleted it: the chain goes on, and shows the gap. */
static tp_status take_place(struct tpi_store *store, int64_t *seq, char prev_hash[TPI_SHA256_SIZE]) {
    struct place {
        int64_t seq;
        char hash[TPI_SHA256_SIZE];
    } place = {0, ""};
    static const struct tpi_column columns[] = {TPI_COLUMN(NUMBER, struct place, seq),
                                                TPI_COLUMN(CHARS, struct place, hash), TPI_COLUMN_END};
    struct tpi_args none = {0};
    tp_status status = tpi_store_change_one(store, TPI_S_audit_lock, &none);
    if (status == TP_OK) status = tpi_store_read(store, TPI_S_audit_place, &none, columns, NULL, &place);
    if (status == TP_NONE)
        return tpi_error(TP_SCHEMA, "the audit's head is missing; run 'taskpool schema install'");
    *seq = place.seq;
    memcpy(prev_hash, *place.hash ? place.hash : tpi_audit_no_hash, TPI_SHA256_SIZE);
    return status;
}

static tp_status store_row(tp_conn *conn, const tp_audit *row) {
    struct tpi_args args = {0};
    tpi_args_number(&args, TPI_P_seq, row->seq);
    tpi_args_text(&args, TPI_P_act, row->act);
    tpi_args_number(&args, TPI_P_at, row->at);
    tpi_args_text(&args, TPI_P_who, row->who);
    tpi_args_text(&args, TPI_P_action, row->action);
    tpi_args_text(&args, TPI_P_subject, row->subject);
    tpi_args_text(&args, TPI_P_detail, row->detail);
    tpi_args_number(&args, TPI_P_changed, row->changed);
    tpi_args_text(&args, TPI_P_ids_hash, row->ids_hash);
    tpi_args_text(&args, TPI_P_request_id, row->request_id);
    tpi_args_text(&args, TPI_P_reason, row->why);
    tpi_args_text(&args, TPI_P_prev_hash, row->prev_hash);
    tpi_args_text(&args, TPI_P_row_hash, row->hash);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_audit_add, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no row", "audit") : status;
}

tp_status tpi_audit_ready(tp_conn *conn) {
    return tpi_conn_needs_transaction(conn, "what is done is recorded with it");
}

tp_status tpi_audit_add(tp_conn *conn, struct tpi_act *act) {
    struct texts texts = {.ids_hash = ""};
    tp_audit row = {.act = act->id,
                    .who = tpi_audit_who(conn, act->who, texts.who),
                    .action = act->action,
                    .subject = texts.subject,
                    .detail = texts.detail,
                    .changed = act->changed,
                    .ids_hash = texts.ids_hash,
                    .request_id = conn->actor.request_id,
                    .why = texts.why,
                    .prev_hash = texts.prev_hash,
                    .hash = texts.hash};
    if (!*act->id) tpi_uuid_ordered(act->id);
    copy_text(act->subject, texts.subject, sizeof texts.subject);
    copy_text(act->detail, texts.detail, sizeof texts.detail);
    copy_text(act->why && *act->why ? act->why : conn->actor.why, texts.why, sizeof texts.why);
    tp_status status = act->at ? TP_OK : tpi_ask_now(conn, &act->at);
    row.at = act->at;
    if (status == TP_OK && act->id_count) status = hash_ids(act, texts.ids_hash);
    if (status == TP_OK) status = take_place(&conn->store, &row.seq, texts.prev_hash);
    if (status != TP_OK) return status;
    if (!tpi_audit_hash(&row, texts.hash)) return tpi_error(TP_NOMEM, "out of memory");
    return store_row(conn, &row);
}

tp_status tpi_audit_event(tp_conn *conn, struct tpi_act *act, struct tpi_history_event *event) {
    char who[TPI_WHO_MAX + 1];
    event->who = act->who = tpi_audit_who(conn, act->who, who);
    tp_status status = act->at ? TP_OK : tpi_ask_now(conn, &act->at);
    if (status == TP_OK) status = tpi_history_note(conn, event, act->at);
    return status == TP_OK ? tpi_audit_add(conn, act) : status;
}

/* ---- Acts of the application ----------------------------------------------------------------------------
 */

static tp_status check_action(const char *action) {
    enum { MOST = 16 };
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    if (action && *action && strlen(action) <= MOST && strspn(action, allowed) == strlen(action))
        return TP_OK;
    return tpi_error(
        TP_MISUSE, "tp_audit_add: action is a word of at most 16 letters, digits and hyphens in lower case");
}

tp_status tp_audit_add(tp_conn *conn, const char *action, const char *subject, const char *detail,
                       int64_t changed) {
    struct tpi_act act = {.action = action, .subject = subject, .detail = detail, .changed = changed};
    bool open = false;
    tp_status status = tpi_conn_ready(conn);
    if (status == TP_OK) status = check_action(action);
    if (status == TP_OK) status = tpi_audit_ready(conn);
    if (status == TP_OK) status = tpi_conn_in_transaction(conn, &open);
    if (status == TP_OK && !open)
        status = tpi_error(TP_MISUSE, "tp_audit_add: begin the transaction of what is recorded first");
    if (status == TP_OK) status = tpi_audit_add(conn, &act);
    return status == TP_OK ? TP_OK : tpi_conn_doom(conn, status);
}
