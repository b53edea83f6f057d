/* The rows of workers, read as a whole. See worker_list.c. */
#ifndef TPI_OPS_WORKER_ROWS_H
#define TPI_OPS_WORKER_ROWS_H

#include "base/texts.h"
#include "ops/conn.h"

struct tpi_worker_rows {
    struct tpi_texts texts;
    tp_worker_row *all;
    size_t count;
    int64_t now; /* the database's clock */
};

/* Those that were heard of since then, or with tag those of that process; the last heard of first. To be
 * freed, also after a failure. */
TP_CHECKED tp_status tpi_worker_rows_read(tp_conn *conn, int64_t since, const char *tag,
                                          struct tpi_worker_rows *rows);
void tpi_worker_rows_free(struct tpi_worker_rows *rows);

#endif
