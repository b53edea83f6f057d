/* Oracle's ODBC driver, from its documentation and published error lists; not run here. It has no 64-bit C
 * type, so numbers are bound as text. Text follows NLS_LANG of the process, which must end in AL32UTF8. By
 * the server's default a session may have 50 cursors open; a LONG may not be in INSERT ... SELECT; the server
 * ends no wait for a row lock, so the driver must (QTO). Read next: src/odbc/driver.h. */
#include "odbc/driver.h"

static const char *const modules[] = {"SQORA", "libsqora", NULL};
/* The index gives ids in the order of their bytes: with another sort a claim would sort all that is due. A
 * commit that does not wait for the redo log is lost with the server. */
static const char *const session[] = {"ALTER SESSION SET NLS_SORT = BINARY NLS_COMP = BINARY",
                                      "ALTER SESSION SET COMMIT_WAIT = WAIT", NULL};
static const struct tpi_key keys[] = {
    {"QTO", "T", TPI_KEY_ONLY,
     "without the driver's query timeout a wait for a lock never ends; take it out"},
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {0},
};

static const struct tpi_rule rules[] = {
    {NULL, 54, 0, NULL, TPI_CLASS_LOCKED},
    {NULL, 2049, 0, NULL, TPI_CLASS_LOCKED},
    {NULL, 30006, 0, NULL, TPI_CLASS_LOCKED},
    {NULL, 60, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 1555, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 4061, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 4068, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 8177, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 1, 0, NULL, TPI_CLASS_EXISTS},
    {NULL, 955, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 1408, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 1430, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 4081, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 942, 0, NULL, TPI_CLASS_NO_TABLE},
    {NULL, 904, 0, NULL, TPI_CLASS_NO_TABLE},
    {NULL, 12899, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1438, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1461, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1013, 0, NULL, TPI_CLASS_TIMEOUT},
    {NULL, 1000, 0, NULL, TPI_CLASS_CURSORS},
    {NULL, 4098, 0, NULL, TPI_CLASS_INVALID},
    {NULL, 6575, 0, NULL, TPI_CLASS_INVALID},
    {NULL, 24344, 0, NULL, TPI_CLASS_INVALID},
    {NULL, 18, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 20, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 1017, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 1033, 1034, NULL, TPI_CLASS_REFUSED},
    {NULL, 12154, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12170, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12505, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12516, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12518, 12520, NULL, TPI_CLASS_REFUSED},
    {NULL, 12528, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12541, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 28000, 28001, NULL, TPI_CLASS_REFUSED},
    {NULL, 28, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 1012, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 1089, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 1092, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 2396, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 2399, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 3113, 3114, NULL, TPI_CLASS_DEAD},
    {NULL, 3135, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 12514, 0, NULL, TPI_CLASS_DEAD}, /* also of a running session, while a service moves */
    {NULL, 12537, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 12547, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 12571, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 25402, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 25408, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 1114, 1115, NULL, TPI_CLASS_DISK},
    {NULL, 257, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1536, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1650, 1655, NULL, TPI_CLASS_FULL},
    {NULL, 1683, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1688, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1691, 1692, NULL, TPI_CLASS_FULL},
    {NULL, 1950, 0, NULL, TPI_CLASS_FULL},
    {NULL, 30036, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1456, 0, NULL, TPI_CLASS_READ_ONLY},
    {NULL, 16000, 0, NULL, TPI_CLASS_READ_ONLY},
    {NULL, 1031, 0, NULL, TPI_CLASS_DENIED},
};

static const struct tpi_session_check checks[] = {{0}};

const struct tpi_driver tpi_driver_sqora = {
    .name = "sqora",
    .modules = modules,
    .keys = keys,
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .session = session,
    .utc = "ALTER SESSION SET TIME_ZONE = '+00:00'",
    .checks = checks,
    .autocommit_late = true,
    .number_type = TPI_SQL_DECIMAL,
    .scans_escapes = true,
    .prepared_max = 40,
    .varchar_max = 4000,
    .change_timeout_s = 20,
    .isolation_attribute = true,
    .trips =
        {.prepare = 0, .first_execute = 1, .execute = 1, .direct = 1, .begin = 0, .commit = 1, .rollback = 1},
};
