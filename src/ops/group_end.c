/* Noticing that groups have ended. Settles do not count: whoever has settled something asks now and then
 * which groups that are closed have no open task, by index, from the task on that was open last time. What
 * the answer names is looked at once more under the lock of its row, where nobody can put a task in; then the
 * group ends and what waited for it becomes due, in one transaction. See group.h. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "ops/audit.h"
#include "ops/group.h"
#include "ops/operate.h"
#include "ops/refused.h"
#include "store/record.h"

/* ROUNDS: a group's end may end the one around it. RELEASE_MAX: tasks that become due in one transaction. */
enum { ROUNDS = 100, RELEASE_MAX = 20 * TPI_LIST_MAX };

int64_t tpi_group_slow_ms = 20;

static const char no_id[] = "00000000-0000-0000-0000-000000000000";

struct id {
    char text[TPI_UUID_SIZE];
};
static const struct tpi_column id_only[] = {TPI_COLUMN(ID, struct id, text), TPI_COLUMN_END};

/* ---- What waited --------------------------------------------------------------------------------------- */

/* As when they are released, but skipped. */
static tp_status skip(tp_conn *conn, const char *name, const char *const *ids, size_t count) {
    char who[TPI_WHO_MAX + 1], why[TP_REASON_MAX + 1];
    const char *gates[TPI_LIST_MAX];
    struct tpi_texts texts = {0};
    size_t skipped = 0, left = 0;
    (void)tpi_audit_who(conn, NULL, who);
    snprintf(why, sizeof why, "group %s was cancelled", name);
    tp_status status =
        tpi_operate_skip_as(TPI_HISTORY_CANCELED, conn, "pending", ids, count, who, why, &skipped);
    if (status == TP_OK) status = tpi_gate_of_each(conn, ids, count, &texts, gates, &left);
    tpi_texts_free(&texts);
    if (status == TP_OK && left)
        return tpi_error(TP_CONFLICT, "tasks that wait for group %s are locked", name);
    return status;
}

/* The first of those that wait. *more: there may be others. */
static tp_status release_some(tp_conn *conn, const char *name, bool skips, bool *more) {
    struct id waiting[TPI_LIST_MAX];
    const char *ids[TPI_LIST_MAX];
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    size_t count = 0;
    int64_t rows = 0;
    *more = false;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_number(&args, TPI_P_limit, TPI_LIST_MAX);
    tp_status status = tpi_store_query(&conn->store, TPI_S_group_waiting, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_record_all(stmt, id_only, NULL, waiting, sizeof *waiting, TPI_LIST_MAX, &count);
    if (status != TP_OK || !count) return status;
    for (size_t i = 0; i < count; i++)
        ids[i] = waiting[i].text;
    status = skips ? skip(conn, name, ids, count) : tpi_group_release(conn, name, ids, count);
    tpi_args_list(&args, ids, count);
    if (status == TP_OK) status = tpi_store_change(&conn->store, TPI_S_group_released, &args, &rows);
    if (status == TP_OK && rows != (int64_t)count)
        return tpi_refused_silently(&conn->store, "kept tasks that wait for a group", "group_task");
    *more = count == TPI_LIST_MAX;
    return status;
}

/* ---- The end of one ------------------------------------------------------------------------------------ */

/* The first of its tasks that holds it up. TP_NONE: none does. */
static tp_status first_open(tp_conn *conn, enum tpi_statement which, const char *name, const char *after,
                            struct id *open) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_after_id, after);
    tpi_args_number(&args, TPI_P_limit, 1);
    return tpi_store_read(&conn->store, which, &args, id_only, NULL, open);
}

static tp_status note_seen(tp_conn *conn, const char *name, const char *id) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_last_id, id);
    return tpi_store_change_one(&conn->store, TPI_S_group_seen, &args);
}

/* All its tasks are looked at, also those before the first that was open: a failed one may have been retried.
 * The groups within it have ended, or it would not have been named, and no other comes into one that is
 * closed. Where the pools are read at two moments, one that fails in between is seen before, and one that is
 * retried in between is seen afterwards. TP_NONE: nothing holds it up. */
static tp_status find_open(tp_conn *conn, const char *name) {
    bool apart = conn->store.caps & TPI_CAP_READS_APART;
    struct id open = {""};
    tp_status status = TP_NONE;
    if (apart) status = first_open(conn, TPI_S_group_first_pending, name, no_id, &open);
    if (status == TP_NONE) status = first_open(conn, TPI_S_group_first_open, name, no_id, &open);
    if (status == TP_NONE && apart) status = first_open(conn, TPI_S_group_first_pending, name, no_id, &open);
    return status == TP_OK ? note_seen(conn, name, open.text) : status;
}

static tp_status set_ended(tp_conn *conn, const char *name, const char *from, bool more) {
    struct tpi_args args = {0};
    const char *to = more ? "opening" : "over";
    if (strcmp(from, to) == 0) return TP_OK;
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_state, from);
    tpi_args_text(&args, TPI_P_to_state, to);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_group_end, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "kept a group as it was", "group") : status;
}

/* *ended: it has, and all that waited is due. */
static tp_status try_end(tp_conn *conn, const char *name, bool *ended) {
    struct tpi_group group = {.cancelled = 0};
    bool more = true;
    tp_status status = tpi_group_lock(conn, name, &group);
    if (status != TP_OK || tpi_group_is(&group, "open") || tpi_group_is(&group, "over")) return status;
    if (tpi_group_is(&group, "closed")) {
        status = find_open(conn, name);
        if (status != TP_NONE) return status;
        status = TP_OK;
    }
    for (size_t done = 0; status == TP_OK && more && done < RELEASE_MAX; done += TPI_LIST_MAX)
        status = release_some(conn, name, group.cancelled == TPI_GROUP_SKIPS, &more);
    if (status == TP_OK) status = set_ended(conn, name, group.state, more);
    *ended = status == TP_OK && !more;
    return status;
}

/* ---- Those of the pool --------------------------------------------------------------------------------- */

/* What is to be done to a group in a transaction of its own, unless another session has locked it. */
typedef tp_status group_fn(tp_conn *conn, const char *name, bool *ended);

static tp_status in_scope(tp_conn *conn, const char *name, group_fn *act, bool *ended) {
    struct tpi_scope scope;
    struct tpi_args args = {0};
    bool is_free = true;
    *ended = false;
    tp_status status = tpi_scope_begin(conn, &scope);
    tpi_args_text(&args, TPI_P_name, name);
    if (status == TP_OK && (conn->store.caps & TPI_CAP_SKIP))
        status = tpi_store_exists(&conn->store, TPI_S_group_try, &args, &is_free);
    if (status == TP_OK && is_free) status = act(conn, name, ended);
    return tpi_scope_end(conn, &scope, status);
}

/* On those that the statement names, from any on, one at least and no further than until, by the monotonic
 * clock. */
static tp_status act_on_each(tp_conn *conn, enum tpi_statement which, group_fn *act, int64_t until,
                             size_t *ended) {
    struct tpi_args args = {0};
    struct tpi_keys groups = {.count = 0};
    struct tpi_kept_error kept = {0};
    tp_status met = TP_OK;
    tp_status status = tpi_store_keys(&conn->store, which, &args, &groups);
    size_t first = groups.count ? tpi_random() % groups.count : 0;
    for (size_t i = 0; i < groups.count && status == TP_OK && (!i || tpi_clock_mono_ms() < until); i++) {
        bool over = false;
        status = in_scope(conn, groups.all[(first + i) % groups.count], act, &over);
        *ended += over;
        bool next_may_do = status == TP_CONFLICT || status == TP_TIMEOUT || status == TP_DB;
        if (!next_may_do && status != TP_NONE) continue;
        if (next_may_do && met != TP_DB) {
            met = status;
            kept = tpi_error_keep();
        }
        status = TP_OK;
    }
    tpi_keys_free(&groups);
    if (status == TP_OK && met != TP_OK) tpi_error_restore(&kept);
    return status == TP_OK ? met : status;
}

/* So that the next question passes over what has ended. Where many groups are closed each is dealt with now
 * and then, and as much time is spent on it as on the question. */
static tp_status note_open(tp_conn *conn, const char *name, bool *ended) {
    struct tpi_group group = {.cancelled = 0};
    struct id open = {""};
    *ended = false;
    tp_status status = tpi_group_lock(conn, name, &group);
    if (status == TP_OK) status = first_open(conn, TPI_S_group_first_open, name, group.seen_id, &open);
    if (status != TP_OK || strcmp(open.text, group.seen_id) == 0) return status;
    return note_seen(conn, name, open.text);
}

static tp_status note_how_far(tp_conn *conn, int64_t most_ms) {
    size_t none = 0;
    return act_on_each(conn, TPI_S_group_closed, note_open, tpi_clock_mono_ms() + most_ms + 1, &none);
}

/* Round by round, as long as groups end. */
static tp_status end_all(tp_conn *conn, size_t *ended) {
    size_t before = 0;
    tp_status status = act_on_each(conn, TPI_S_group_due, try_end, INT64_MAX, ended);
    for (int round = 1; round < ROUNDS && status == TP_OK && *ended > before; round++) {
        before = *ended;
        status = act_on_each(conn, TPI_S_group_due, try_end, INT64_MAX, ended);
    }
    return status;
}

tp_status tp_groups_end(tp_conn *conn, size_t *ended) {
    struct tpi_args args = {0};
    size_t all = 0;
    bool any = false;
    tp_status status = tpi_conn_ready_alone(conn, "tp_groups_end");
    tpi_args_number(&args, TPI_P_limit, 1);
    if (status == TP_OK) status = tpi_store_exists(&conn->store, TPI_S_group_any, &args, &any);
    if (status != TP_OK || !any) return status == TP_OK ? TP_NONE : status;
    int64_t began = tpi_clock_mono_ms();
    status = end_all(conn, &all);
    int64_t took = tpi_clock_mono_ms() - began;
    if (status == TP_OK && took >= tpi_group_slow_ms) status = note_how_far(conn, took);
    if (ended) *ended = all;
    return status;
}
