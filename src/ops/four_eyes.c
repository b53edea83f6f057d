/* The setting of four eyes: one row of the pool's meta table, "on 100 604800000": whether it is on, how many
 * tasks may be retried without a second person, and how long a request waits. See four_eyes.h. */
#include "ops/four_eyes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ops/audit.h"
#include "ops/refused.h"
#include "ops/request.h"
#include "ops/setting.h"

static const char name[] = "four_eyes";
static const int64_t WEEK_MS = INT64_C(7) * 24 * 60 * 60 * 1000;

/* ---- Its text ------------------------------------------------------------------------------------------ */

static bool take_number(const char **text, int64_t *number) {
    char digits[TPI_SETTING_SIZE];
    size_t length = strspn(*text, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", (int)length, *text);
    *text += length;
    return tpi_number_exact(digits, number) && *number <= TP_DURATION_MAX;
}

/* What somebody wrote by hand must not be misread as off. */
static tp_status parse(const char *value, tp_four_eyes *eyes) {
    const char *text = value;
    bool on = strncmp(text, "on ", 3) == 0, off = strncmp(text, "off ", 4) == 0;
    text += on ? 3 : off ? 4 : 0;
    if ((on || off) && take_number(&text, &eyes->retry_max) && *text++ == ' ' &&
        take_number(&text, &eyes->expire_ms) && !*text && eyes->expire_ms > 0) {
        eyes->on = on;
        return TP_OK;
    }
    return tpi_error(TP_DB,
                     "the pool's setting four_eyes is '%.40s', and not 'on' or 'off', a number of tasks and "
                     "one of milliseconds; an administrator of the database has to mend it",
                     value);
}

static void write_text(const tp_four_eyes *eyes, char out[TPI_SETTING_SIZE]) {
    snprintf(out, TPI_SETTING_SIZE, "%s %" PRId64 " %" PRId64, eyes->on ? "on" : "off", eyes->retry_max,
             eyes->expire_ms);
}

/* ---- Reading and writing ------------------------------------------------------------------------------- */

tp_status tpi_four_eyes_read(tp_conn *conn, tp_four_eyes *eyes) {
    char value[TPI_SETTING_SIZE];
    eyes->on = 0;
    eyes->retry_max = 0;
    eyes->expire_ms = WEEK_MS;
    tp_status status = tpi_setting_get(conn, name, value);
    if (status == TP_NONE) return TP_OK;
    return status == TP_OK ? parse(value, eyes) : status;
}

static tp_status record(tp_conn *conn, const char *value, const char *who, const char *why) {
    char text[TP_REASON_MAX + TPI_SETTING_SIZE + 4];
    snprintf(text, sizeof text, "%s%s%s", value, *why ? ": " : "", why);
    text[tpi_utf8_cut(text, strlen(text), TP_REASON_MAX)] = '\0';
    struct tpi_history_event event = {.event = TPI_HISTORY_EYES, .reason = text};
    struct tpi_act act = {
        .action = TPI_HISTORY_EYES, .who = who, .why = why, .subject = name, .detail = value, .changed = 1};
    return tpi_audit_event(conn, &act, &event);
}

tp_status tpi_four_eyes_write(tp_conn *conn, const char *value, const char *who, const char *why) {
    tp_four_eyes eyes = TP_FOUR_EYES_INIT;
    tp_status status = parse(value, &eyes);
    if (status == TP_OK) status = tpi_setting_set(conn, name, value);
    return status == TP_OK ? record(conn, value, who, why) : status;
}

/* While it is off one person does: unless somebody has switched it on meanwhile. */
static tp_status switch_now(tp_conn *conn, const char *old, const char *value, const char *who,
                            const char *why) {
    struct tpi_scope scope;
    tp_status status = tpi_scope_begin(conn, &scope);
    if (status == TP_OK) status = tpi_setting_swap(conn, name, old, value);
    if (status == TP_OK) status = record(conn, value, who, why);
    return tpi_scope_end(conn, &scope, status);
}

/* ---- The calls ----------------------------------------------------------------------------------------- */

tp_status tp_four_eyes_get(tp_conn *conn, tp_four_eyes *eyes) {
    tp_four_eyes ours = TP_FOUR_EYES_INIT;
    tp_status status = tpi_conn_ready(conn);
    if (status != TP_OK) return status;
    if (!eyes) return tpi_error(TP_MISUSE, "tp_four_eyes_get: eyes is NULL");
    const char *fault = tpi_sized_fault(TPI_SIZED_four_eyes, eyes);
    if (fault) return tpi_error(TP_MISUSE, "%s", fault);
    status = tpi_four_eyes_read(conn, &ours);
    if (status == TP_OK) tpi_sized_write(TPI_SIZED_four_eyes, &ours, eyes);
    return status;
}

static tp_status check(const tp_four_eyes *eyes, const char *who) {
    if (!who || !*who)
        return tpi_error(TP_MISUSE, "tp_four_eyes_set: who is required; it is recorded in the history");
    if (eyes->retry_max < 0 || eyes->retry_max > INT32_MAX)
        return tpi_error(TP_MISUSE, "retry_max is not within 0 to %d", INT32_MAX);
    return tpi_check_duration("expire_ms", eyes->expire_ms);
}

static tp_status set(tp_conn *conn, tp_four_eyes *ours, const char *who, const char *why) {
    char value[TPI_SETTING_SIZE], old[TPI_SETTING_SIZE] = "";
    tp_four_eyes now = TP_FOUR_EYES_INIT;
    size_t count = 0;
    tp_status status = tpi_setting_get(conn, name, old);
    if (status >= TP_OK) status = *old ? parse(old, &now) : TP_OK;
    if (status != TP_OK) return status;
    write_text(ours, value);
    struct tpi_new_request asked = {.act = TPI_ACT_FOUR_EYES,
                                    .selection = value,
                                    .who = who,
                                    .why = why,
                                    .expire_ms = now.expire_ms,
                                    .empty = true};
    status = tpi_request_earlier(conn, &asked, ours->request_id, &count);
    if (status != TP_NONE || strcmp(value, old) == 0) return status == TP_NONE ? TP_OK : status;
    if (now.on) return tpi_request_put(conn, &asked, ours->request_id, NULL, NULL, &count);
    status = switch_now(conn, old, value, who, why);
    return tpi_refused_judge(&conn->store, status, "meta", NULL, NULL);
}

tp_status tp_four_eyes_set(tp_conn *conn, tp_four_eyes *eyes, const char *who, const char *why) {
    char person[TPI_WHO_MAX + 1], reason[TP_REASON_MAX + 1];
    tp_four_eyes ours = TP_FOUR_EYES_INIT;
    tp_status status = tpi_conn_ready_alone(conn, "tp_four_eyes_set");
    if (status != TP_OK) return status;
    if (!eyes) return tpi_error(TP_MISUSE, "tp_four_eyes_set: eyes is NULL");
    status = tpi_read_sized(TPI_SIZED_four_eyes, eyes, &ours);
    if (status == TP_OK) status = check(&ours, who);
    if (status != TP_OK) return status;
    tpi_utf8_copy(who, person, sizeof person);
    tpi_utf8_copy(why ? why : "", reason, sizeof reason);
    ours.on = ours.on != 0;
    if (!ours.expire_ms) ours.expire_ms = WEEK_MS;
    ours.request_id[sizeof ours.request_id - 1] = '\0';
    status = set(conn, &ours, person, reason);
    if (tpi_sized_is_whole(TPI_SIZED_four_eyes, eyes))
        memcpy(eyes->request_id, ours.request_id, sizeof eyes->request_id);
    return status;
}
