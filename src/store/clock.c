/* The database's clock for dialects that cannot say it as a number: asked for as text now and then, and
 * carried on by this machine's clock in between, which must not stop while the machine sleeps. The session's
 * time zone is UTC. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/execute.h"
#include "store/record.h"

enum {
    TIME_SIZE = 64,
    ASK_AGAIN_MS = 30000,
    APART_MS = 14 * 60000, /* less than the smallest step between time zones */
    WHOLE_SECOND_MS = 999,
    SLOW_MS = 200, /* an answer that took longer says too little: it is asked for again */
    TRIES = 5,
    BACK_MS = 3000, /* what says that it went back so far has been set back */
};

/* Days from 1970-01-01 to a date of the Gregorian calendar (the months counted from March). */
static int64_t days(int year, int month, int day) {
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = (month + 9) % 12;
    int64_t leap_days = y / 4 - y / 100 + y / 400;
    return 365 * y + leap_days + (m * 306 + 5) / 10 + (day - 1) - 719468;
}

/* The number at *at, which must end before one of the ends; *at moves behind that. */
static bool field(const char **at, const char *ends, long low, long high, int *out) {
    char *end = NULL;
    long number = strtol(*at, &end, 10);
    if (end == *at || number < low || number > high) return false;
    if (*end && !strchr(ends, *end)) return false;
    *at = *end ? end + 1 : end;
    *out = (int)number;
    return true;
}

static int fraction_ms(const char *text) {
    int ms = 0, scale = 100;
    for (; *text >= '0' && *text <= '9' && scale; text++, scale /= 10)
        ms += (*text - '0') * scale;
    return ms;
}

/* "2026-11-21 10:20:30[.123456]" */
static bool parse(const char *text, int64_t *ms) {
    int year, month, day, hour, minute, second;
    bool good = field(&text, "-", 1, 9999, &year) && field(&text, "-", 1, 12, &month) &&
                field(&text, " T", 1, 31, &day) && field(&text, ":", 0, 23, &hour) &&
                field(&text, ":", 0, 59, &minute) && field(&text, ".", 0, 60, &second);
    if (!good) return false;
    int64_t seconds = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ms = seconds * 1000 + fraction_ms(text);
    return true;
}

static tp_status ask_once(struct tpi_store *store, struct tpi_db_clock *clock) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, TIME_SIZE}, TPI_COLUMN_END};
    char text[TIME_SIZE] = "";
    int64_t database_ms = 0, began = tpi_clock_boot_ms();
    tp_status status = tpi_execute(store, TPI_S_clock, &args, 1, false, NULL, &stmt);
    if (status != TP_OK) return status;
    status = tpi_record_next(stmt, only, NULL, text);
    tpi_stmt_close(stmt);
    int64_t ended = tpi_clock_boot_ms();
    if (status == TP_NONE)
        status = tpi_error(TP_SCHEMA, "the pool's meta table is empty; run 'taskpool schema install'");
    if (status == TP_OK && !parse(text, &database_ms))
        status = tpi_error(TP_UNSUPPORTED, "the database's clock reads '%s', which is not a time", text);
    if (status != TP_OK) return status;
    if (llabs(database_ms - tpi_clock_wall_ms()) > APART_MS)
        return tpi_error(
            TP_UNSUPPORTED,
            "the session's time zone is not UTC, or its clock is %d minutes from this machine's; "
            "set the session's time zone to UTC",
            APART_MS / 60000);
    int64_t coarse_ms = strchr(text, '.') ? 0 : WHOLE_SECOND_MS;
    *clock = (struct tpi_db_clock){
        .database_ms = database_ms, .boot_ms = ended, .behind_ms = coarse_ms + ended - began, .known = true};
    return TP_OK;
}

/* On a busy machine an answer may be old when it is read: the best of some counts. */
static tp_status ask(struct tpi_store *store) {
    struct tpi_db_clock best = {0}, clock = {0};
    tp_status status = ask_once(store, &best);
    for (int i = 1; i < TRIES && status == TP_OK && best.behind_ms > WHOLE_SECOND_MS + SLOW_MS; i++) {
        status = ask_once(store, &clock);
        if (status == TP_OK && clock.behind_ms < best.behind_ms) best = clock;
    }
    if (status == TP_OK) store->clock = best;
    return status;
}

/* Asked for again, a clock of whole seconds may say less than was carried on: what the session made due would
 * not be due for it. */
static int64_t not_back(int64_t now, const struct tpi_db_clock *before) {
    int64_t back_ms = before->said_ms - now;
    return back_ms > 0 && back_ms < BACK_MS + before->behind_ms ? before->said_ms : now;
}

/* Inside a transaction the answer may be the time of its beginning. Of a lent session it is not known how
 * long one has been open: it is asked each time, and the latest counts of what it has ever said. */
tp_status tpi_store_now(struct tpi_store *store, int64_t *now_ms) {
    const struct tpi_link *link = &store->link;
    const struct tpi_db_clock before = store->clock;
    int64_t age = tpi_clock_boot_ms() - before.boot_ms;
    bool old = !link->owned || (age > ASK_AGAIN_MS && link->tx == TPI_TX_NONE);
    if (!before.known || old) {
        tp_status status = ask(store);
        /* A driver may give no row where a transaction has written. */
        if (status != TP_OK && (status != TP_SCHEMA || !before.known)) return status;
        age = tpi_clock_boot_ms() - before.boot_ms;
        int64_t lead_ms = before.database_ms + age - store->clock.database_ms;
        if (before.known && !link->owned && lead_ms > 0 && lead_ms < APART_MS)
            store->clock = before;
        else
            age = tpi_clock_boot_ms() - store->clock.boot_ms;
    }
    *now_ms = not_back(store->clock.database_ms + age, &before);
    store->clock.said_ms = *now_ms;
    return TP_OK;
}

tp_status tpi_clock_fill(struct tpi_store *store, enum tpi_statement statement, struct tpi_args *args,
                         size_t rows) {
    const struct tpi_sql *sql = &store->dialect->sql[statement];
    int64_t now = 0;
    if (!(store->caps & TPI_CAP_CLIENT_CLOCK)) return TP_OK;
    if (!tpi_args_used(sql, TPI_P_now) && !tpi_args_used(sql, TPI_P_now_plus_delay) &&
        !tpi_args_used(sql, TPI_P_now_plus_lease))
        return TP_OK;
    tp_status status = tpi_store_now(store, &now);
    if (status != TP_OK) return status;
    for (size_t i = 0; i < rows; i++) {
        bool absolute = args[i].one[TPI_P_due_at].is_number && tpi_args_used(sql, TPI_P_now_plus_delay);
        int64_t due = absolute ? tpi_args_value(&args[i], TPI_P_due_at)
                               : now + tpi_args_value(&args[i], TPI_P_delay_ms);
        tpi_args_number(&args[i], TPI_P_now, now);
        tpi_args_number(&args[i], TPI_P_now_plus_delay, due);
        /* A lease must not lapse early by another session's clock. */
        int64_t lapse = now + store->clock.behind_ms + tpi_args_value(&args[i], TPI_P_lease_ms);
        tpi_args_number(&args[i], TPI_P_now_plus_lease, lapse);
    }
    return TP_OK;
}
