/* What the doctor tries out with values: one session writes, the other reads; and the clocks. Read
 * first: doctor.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ops/doctor.h"

enum { CLOCKS_APART_MS = 1000, LONG_TEXT = 100 * 1024 };

/* ---- Values ------------------------------------------------------------------------------------------ */

static tp_status round_trip(struct tpi_doctor *doctor, const char *reason, const char *params, int64_t number,
                            struct tpi_doctor_row *row) {
    char id[TPI_UUID_SIZE];
    tpi_uuid_ordered(id);
    tp_status status = tpi_doctor_put_text(doctor->a, id, reason, params, number);
    return status == TP_OK ? tpi_doctor_read(doctor->b, id, row) : status;
}

static tp_status check_text(struct tpi_doctor *doctor) {
    static const char text[] = "2: \xc3\xa9, 3: \xe5\xb7\xa5, 4: \xf0\x9f\x98\x80; it's \"?\" \\ %s  ";
    struct tpi_doctor_row row = {0};
    tp_status status = round_trip(doctor, text, text, 0, &row);
    bool same = status == TP_OK && strcmp(row.reason, text) == 0 && strcmp(row.params, text) == 0;
    tpi_texts_free(&row.texts);
    return tpi_doctor_answer(
        doctor, status, same,
        "characters of 2, 3 and 4 bytes, quotes and blanks at the end come back as they were",
        "make the database and the session UTF-8; take character set settings out",
        "characters of 2, 3 and 4 bytes, quotes or blanks at the end come back changed");
}

static tp_status check_long_text(struct tpi_doctor *doctor) {
    static const char chunk[] = "0123456789 \xe5\xb7\xa5";
    struct tpi_buf text = {0};
    struct tpi_doctor_row row = {.params = ""};
    while (text.length < LONG_TEXT && !text.failed)
        tpi_buf_text(&text, chunk);
    tp_status status =
        text.failed ? tpi_error(TP_NOMEM, "out of memory") : round_trip(doctor, "", text.data, 0, &row);
    size_t length = strlen(row.params);
    bool same = status == TP_OK && strcmp(row.params, text.data) == 0;
    tpi_texts_free(&row.texts);
    tpi_buf_free(&text);
    if (status != TP_OK) return status;
    if (same)
        tpi_doctor_good(doctor, "%d KiB come back as they were", LONG_TEXT / 1024);
    else
        tpi_doctor_bad(doctor, "take limits on long columns out of the connection string",
                       "%d KiB come back changed, with %zu bytes", LONG_TEXT / 1024, length);
    return TP_OK;
}

static tp_status check_numbers(struct tpi_doctor *doctor) {
    struct tpi_doctor_row row = {0};
    tp_status status = round_trip(doctor, "", "", INT64_MAX, &row);
    bool same = status == TP_OK && strcmp(row.number, "9223372036854775807") == 0;
    char got[32];
    snprintf(got, sizeof got, "%s", status == TP_OK ? row.number : "");
    tpi_texts_free(&row.texts);
    return tpi_doctor_answer(doctor, status, same, "64 bits come back as they were",
                             "take number settings out of the connection string",
                             "9223372036854775807 comes back as %s", got);
}

/* ---- Clocks ------------------------------------------------------------------------------------------ */

static tp_status ask_clock(tp_conn *conn, int64_t *ms) {
    if (conn->store.caps & TPI_CAP_CLIENT_CLOCK) return tpi_store_now(&conn->store, ms);
    return tpi_ask_now(conn, ms);
}

/* The clock is read by way of the pool's meta table. */
static bool clock_is_missing(const struct tpi_doctor *doctor, tp_status status) {
    if (status != TP_SCHEMA) return false;
    tpi_doctor_good(doctor, "not checked: it comes with the schema");
    return true;
}

static tp_status check_clocks(struct tpi_doctor *doctor) {
    int64_t before = 0, between = 0, after = 0;
    tp_status status = ask_clock(doctor->a, &before);
    if (status == TP_OK) status = ask_clock(doctor->b, &between);
    if (status == TP_OK) status = ask_clock(doctor->a, &after);
    if (clock_is_missing(doctor, status)) return TP_OK;
    int64_t apart = CLOCKS_APART_MS + doctor->a->store.clock.behind_ms;
    return tpi_doctor_answer(doctor, status, between >= before - apart && between <= after + apart,
                             "both sessions read the same clock",
                             "set the clocks of the database's servers by the same time service",
                             "two sessions read clocks that are %" PRId64 " ms apart", between - before);
}

static tp_status check_client_clock(struct tpi_doctor *doctor) {
    int64_t database = 0;
    tp_status status = ask_clock(doctor->a, &database);
    if (clock_is_missing(doctor, status)) return TP_OK;
    if (status != TP_OK) return status;
    int64_t ahead = tpi_clock_wall_ms() - database;
    tpi_doctor_good(doctor, "this machine is %" PRId64 " ms %s the database, which decides",
                    ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead of");
    return TP_OK;
}

const struct tpi_doctor_check tpi_doctor_values[] = {
    {"text", check_text},    {"long-text", check_long_text},       {"numbers", check_numbers},
    {"clock", check_clocks}, {"client-clock", check_client_clock}, {0},
};
