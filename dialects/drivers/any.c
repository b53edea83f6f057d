/* A driver that is not known: standard SQLSTATEs, transactions by attribute. Its error table is also what
 * other profiles fall back to. The states are from ISO/IEC 9075, the ODBC reference (appendix A), and
 * PostgreSQL's own, which databases derived from it use. A commit that reports success is checked: a driver
 * that found the connection lost in another call, or a server that had given the transaction up, may report
 * success though nothing was committed. Read next: src/odbc/driver.h. */
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
    {"HY000", 8, 0, "internal SAVEPOINT", TPI_CLASS_DEAD},
    {"HY000", 0, 0, "connection has been lost", TPI_CLASS_DEAD},
    {"08001", 0, 0, "session is read-only", TPI_CLASS_READ_ONLY},
    {"08001", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"08004", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"08", 0, 0, NULL, TPI_CLASS_DEAD},
    {"28000", 0, 0, NULL, TPI_CLASS_REFUSED},
    {"IM00", 0, 0, NULL, TPI_CLASS_NO_DRIVER},
    {"01000", 0, 0, "Can't open lib", TPI_CLASS_NO_DRIVER},
    {"40003", 0, 0, NULL, TPI_CLASS_DEAD}, /* it may have been done */
    {"40", 0, 0, NULL, TPI_CLASS_CONFLICT},
    {"57P0", 0, 0, NULL, TPI_CLASS_DEAD},
    {"25P03", 0, 0, NULL, TPI_CLASS_DEAD},
    {"25P02", 0, 0, NULL, TPI_CLASS_ABORTED},
    {"42000", 3930, 0, "cannot be committed", TPI_CLASS_ABORTED}, /* SQL Server */
    {"26", 0, 0, NULL, TPI_CLASS_FORGOTTEN},
    /* A name is there that the driver believes to have given up, in a transaction that was rolled back. */
    {"42P05", 0, 0, NULL, TPI_CLASS_FORGOTTEN},
    {"23505", 0, 0, NULL, TPI_CLASS_EXISTS},
    /* ODBC has one state for every constraint; these words (Unique, Uniqueness, Duplicate) mark a key that
       exists. */
    {"23000", 0, 0, "nique", TPI_CLASS_EXISTS},
    {"23000", 0, 0, "UNIQUE", TPI_CLASS_EXISTS},
    {"23000", 0, 0, "uplicate", TPI_CLASS_EXISTS},
    {"HYT0", 0, 0, NULL, TPI_CLASS_TIMEOUT},
    {"55P03", 0, 0, NULL, TPI_CLASS_LOCKED},
    {"57014", 0, 0, NULL, TPI_CLASS_TIMEOUT},
    {"42S01", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42P07", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42710", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42723", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42S11", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42S21", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42701", 0, 0, NULL, TPI_CLASS_OBJECT_EXISTS},
    {"42S02", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"42S22", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"42P01", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"42703", 0, 0, NULL, TPI_CLASS_NO_TABLE},
    {"22001", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"22003", 0, 0, NULL, TPI_CLASS_TOO_LONG},
    {"25006", 0, 0, NULL, TPI_CLASS_READ_ONLY},
    {"53100", 0, 0, NULL, TPI_CLASS_FULL},
    {"58030", 0, 0, NULL, TPI_CLASS_DISK},
    {"53300", 0, 0, NULL, TPI_CLASS_REFUSED},
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
    .autocommit_late = true,
    .commit_may_lie = true,
    .keeps_plans = 5,
    .number_type = TPI_SQL_DECIMAL,
    .change_timeout_s = 20,
    .isolation_attribute = true,
    .trips =
        {.prepare = 1, .first_execute = 1, .execute = 1, .direct = 1, .begin = 0, .commit = 1, .rollback = 1},
};
