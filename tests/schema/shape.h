/* The one list of the tables' columns and indexes, compared with what the driver says of a database. */
#ifndef TESTS_SCHEMA_SHAPE_H
#define TESTS_SCHEMA_SHAPE_H

#include "schema/pool.h"

void shape_check_columns(struct pool *pool);
void shape_check_indexes(struct pool *pool);

#endif
