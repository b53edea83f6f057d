/* MySQL Connector/ODBC, from its documentation; run here only as MariaDB's driver under its name. The bits of
 * OPTION are those of MariaDB's; it sets all of them anew, so it is not added. What odbc.ini says is
 * overridden by the string. Read next: mysql_servers.h. */
#include "mysql_servers.h"
#include "odbc/driver.h"

static const char *const modules[] = {"libmyodbc", "myodbc", NULL};

static const struct tpi_key keys[] = {
    {"FOUND_ROWS", "1", TPI_KEY_ONLY,
     "rows that are as they should be would count as not found; take it out"},
    {"OPTION", TPI_MYSQL_FOUND_BIT, TPI_KEY_BITS, NULL},
    {"CHARSET", "utf8mb4", TPI_KEY_DEFAULT, NULL},
    {"AUTO_RECONNECT", "0", TPI_KEY_DEFAULT, NULL},
    {"AUTO_RECONNECT", "-1", TPI_KEY_REFUSE, TPI_NO_RECONNECT},
    {"OPTION", TPI_MYSQL_RECONNECT_BIT, TPI_KEY_REFUSE, TPI_MYSQL_RECONNECT_BIT_WHY},
    {0},
};

static const struct tpi_rule rules[] = {TPI_MYSQL_RULES, {"08", 0, 0, NULL, TPI_CLASS_DEAD}};

#define MYODBC                                                                                               \
    .name = "myodbc", .modules = modules, .keys = keys, .rules = rules,                                      \
    .rule_count = sizeof rules / sizeof rules[0], TPI_MYSQL_SESSION

const struct tpi_driver tpi_driver_myodbc_mariadb = {MYODBC, TPI_ON_MARIADB};
const struct tpi_driver tpi_driver_myodbc = {MYODBC, TPI_ON_MYSQL};
