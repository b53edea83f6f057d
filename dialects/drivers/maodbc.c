/* MariaDB Connector/ODBC, seen with 3.1.15. Native codes are the server's; 1205 is both a lock wait that
 * timed out and a refusal of NOWAIT. After native 5014 the handle reports success and stores nothing: the
 * connection counts as lost. A prepared statement keeps the bound of ROWNUM of its first execution, which is
 * the server's fault. OPTION=2 makes row counts those of rows found; in the string it takes the place of all
 * that odbc.ini says of the options that are bits, so a session that would reconnect cannot come from there.
 * Connector 3.2.9 gives the old value of SQL_ATTR_AUTOCOMMIT until the next statement, so the server is
 * asked; it caches what was prepared by its text, so that a statement prepared anew would get the plan made
 * for an empty table, unless PSCACHESIZE=0; and with PREPONCLIENT it sends numbers in quotes, which LIMIT
 * refuses. Read next: mysql_servers.h. */
#include "mysql_servers.h"
#include "odbc/driver.h"

static const char *const modules[] = {"libmaodbc", "maodbc", NULL};

static const struct tpi_key keys[] = {
    {"OPTION", TPI_MYSQL_FOUND_BIT, TPI_KEY_DEFAULT, NULL},
    {"OPTION", TPI_MYSQL_FOUND_BIT, TPI_KEY_BITS, NULL},
    {"CONN_TIMEOUT", "10", TPI_KEY_FIRST, NULL},
    {"PSCACHESIZE", "0", TPI_KEY_DEFAULT, NULL},
    {"PREPONCLIENT", "-1", TPI_KEY_REFUSE,
     "the driver would write values into the statements, numbers in quotes, which servers refuse; take it "
     "out"},
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {"OPTION", TPI_MYSQL_RECONNECT_BIT, TPI_KEY_REFUSE, TPI_MYSQL_RECONNECT_BIT_WHY},
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

#define MAODBC                                                                                               \
    .name = "maodbc", .modules = modules, .keys = keys, .rules = rules,                                      \
    .rule_count = sizeof rules / sizeof rules[0], .rownum_sticks = true, .grouping_spoils = true,            \
    .binds_columns = true, TPI_MYSQL_SESSION

const struct tpi_driver tpi_driver_maodbc = {MAODBC, TPI_ON_MARIADB};
const struct tpi_driver tpi_driver_maodbc_mysql = {MAODBC, TPI_ON_MYSQL};
