/* See result.h. */
#include "ops/result.h"

#include "store/record.h"

tp_status tpi_result_read(tp_conn *conn, struct tpi_slot *slot) {
    static const struct tpi_column columns[] = {{TPI_READ_NOT, 0, 0},
                                                {TPI_READ_NOT, 0, 0},
                                                {TPI_READ_NOT, 0, 0},
                                                {TPI_READ_NOT, 0, 0},
                                                TPI_COLUMN(TEXT, tp_task, result),
                                                TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_id, slot->task.id);
    tp_status status =
        tpi_store_read(&conn->store, TPI_S_ended_finished, &args, columns, &slot->batch->texts, &slot->task);
    return status == TP_NONE ? TP_OK : status; /* purged meanwhile */
}
