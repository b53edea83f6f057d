/* Oracle's ODBC driver, from its documentation and published error lists; not run here. It has no 64-bit C
 * type, which is why numbers travel as text; text follows NLS_LANG of the process, which must end in
 * AL32UTF8. */
#include "odbc/driver.h"

static const char *const modules[] = {"SQORA", "libsqora", NULL};
static const char *const session[] = {NULL};
static const struct tpi_key keys[] = {
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {0},
};

static const struct tpi_rule rules[] = {
    {NULL, 54, 0, NULL, TPI_CLASS_LOCKED},
    {NULL, 30006, 0, NULL, TPI_CLASS_LOCKED},
    {NULL, 60, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 8177, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 1, 0, NULL, TPI_CLASS_EXISTS},
    {NULL, 955, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 1408, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 4081, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {NULL, 942, 0, NULL, TPI_CLASS_NO_TABLE},
    {NULL, 904, 0, NULL, TPI_CLASS_NO_TABLE},
    {NULL, 12899, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1438, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1461, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 1013, 0, NULL, TPI_CLASS_TIMEOUT},
    {NULL, 1017, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12541, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12154, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 12170, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 3113, 3114, NULL, TPI_CLASS_DEAD},
    {NULL, 1012, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 28, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 2396, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 12537, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 1536, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1650, 1655, NULL, TPI_CLASS_FULL},
    {NULL, 1683, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1688, 0, NULL, TPI_CLASS_FULL},
    {NULL, 1691, 1692, NULL, TPI_CLASS_FULL},
    {NULL, 30036, 0, NULL, TPI_CLASS_FULL},
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
    .number_type = TPI_SQL_DECIMAL,
    .isolation_attribute = true,
    .trips =
        {.prepare = 0, .first_execute = 1, .execute = 1, .direct = 1, .begin = 0, .commit = 1, .rollback = 1},
};
