/* Reads schedules from their table; see schedule.h. */
#include <string.h>

#include "base/error.h"
#include "ops/schedule.h"
#include "store/record.h"

static const struct tpi_column columns[] = {
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.name),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.rule),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.time_zone),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.handler),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.params),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, schedule.biz_key),
    TPI_COLUMN(UUID, struct tpi_schedule_row, schedule.last_task),
    TPI_COLUMN(TEXT, struct tpi_schedule_row, missed),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.shard),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.priority),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.max_failures),
    TPI_COLUMN(INT, struct tpi_schedule_row, schedule.missed_max),
    TPI_COLUMN(FLAG, struct tpi_schedule_row, schedule.alone),
    TPI_COLUMN(FLAG, struct tpi_schedule_row, schedule.paused),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, schedule.next_at),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, schedule.last_at),
    TPI_COLUMN(NUMBER, struct tpi_schedule_row, created_at),
    TPI_COLUMN_END,
};

void tpi_schedule_free(struct tpi_schedule_row *row) {
    tpi_texts_free(&row->texts);
}

static bool read_missed(const char *text, tp_missed *missed) {
    static const struct {
        tp_missed id;
        const char *name;
    } all[] = {
#define MISSED_ROW(id, name) {id, name},
        TPI_MISSED_LIST(MISSED_ROW)
#undef MISSED_ROW
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(text, all[i].name) != 0) continue;
        *missed = all[i].id;
        return true;
    }
    return false;
}

tp_status tpi_schedule_fetch(struct tpi_stmt *stmt, struct tpi_schedule_row *row) {
    *row = (struct tpi_schedule_row){.schedule = {.size = sizeof row->schedule}};
    tp_status status = tpi_record_next(stmt, columns, &row->texts, row);
    if (status == TP_OK)
        row->bad_missed = !read_missed(row->missed, &row->schedule.missed);
    else
        tpi_schedule_free(row);
    return status;
}

tp_status tpi_schedule_find(tp_conn *conn, const char *name, struct tpi_schedule_row *row) {
    struct tpi_args args = {0};
    struct tpi_stmt *stmt = NULL;
    tpi_args_text(&args, TPI_P_name, name);
    tp_status status = tpi_store_query(&conn->store, TPI_S_schedule_find, &args, &stmt);
    if (status != TP_OK) return status;
    status = tpi_schedule_fetch(stmt, row);
    tpi_stmt_close(stmt);
    return status;
}

tp_status tpi_schedule_open(tp_conn *conn, const tp_schedule *schedule, bool *open) {
    struct tpi_args args = {0};
    *open = false;
    if (!*schedule->last_task) return TP_OK;
    tpi_args_text(&args, TPI_P_id, schedule->last_task);
    return tpi_store_exists(&conn->store, TPI_S_find_open, &args, open);
}
