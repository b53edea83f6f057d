/* MySQL and MariaDB. Their statements: sql/mysql, and sql/common for the rest. Read next:
 * src/dialect/dialect.h. */
#include "dialect/embedded.h"

TPI_EMBEDDED(mysql)

enum { SKIPS = TPI_CAP_SKIP_UPDATE | TPI_CAP_SKIP_LOCK | TPI_CAP_HOLD_TAKE };

static const struct tpi_dbms dbms[] = {{"MariaDB", 10, 6, SKIPS}, {"MySQL", 8, 0, SKIPS}, {0}};

const struct tpi_dialect tpi_dialect_mysql = {
    .name = "mysql",
    .caps = TPI_CAP_ROW | TPI_CAP_BATCH_PICKED | SKIPS | TPI_CAP_HOLD_WINDOW | TPI_CAP_KNOWN_LANE |
            TPI_CAP_CAS | TPI_CAP_MOVE_IN_TWO | TPI_CAP_DOCUMENT | TPI_CAP_LOCKING_READ,
    .plan = TPI_PLAN_SKIP,
    .sql = tpi_sql_mysql,
    .scripts = tpi_script_mysql,
    .adopt = tpi_adopt_mysql,
    .name_quote = '`',
    .dbms = dbms,
};
