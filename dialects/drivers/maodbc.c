/* MariaDB Connector/ODBC, seen with 3.1.15. Native codes are the server's; 1205 is both a lock wait that
 * timed out and NOWAIT's refusal. After native 5014 the handle reports success and stores nothing: the
 * connection counts as lost. A prepared statement keeps the bound of ROWNUM that it was
 * first executed with, which is the server's fault. OPTION=2 makes row counts those of rows found. */
#include "mysql_rules.h"
#include "odbc/driver.h"

static const char *const modules[] = {"libmaodbc", "maodbc", NULL};
static const char *const session[] = {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                                      "SET SESSION innodb_lock_wait_timeout = 10", NULL};

static const struct tpi_key keys[] = {
    {"OPTION", "2", TPI_KEY_DEFAULT, NULL},
    {"CONN_TIMEOUT", "10", TPI_KEY_DEFAULT, NULL},
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE,
     "a session that the driver reconnects by itself commits without being told to; take it out"},
    {"OPTION", "4194304", TPI_KEY_REFUSE,
     "this bit lets the driver reconnect by itself, and such a session commits without being told to; take "
     "it out"},
    {"Server", NULL, TPI_KEY_KNOWN, NULL},
    {"Servername", NULL, TPI_KEY_KNOWN, NULL},
    {"Port", NULL, TPI_KEY_KNOWN, NULL},
    {"Socket", NULL, TPI_KEY_KNOWN, NULL},
    {"Database", NULL, TPI_KEY_KNOWN, NULL},
    {"Password", NULL, TPI_KEY_KNOWN, NULL},
    {"INITSTMT", NULL, TPI_KEY_KNOWN, NULL},
    {"CHARSET", NULL, TPI_KEY_KNOWN, NULL},
    {"READ_TIMEOUT", NULL, TPI_KEY_KNOWN, NULL},
    {"WRITE_TIMEOUT", NULL, TPI_KEY_KNOWN, NULL},
    {0},
};

static const struct tpi_rule rules[] = {
    {NULL, 5014, 0, NULL, TPI_CLASS_DEAD},
    TPI_MYSQL_RULES,
    {"08", 0, 0, NULL, TPI_CLASS_DEAD},
};

static const struct tpi_session_check checks[] = {
    {"SELECT @@character_set_client", "utf8mb4",
     "the connection must speak utf8mb4: take CHARSET out of the connection string", false},
    {"SELECT @@tx_isolation", "READ-COMMITTED",
     "the isolation level must be READ COMMITTED, or what others did is not seen: set it on the borrowed "
     "connection first",
     false},
    {"SELECT CASE WHEN @@sql_mode LIKE '%STRICT%' THEN 'strict' ELSE 'lax' END", "strict",
     "sql_mode must keep STRICT_TRANS_TABLES, or values are cut silently: add modes by "
     "SET sql_mode = CONCAT(@@sql_mode, ',...')",
     false},
    {0},
};

static const struct tpi_advice advice[] = {TPI_MYSQL_ADVICE, {0}};

const struct tpi_driver tpi_driver_maodbc = {
    .name = "maodbc",
    .modules = modules,
    .keys = keys,
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .session = session,
    .utc = "SET time_zone = '+00:00'",
    .checks = checks,
    .advice = advice,
    .begin = "START TRANSACTION",
    .commit = "COMMIT",
    .rollback = "ROLLBACK",
    .max_packet = "SELECT @@max_allowed_packet",
    .tx_probe = "SELECT @@in_transaction",
    .tx_open = "1",
    .own_tx = "SELECT @@in_transaction",
    .own_tx_open = "1",
    .tx_ends_silently = true,
    .rownum_sticks = true,
    .grouping_spoils = true,
    .binds_columns = true,
    .number_type = TPI_SQL_BIGINT,
    .trips =
        {.prepare = 1, .first_execute = 1, .execute = 1, .direct = 1, .begin = 1, .commit = 1, .rollback = 1},
};
