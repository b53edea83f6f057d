/* Queries whose answer is one number, the database's clock above all. */
#ifndef TPI_OPS_ASK_H
#define TPI_OPS_ASK_H

#include "ops/conn.h"

/* The only value of the only row. No row is TP_SCHEMA: such statements read the pool's meta table. */
TP_CHECKED tp_status tpi_ask_number(tp_conn *conn, enum tpi_statement statement, struct tpi_args *args,
                                    int64_t *number);
/* The database's clock: milliseconds since 1970 UTC. */
TP_CHECKED tp_status tpi_ask_now(tp_conn *conn, int64_t *now_ms);

#endif
