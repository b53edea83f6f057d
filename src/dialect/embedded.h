/* What the build makes from sql/NAME: a table of statements, one of schema scripts and
 * one of the scripts of adoption. dialects/NAME.c and
 * the file that the build makes both declare them by TPI_EMBEDDED(NAME). Read next: tools/embed_sql.c. */
#ifndef TPI_DIALECT_EMBEDDED_H
#define TPI_DIALECT_EMBEDDED_H

#include "dialect/dialect.h"

#define TPI_EMBEDDED(name)                                                                                   \
    extern const struct tpi_sql tpi_sql_##name[TPI_STATEMENT_COUNT];                                         \
    extern const struct tpi_script tpi_script_##name[];                                                      \
    extern const struct tpi_script tpi_adopt_##name[];

#endif
