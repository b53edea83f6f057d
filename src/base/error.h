/* The thread's last error, behind tp_last_error(). Text that goes in here must hold no password and no
 * parameter. */
#ifndef TPI_BASE_ERROR_H
#define TPI_BASE_ERROR_H

#include <stdint.h>

#include "taskpool.h"

#if defined(__GNUC__)
#define TPI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TPI_PRINTF(text, first)
#endif

/* Both return status, so that a failure can be noted and returned in one line. */
tp_status tpi_error(tp_status status, const char *format, ...) TPI_PRINTF(2, 3);
/* statement must be a constant that lives for ever, or NULL. */
tp_status tpi_error_db(tp_status status, const char *sqlstate, int32_t native, const char *statement,
                       const char *format, ...) TPI_PRINTF(5, 6);

/* What kind of error of a driver it is, a number of odbc/driver.h. Belongs to the last error alone: the next
 * one begins with 0. */
void tpi_error_set_class(int class);
int tpi_error_class(void);

/* The last error, to be put back when something in between failed too. */
struct tpi_kept_error {
    tp_error error;
    int class;
    char text[1024];
};
struct tpi_kept_error tpi_error_keep(void);
void tpi_error_restore(const struct tpi_kept_error *kept);

#endif
