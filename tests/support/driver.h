/* Gives the driver in use habits of another one: a program that is linked with --wrap for the three
 * functions of driver.c sees them. All else is the real driver's. */
#ifndef TESTS_SUPPORT_DRIVER_H
#define TESTS_SUPPORT_DRIVER_H

#include <stdbool.h>

/* What SQL_DRIVER_NAME says; NULL: the truth. */
void driver_call_it(const char *name);
/* SQL_ATTR_AUTOCOMMIT is told as it was before it was last set, as MariaDB Connector/ODBC 3.2.9 tells it. */
void driver_tell_old_autocommit(bool old);

#endif
