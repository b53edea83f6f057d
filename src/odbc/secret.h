/* Hides passwords in texts: those of the connection string, and whatever follows a word like PWD= in a
 * driver's message. Pure text; must not know any driver. */
#ifndef TPI_ODBC_SECRET_H
#define TPI_ODBC_SECRET_H

#include "odbc/connstr.h"

/* Is the value of this key a password? */
bool tpi_secret_key(const char *key);
/* Puts stars over every password in text, which never grows. given may be NULL. */
void tpi_secret_hide(const struct tpi_connstr *given, char *text);

#endif
