/* What the build makes from sql/: one pair of tables a dialect. Only the files under dialects/ use it. */
#ifndef TPI_DIALECT_EMBEDDED_H
#define TPI_DIALECT_EMBEDDED_H

#include "dialect/dialect.h"

#define TPI_EMBEDDED(name)                                                                                   \
    extern const struct tpi_sql tpi_sql_##name[TPI_STATEMENT_COUNT];                                         \
    extern const struct tpi_script tpi_script_##name[];

TPI_EMBEDDED(oracle)
TPI_EMBEDDED(mysql)
TPI_EMBEDDED(postgres)
TPI_EMBEDDED(sqlite)
TPI_EMBEDDED(generic)

#endif
