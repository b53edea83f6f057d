/* Oracle Database. Its statements: sql/oracle, and sql/common for the rest. The clock, which needs functions
 * of Oracle's own, is in functions that the schema script makes. Read next: src/dialect/dialect.h. */
#include "dialect/embedded.h"

TPI_EMBEDDED(oracle)

static const struct tpi_dbms dbms[] = {{"Oracle", 11, 0, 0}, {0}};

const struct tpi_dialect tpi_dialect_oracle = {
    .name = "oracle",
    .caps = TPI_CAP_ROW | TPI_CAP_BATCH_PICKED | TPI_CAP_SKIP_LOCK | TPI_CAP_CAS | TPI_CAP_LANE_HEADS |
            TPI_CAP_MOVE_IN_TWO | TPI_CAP_FUNCTIONS | TPI_CAP_ROWNUM,
    .plan = TPI_PLAN_SKIP,
    .sql = tpi_sql_oracle,
    .scripts = tpi_script_oracle,
    .adopt = tpi_adopt_oracle,
    .name_quote = '"',
    .name_case = 1,
    .dbms = dbms,
    .anywhere = true,
};
