/* SQLite: one connection writes at a time, so the best claim is one UPDATE of many tasks. Its statements:
 * sql/sqlite, and sql/common for the rest. Read next: src/dialect/dialect.h. */
#include "dialect/embedded.h"

TPI_EMBEDDED(sqlite)

static const struct tpi_dbms dbms[] = {{"SQLite", 3, 0, 0}, {0}};

const struct tpi_dialect tpi_dialect_sqlite = {
    .name = "sqlite",
    .caps = TPI_CAP_ROW | TPI_CAP_BATCH | TPI_CAP_CAS | TPI_CAP_KNOWN_LANE | TPI_CAP_HOLD_TAKE |
            TPI_CAP_MOVE_IN_TWO | TPI_CAP_DOCUMENT | TPI_CAP_ONE_WRITER | TPI_CAP_QUIET_EXISTS |
            TPI_CAP_HOLD_PACKED,
    .plan = TPI_PLAN_BATCH,
    .sql = tpi_sql_sqlite,
    .scripts = tpi_script_sqlite,
    .adopt = tpi_adopt_sqlite,
    .name_quote = '"',
    .dbms = dbms,
};
