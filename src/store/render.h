/* Writes a statement's text for one pool: the table prefix, one ? a parameter, a list written out, rows
 * repeated. Nothing from a task or a user gets in here but the prefix, which was checked when the connection
 * string was read. */
#ifndef TPI_STORE_RENDER_H
#define TPI_STORE_RENDER_H

#include "base/buf.h"
#include "dialect/dialect.h"

/* list: how many places a list parameter gets. rows: how often the repeated part stands. */
void tpi_render(const struct tpi_sql *sql, const char *prefix, size_t list, size_t rows, struct tpi_buf *out);
/* Only the prefix, for scripts; word (when not NULL) is replaced by its replacement where it stands alone. */
void tpi_render_script(const char *text, const char *prefix, const char *word, const char *replacement,
                       struct tpi_buf *out);

#endif
