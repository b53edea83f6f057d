/* PostgreSQL. Its statements: sql/postgres, and sql/common for the rest. Read next: src/dialect/dialect.h. */
#include "dialect/embedded.h"

TPI_EMBEDDED(postgres)

static const struct tpi_dbms dbms[] = {
    {"PostgreSQL", 12, 0, TPI_CAP_SKIP_RETURNING | TPI_CAP_SKIP_LOCK | TPI_CAP_HOLD_TAKE | TPI_CAP_HOLD_ONE},
    {0}};

const struct tpi_dialect tpi_dialect_postgres = {
    .name = "postgres",
    .caps = TPI_CAP_ROW | TPI_CAP_BATCH | TPI_CAP_SKIP_RETURNING | TPI_CAP_SKIP_LOCK | TPI_CAP_HOLD_TAKE |
            TPI_CAP_HOLD_ONE | TPI_CAP_CAS | TPI_CAP_KNOWN_LANE | TPI_CAP_DOCUMENT | TPI_CAP_QUIET_EXISTS |
            TPI_CAP_DDL_ROLLS_BACK | TPI_CAP_ENQUEUE_NEW | TPI_CAP_HOLD_PACKED,
    .plan = TPI_PLAN_SKIP,
    .sql = tpi_sql_postgres,
    .scripts = tpi_script_postgres,
    .adopt = tpi_adopt_postgres,
    .name_quote = '"',
    .name_case = -1,
    .dbms = dbms,
};
