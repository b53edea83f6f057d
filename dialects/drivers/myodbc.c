/* MySQL Connector/ODBC, from its documentation; not run here. */
#include "mysql_rules.h"
#include "odbc/driver.h"

static const char *const modules[] = {"libmyodbc", "myodbc", NULL};
static const char *const session[] = {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", NULL};

static const struct tpi_key keys[] = {
    {"FOUND_ROWS", "1", TPI_KEY_DEFAULT, NULL},
    {"CHARSET", "utf8mb4", TPI_KEY_DEFAULT, NULL},
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE,
     "a session that the driver reconnects by itself commits without being told to; take it out"},
    {0},
};

static const struct tpi_rule rules[] = {TPI_MYSQL_RULES, {"08", 0, 0, NULL, TPI_CLASS_DEAD}};

static const struct tpi_session_check checks[] = {
    {"SELECT CASE WHEN @@sql_mode LIKE '%STRICT%' THEN 'strict' ELSE 'lax' END", "strict",
     "sql_mode must keep STRICT_TRANS_TABLES, or values are cut silently", false},
    {0},
};

static const struct tpi_advice advice[] = {TPI_MYSQL_ADVICE, {0}};

const struct tpi_driver tpi_driver_myodbc = {
    .name = "myodbc",
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
    .number_type = TPI_SQL_BIGINT,
    .trips =
        {.prepare = 1, .first_execute = 1, .execute = 1, .direct = 1, .begin = 1, .commit = 1, .rollback = 1},
};
