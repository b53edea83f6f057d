/* Writes a statement's text for one pool: the table prefix, one ? a parameter, a list written out, rows
 * repeated. Nothing from a task or a user gets in here but the prefix, which was checked when the connection
 * string was read. */
#ifndef TPI_STORE_RENDER_H
#define TPI_STORE_RENDER_H

#include <stdbool.h>

#include "base/buf.h"
#include "dialect/dialect.h"
#include "odbc/link.h"

/* How often the parts of a statement that can be repeated are written out. */
struct tpi_repeats {
    size_t list;    /* parameters for the list of texts */
    size_t numbers; /* parameters for the list of numbers; 0: its part is left out */
    size_t rows;    /* of the repeated part */
    bool zero;      /* 0 is among the numbers: what is not for 0 is left out */
};
void tpi_render(const struct tpi_sql *sql, const char *prefix, struct tpi_repeats repeats,
                struct tpi_buf *out);
/* Only the prefix, for scripts; word (when not NULL) is replaced by its replacement where it stands alone. */
void tpi_render_script(const char *text, const char *prefix, const char *word, const char *replacement,
                       struct tpi_buf *out);

/* Puts the names in text in quotes, so that plain SQL still finds them without. Under sql/ names are in lower
 * case and the words of SQL are not; a table's name ends in lower case whatever the prefix. */
void tpi_render_names(const struct tpi_names *names, struct tpi_buf *text);

#endif
