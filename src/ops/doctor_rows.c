/* The statements on the doctor's own table, one function for each; see doctor.h. */
#include <inttypes.h>
#include <stdio.h>

#include "ops/doctor.h"
#include "store/record.h"

tp_status tpi_doctor_put_text(tp_conn *conn, const char *id, const char *reason, const char *params,
                              int64_t number) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_text(&args, TPI_P_reason, reason);
    tpi_args_text(&args, TPI_P_params, params);
    tpi_args_number(&args, TPI_P_due_at, number);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_doctor_put, &args);
    return status == TP_NONE ? tpi_error(TP_DB, "an INSERT of one row reports no row") : status;
}

tp_status tpi_doctor_put(tp_conn *conn, char id[TPI_UUID_SIZE]) {
    tpi_uuid_ordered(id);
    return tpi_doctor_put_text(conn, id, NULL, NULL, 0);
}

tp_status tpi_doctor_change(tp_conn *conn, enum tpi_statement statement, const char *id, int64_t *rows) {
    struct tpi_args args = {0};
    char token[TPI_UUID_SIZE];
    tpi_uuid_random(token);
    tpi_args_text(&args, TPI_P_id, id);
    tpi_args_text(&args, TPI_P_token, token);
    return tpi_store_change(&conn->store, statement, &args, rows);
}

tp_status tpi_doctor_take(tp_conn *conn, const char *id, int64_t *rows) {
    return tpi_doctor_change(conn, TPI_S_doctor_take, id, rows);
}

/* What is set up for a check must work, or there is nothing to see. */
tp_status tpi_doctor_take_surely(tp_conn *conn, const char *id) {
    int64_t rows = 0;
    tp_status status = tpi_doctor_take(conn, id, &rows);
    if (status != TP_OK || rows == 1) return status;
    return tpi_error(TP_DB, "an UPDATE of one row reports %" PRId64 " rows; the row count cannot be trusted",
                     rows);
}

tp_status tpi_doctor_ask_prepared(struct tpi_link *link, const char *name, const char *question, char *answer,
                                  size_t size) {
    struct tpi_stmt stmt = {0};
    struct tpi_buf text = {0};
    bool is_null = false;
    tp_status status = tpi_stmt_prepare(link, name, question, &stmt);
    if (status == TP_OK) status = tpi_stmt_execute(&stmt);
    if (status == TP_OK) status = tpi_stmt_fetch(&stmt);
    if (status == TP_OK) status = tpi_stmt_column(&stmt, 1, &text, &is_null);
    if (status == TP_OK) snprintf(answer, size, "%s", tpi_buf_str(&text));
    tpi_stmt_free(&stmt);
    tpi_buf_free(&text);
    return status;
}

tp_status tpi_doctor_read(tp_conn *conn, const char *id, struct tpi_doctor_row *row) {
    static const struct tpi_column columns[] = {
        TPI_COLUMN(TEXT, struct tpi_doctor_row, state),
        TPI_COLUMN(TEXT, struct tpi_doctor_row, number),
        TPI_COLUMN(TEXT, struct tpi_doctor_row, reason),
        TPI_COLUMN(TEXT, struct tpi_doctor_row, params),
        TPI_COLUMN_END,
    };
    struct tpi_args args = {0};
    *row = (struct tpi_doctor_row){.state = "", .number = "", .reason = "", .params = ""};
    tpi_args_text(&args, TPI_P_id, id);
    tp_status status = tpi_store_read(&conn->store, TPI_S_doctor_read, &args, columns, &row->texts, row);
    return status == TP_NONE ? TP_OK : status;
}

tp_status tpi_doctor_state(tp_conn *conn, enum tpi_statement statement, const char *id, char state[16]) {
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, 16}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    state[0] = '\0';
    tpi_args_text(&args, TPI_P_id, id);
    tp_status status = tpi_store_read(&conn->store, statement, &args, only, NULL, state);
    return status == TP_NONE ? TP_OK : status;
}
