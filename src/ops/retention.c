/* Retention: how long settled rows are kept, a setting in the pool's meta table, and the deleting of what is
 * past it. Read next: purge.c. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/four_eyes.h"
#include "ops/group.h"
#include "ops/operate.h"
#include "ops/refused.h"
#include "ops/request.h"
#include "ops/setting.h"
#include "store/record.h"

enum { TASK_POOLS = 2, RETAINED_POOLS = 3 };
static const int64_t DAY_MS = INT64_C(24) * 60 * 60 * 1000;
static const int64_t MONTH_MS = INT64_C(30) * 24 * 60 * 60 * 1000;
static const struct retained {
    const char *pool, *name, *what;
    int64_t by_default;
} retained[RETAINED_POOLS] = {{"finished", "keep_finished", "finished tasks", 0},
                              {"failed", "keep_failed", "failed tasks", 0},
                              {"activity", "keep_activity", "activity", MONTH_MS}};

static tp_status find_pool(const char *pool, const struct retained **found) {
    for (size_t i = 0; pool && i < RETAINED_POOLS; i++) {
        if (strcmp(retained[i].pool, pool) != 0) continue;
        *found = &retained[i];
        return TP_OK;
    }
    return tpi_error(TP_MISUSE,
                     "rows are kept for a time in finished, failed and activity; name one of them");
}

/* TP_NONE: never set. What somebody wrote by hand must not be misread: 90d as 90 milliseconds would delete
 * nearly everything. */
static tp_status read_setting(tp_conn *conn, const char *name, int64_t *value) {
    char text[TPI_SETTING_SIZE], *end = NULL;
    tp_status status = tpi_setting_get(conn, name, text);
    if (status != TP_OK) return status;
    errno = 0;
    int64_t number = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
    if (number < 0 || *end || errno || number > TP_DURATION_MAX)
        return tpi_error(
            TP_DB,
            "the pool's setting %s is '%.40s', which is no number of milliseconds up to 100 years; "
            "set it anew with 'taskpool retention'",
            name, text);
    *value = number;
    return TP_OK;
}

static void duration_text(int64_t ms, char *out, size_t size) {
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (ms % units[i].ms)
        i++;
    snprintf(out, size, "%" PRId64 "%s", ms / units[i].ms, units[i].unit);
}

static tp_status write_retention(tp_conn *conn, const struct retained *what, int64_t retention_ms,
                                 const char *who) {
    char name[TPI_WHO_MAX + 1], time[32] = "for ever", reason[80], digits[TPI_DIGITS_SIZE];
    tpi_utf8_copy(who, name, sizeof name);
    tpi_digits(retention_ms, digits);
    if (retention_ms) duration_text(retention_ms, time, sizeof time);
    snprintf(reason, sizeof reason, "%s: %s", what->what, time);
    struct tpi_history_event event = {.event = TPI_HISTORY_KEPT, .reason = reason};
    struct tpi_act act = {
        .action = TPI_HISTORY_KEPT, .who = name, .subject = what->pool, .detail = time, .changed = 1};
    tp_status status = tpi_setting_set(conn, what->name, digits);
    return status == TP_OK ? tpi_audit_event(conn, &act, &event) : status;
}

static tp_status set_retention(tp_conn *conn, const struct retained *what, int64_t retention_ms,
                               const char *who) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = write_retention(conn, what, retention_ms, who);
    return tpi_scope_end(conn, &scope, status);
}

/* Somebody, or the first try, has set it so. */
static bool is_set(tp_conn *conn, const struct retained *what, int64_t retention_ms) {
    int64_t value = 0;
    return read_setting(conn, what->name, &value) == TP_OK && value == retention_ms;
}

/* The same that the person asked for before, while it waits. TP_NONE: there is none. */
static tp_status find_same(tp_conn *conn, const struct tpi_new_request *asked) {
    struct tpi_args args = {0};
    bool found = false;
    tpi_args_text(&args, TPI_P_event, asked->act);
    tpi_args_text(&args, TPI_P_value, asked->selection);
    tpi_args_text(&args, TPI_P_who, asked->who);
    tp_status status = tpi_store_exists(&conn->store, TPI_S_request_same, &args, &found);
    return status != TP_OK ? status : found ? TP_REQUESTED : TP_NONE;
}

/* TP_NONE: it needs no second person, and is to be done. */
static tp_status request(tp_conn *conn, const struct retained *what, int64_t retention_ms, const char *who) {
    char text[80], name[TPI_WHO_MAX + 1], id[TPI_UUID_SIZE] = "";
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    size_t count = 0;
    tp_status status = tpi_four_eyes_read(conn, &eyes);
    if (status != TP_OK || !eyes.on) return status == TP_OK ? TP_NONE : status;
    snprintf(text, sizeof text, "%s %" PRId64, what->pool, retention_ms);
    tpi_utf8_copy(who, name, sizeof name);
    struct tpi_new_request asked = {.act = TPI_ACT_RETENTION,
                                    .pool = what->pool,
                                    .selection = text,
                                    .who = name,
                                    .why = "",
                                    .expire_ms = eyes.expire_ms,
                                    .empty = true};
    status = find_same(conn, &asked);
    return status == TP_NONE ? tpi_request_put(conn, &asked, id, NULL, NULL, &count) : status;
}

tp_status tpi_retention_write(tp_conn *conn, const char *value, const char *who) {
    const struct retained *what = retained;
    char pool[TPI_SETTING_SIZE] = "";
    const char *digits = strchr(value, ' ');
    if (digits) snprintf(pool, sizeof pool, "%.*s", (int)(digits - value), value);
    tp_status status = find_pool(pool, &what);
    return status == TP_OK ? write_retention(conn, what, tpi_number(digits + 1), who) : status;
}

tp_status tp_retention_set(tp_conn *conn, const char *pool, int64_t retention_ms, const char *who) {
    const struct retained *what = retained;
    tp_status status = tpi_conn_ready_alone(conn, "tp_retention_set");
    if (status == TP_OK) status = find_pool(pool, &what);
    if (status != TP_OK) return status;
    if (!who || !*who)
        return tpi_error(TP_MISUSE, "tp_retention_set: who is required; it is recorded in the history");
    status = tpi_check_duration("retention_ms", retention_ms);
    if (status == TP_OK && is_set(conn, what, retention_ms)) return TP_OK;
    if (status == TP_OK) status = request(conn, what, retention_ms, who);
    if (status != TP_NONE) return status;
    status = set_retention(conn, what, retention_ms, who);
    /* Somebody else set it for the first time at the same moment: now there is a row to change, if it can be.
     */
    if (status == TP_CONFLICT) status = set_retention(conn, what, retention_ms, who);
    return tpi_refused_judge(&conn->store, status, "meta", NULL, NULL);
}

tp_status tp_retention_get(tp_conn *conn, const char *pool, int64_t *retention_ms) {
    const struct retained *what = retained;
    int64_t value = 0;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!retention_ms) return tpi_error(TP_MISUSE, "tp_retention_get: retention_ms is NULL");
    status = find_pool(pool, &what);
    value = what->by_default;
    if (status == TP_OK) status = read_setting(conn, what->name, &value);
    if (status < TP_OK) return status;
    *retention_ms = value;
    return TP_OK;
}

/* ---- Deleting what is past it -------------------------------------------------------------------------- */

/* What is deleted does not come back when a clock is put right. So the database's is compared with this
 * machine's: since this process last looked, within a day, it must not have gone a day further. */
static tp_status ask_trusted_now(tp_conn *conn, int64_t *now) {
    tp_status status = tpi_ask_now(conn, now);
    if (status != TP_OK) return status;
    int64_t boot = tpi_clock_boot_ms(), gap = *now - boot;
    int64_t looked = atomic_load(&conn->env->clock_boot_ms);
    int64_t ahead = gap - atomic_load(&conn->env->clock_gap_ms);
    if (looked && boot >= looked && boot - looked <= DAY_MS && ahead > DAY_MS)
        return tpi_error(TP_DB,
                         "the database's clock has moved ahead by %" PRId64
                         " hours since retention last looked: it deletes nothing until that is put right, or "
                         "a day is over; do not restart it: a new process deletes at once",
                         ahead / 3600000);
    atomic_store(&conn->env->clock_gap_ms, gap);
    atomic_store(&conn->env->clock_boot_ms, boot);
    return TP_OK;
}

/* One pool's share, inside the transaction. */
static tp_status purge_pool(struct tpi_operation *op, const struct retained *what, int64_t retention_ms,
                            int64_t now, size_t limit) {
    tp_status status = TP_OK;
    bool more = retention_ms > 0;
    op->before = now - retention_ms;
    while (status == TP_OK && more && op->result.done < limit) {
        size_t before = op->result.done, room = limit - before;
        status = tpi_purge_oldest(op, what->pool, room);
        more = op->result.done - before == (room < TPI_CHUNK ? room : TPI_CHUNK);
    }
    return status;
}

static tp_status purge_pools(struct tpi_operation *op, const int64_t retention_ms[TASK_POOLS], int64_t now,
                             size_t limit) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(op->conn, &scope);
    for (size_t i = 0; i < TASK_POOLS && status == TP_OK; i++)
        status = purge_pool(op, &retained[i], retention_ms[i], now, limit);
    return tpi_scope_end(op->conn, &scope, status);
}

/* Minute by minute, each in a transaction of its own, so that workers that do it at once wait for no more. */
static tp_status purge_activity(tp_conn *conn, int64_t before, size_t limit, size_t *deleted) {
    static const struct tpi_column only[] = TPI_COLUMN_ONLY(NUMBER);
    int64_t oldest = 0, rows = 0;
    tp_status status = TP_OK;
    for (size_t count = 0; status == TP_OK && count < limit; count += (size_t)rows) {
        struct tpi_args args = {0};
        status = tpi_store_read(&conn->store, TPI_S_activity_oldest, &args, only, NULL, &oldest);
        if (status != TP_OK || oldest == 0 || oldest >= before) break;
        tpi_args_number(&args, TPI_P_at, oldest);
        status = tpi_store_change(&conn->store, TPI_S_activity_purge, &args, &rows);
        if (status == TP_OK) *deleted += (size_t)rows;
    }
    return status < TP_OK ? status : TP_OK;
}

tp_status tp_retention_apply(tp_conn *conn, size_t limit, size_t *deleted) {
    static const tp_selection everything = TP_SELECTION_INIT;
    struct tpi_operation op = {.conn = conn, .selection = &everything};
    int64_t retention_ms[RETAINED_POOLS] = {0};
    int64_t now = 0;
    size_t old = 0;
    tp_status status = tpi_conn_ready_alone(conn, "tp_retention_apply");
    for (size_t i = 0; i < RETAINED_POOLS && status == TP_OK; i++)
        status = tp_retention_get(conn, retained[i].pool, &retention_ms[i]);
    if (status == TP_OK) status = ask_trusted_now(conn, &now);
    if (status == TP_OK && (retention_ms[0] || retention_ms[1]))
        status = purge_pools(&op, retention_ms, now, limit);
    if (status == TP_OK && retention_ms[TASK_POOLS])
        status = purge_activity(conn, now - retention_ms[TASK_POOLS], limit, &old);
    /* Groups go when finished tasks as old as their end would. */
    if (status == TP_OK && retention_ms[0])
        status = tpi_groups_purge(conn, now - retention_ms[0], limit, &old);
    if (status == TP_OK && deleted) *deleted = op.result.done + old;
    return status;
}
