/* Reads schedules from their table; see schedule.h. */
#include <string.h>

#include "base/error.h"
#include "ops/schedule.h"

/* The columns: the texts, then the numbers. */
enum { TEXTS = 8, NUMBERS = 9, LAST_TASK = 6, MISSED = 7 };

void tpi_schedule_free(struct tpi_schedule_row *row) {
    tp_batch_free(row->texts);
    row->texts = NULL;
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

static tp_status read_texts(struct tpi_stmt *stmt, tp_batch *batch, const char *texts[TEXTS]) {
    struct tpi_buf text = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < TEXTS && status == TP_OK; i++) {
        bool is_null = false;
        tpi_buf_clear(&text);
        status = tpi_stmt_column(stmt, i + 1, &text, &is_null);
        if (i == LAST_TASK) tpi_buf_lower(&text);
        texts[i] = tpi_batch_keep(batch, text.data, text.length);
        if (status == TP_OK && !texts[i]) status = tpi_link_no_memory(stmt->link);
    }
    tpi_buf_free(&text);
    return status;
}

static void fill(struct tpi_schedule_row *row, const char *texts[TEXTS], const int64_t numbers[NUMBERS]) {
    row->schedule = (tp_schedule){.size = sizeof row->schedule,
                                  .name = texts[0],
                                  .rule = texts[1],
                                  .time_zone = texts[2],
                                  .handler = texts[3],
                                  .params = texts[4],
                                  .biz_key = texts[5],
                                  .last_task = texts[LAST_TASK],
                                  .shard = (int32_t)numbers[0],
                                  .priority = (int32_t)numbers[1],
                                  .max_failures = (int32_t)numbers[2],
                                  .missed_max = (int32_t)numbers[3],
                                  .alone = numbers[4] != 0,
                                  .paused = numbers[5] != 0,
                                  .next_at = numbers[6],
                                  .last_at = numbers[7]};
    row->created_at = numbers[8];
    row->bad_missed = !read_missed(texts[MISSED], &row->schedule.missed);
}

tp_status tpi_schedule_fetch(struct tpi_stmt *stmt, struct tpi_schedule_row *row) {
    const char *texts[TEXTS] = {NULL};
    int64_t numbers[NUMBERS] = {0};
    tp_status status = tpi_stmt_fetch(stmt);
    if (status != TP_OK) return status;
    row->texts = tpi_batch_new();
    if (!row->texts) return tpi_link_no_memory(stmt->link);
    status = read_texts(stmt, row->texts, texts);
    for (size_t i = 0; i < NUMBERS && status == TP_OK; i++)
        status = tpi_batch_number(stmt, TEXTS + i + 1, &numbers[i]);
    if (status == TP_OK)
        fill(row, texts, numbers);
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
