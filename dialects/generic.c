/* Any database that has SELECT, UPDATE, INSERT, DELETE and true row counts. Its statements: sql/generic, and
 * sql/common for the rest. Read next: src/dialect/dialect.h. */
#include "dialect/embedded.h"

TPI_EMBEDDED(generic)

static const struct tpi_dbms dbms[] = {{0}};

const struct tpi_dialect tpi_dialect_generic = {
    .name = "generic",
    .caps = TPI_CAP_CAS | TPI_CAP_LANE_HEADS | TPI_CAP_MOVE_IN_TWO | TPI_CAP_CLIENT_CLOCK | TPI_CAP_QUOTE |
            TPI_CAP_READS_APART,
    .plan = TPI_PLAN_CAS,
    .sql = tpi_sql_generic,
    .scripts = tpi_script_generic,
    .dbms = dbms,
    .anywhere = true,
    .long_text = "CLOB",
};
