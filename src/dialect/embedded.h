/* What the build makes from sql/NAME: a pair of tables, which dialects/NAME.c and the made file declare by
 * TPI_EMBEDDED(NAME). */
#ifndef TPI_DIALECT_EMBEDDED_H
#define TPI_DIALECT_EMBEDDED_H

#include "dialect/dialect.h"

#define TPI_EMBEDDED(name)                                                                                   \
    extern const struct tpi_sql tpi_sql_##name[TPI_STATEMENT_COUNT];                                         \
    extern const struct tpi_script tpi_script_##name[];

#endif
