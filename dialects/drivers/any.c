/* A driver that is not known: standard SQLSTATEs, transactions by attribute, and the fallback of every other
 * profile's error table. States: ISO/IEC 9075 and the ODBC reference, appendix A. */
#include "odbc/driver.h"

static const char *const modules[] = {NULL};
static const char *const session[] = {NULL};
static const struct tpi_key keys[] = {
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {"AutoReconnect", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {"Reconnect", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {0},
};
static const struct tpi_session_check checks[] = {{0}};

static const struct tpi_rule rules[] = {
    {"08001", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"08004", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"08", 0, 0, NULL, TPI_CLASS_DEAD},
    {"28000", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"IM00", 0, 0, NULL, TPI_CLASS_NO_DRIVER},
    {"01000", 0, 0, "Can't open lib", TPI_CLASS_NO_DRIVER},
    {"40003", 0, 0, NULL, TPI_CLASS_DEAD}, /* it may have been done */
    {"40", 0, 0, NULL, TPI_CLASS_CONFLICT},
    {"26", 0, 0, NULL, TPI_CLASS_FORGOTTEN},
    {"23505", 0, 0, NULL, TPI_CLASS_EXISTS},
    /* ODBC has one state for every constraint; these words (Unique, Uniqueness, Duplicate) tell a key that is
       there. */
    {"23000", 0, 0, "nique", TPI_CLASS_EXISTS},
    {"23000", 0, 0, "UNIQUE", TPI_CLASS_EXISTS},
    {"23000", 0, 0, "uplicate", TPI_CLASS_EXISTS},
    {"HYT0", 0, 0, NULL, TPI_CLASS_TIMEOUT},
    {"42S01", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42S11", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42S02", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"42S22", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"22001", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"22003", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"42501", 0, 0, NULL, TPI_CLASS_DENIED},
};

const struct tpi_driver tpi_driver_any = {
    .name = "any",
    .modules = modules,
    .keys = keys,
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .session = session,
    .checks = checks,
    .number_type = TPI_SQL_DECIMAL,
    .change_timeout_s = 20,
    .isolation_attribute = true,
    .trips =
        {.prepare = 1, .first_execute = 1, .execute = 1, .direct = 1, .begin = 0, .commit = 1, .rollback = 1},
};
