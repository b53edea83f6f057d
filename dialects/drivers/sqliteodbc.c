/* The profile of SQLite ODBC, seen with 0.9998: which keys its connection string gets, what its errors mean,
 * how its transactions begin and end. Unless the connection string says otherwise it lowers synchronous to
 * NORMAL and waits 100 s for a lock. Its own BEGIN is deferred: a transaction that writes must begin
 * IMMEDIATE, by a statement, and end by a statement too. Read next: src/odbc/driver.h. */
#include "odbc/driver.h"

static const char *const modules[] = {"sqlite3odbc", "libsqlite3odbc", NULL};
static const char *const session[] = {NULL};

static const struct tpi_key keys[] = {
    {"SyncPragma", "FULL", TPI_KEY_DEFAULT, NULL},
    {"JournalMode", "WAL", TPI_KEY_DEFAULT, NULL},
    {"Timeout", "5000", TPI_KEY_DEFAULT, NULL},
    {"NoTXN", "-1", TPI_KEY_REFUSE, "the driver would begin no transactions; take it out"},
    {"Database", NULL, TPI_KEY_NEEDED,
     "the driver then makes a file of its own naming, in the working folder; name yours by Database="},
    {"FKSupport", NULL, TPI_KEY_KNOWN, NULL},
    {"NoCreat", NULL, TPI_KEY_KNOWN, NULL},
    {"StepAPI", NULL, TPI_KEY_KNOWN, NULL},
    {"LoadExt", NULL, TPI_KEY_KNOWN, NULL},
    {0},
};

static const struct tpi_rule rules[] = {
    {"08", 0, 0, NULL, TPI_CLASS_DEAD},
    {NULL, 19, 0, "UNIQUE constraint failed", TPI_CLASS_EXISTS},
    {NULL, 5, 6, NULL, TPI_CLASS_LOCKED},
    {NULL, 1, 0, "no transaction is active", TPI_CLASS_NO_TX},
    {NULL, 1, 0, "within a transaction", TPI_CLASS_IN_TX},
    {NULL, 1, 0, "already exists", TPI_CLASS_OBJECT_EXISTS},
    {NULL, 1, 0, "duplicate column name", TPI_CLASS_OBJECT_EXISTS},
    {NULL, 1, 0, "no such table", TPI_CLASS_NO_TABLE},
    {NULL, 1, 0, "no such column", TPI_CLASS_NO_TABLE},
    {NULL, 1, 0, "has no column named", TPI_CLASS_NO_TABLE},
    {NULL, 8, 0, NULL, TPI_CLASS_READ_ONLY_FILE},
    {NULL, 10, 0, NULL, TPI_CLASS_DISK},
    {NULL, 13, 0, NULL, TPI_CLASS_FULL},
    {NULL, 14, 0, NULL, TPI_CLASS_REFUSED},
    {NULL, 17, 0, NULL, TPI_CLASS_CONFLICT},
    {NULL, 18, 0, NULL, TPI_CLASS_TOO_LONG},
    {NULL, 9, 0, NULL, TPI_CLASS_TIMEOUT},
};

static const struct tpi_session_check checks[] = {{0}};

static const struct tpi_advice advice[] = {
    {"journal_mode", "PRAGMA journal_mode", "wal", "readers and the writer wait for each other",
     "take JournalMode out of the connection string"},
    {"synchronous",
     "SELECT CASE WHEN synchronous >= 2 THEN 'full' ELSE synchronous END FROM pragma_synchronous", "full",
     "a power failure loses what was committed", "take SyncPragma out of the connection string"},
    {0},
};

const struct tpi_driver tpi_driver_sqliteodbc = {
    .name = "sqliteodbc",
    .modules = modules,
    .keys = keys,
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .session = session,
    .checks = checks,
    .advice = advice,
    .begin = "BEGIN IMMEDIATE",
    .commit = "COMMIT",
    .rollback = "ROLLBACK",
    .tx_probe = "BEGIN",
    .own_tx = "BEGIN",
    .own_tx_undo = "ROLLBACK",
    .tx_ends_silently = true,
    .binds_columns = true,
    .binds_int64 = true,
    .quotes_texts = true,
    .polls_for_lock = true,
    .number_type = TPI_SQL_BIGINT,
    .trips = {0}, /* in the process: no messages at all */
};
