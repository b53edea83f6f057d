/* The one list of the tables' columns and indexes, compared with what the driver says of a database. */
#ifndef TESTS_SCHEMA_SHAPE_H
#define TESTS_SCHEMA_SHAPE_H

void shape_check_columns(void);
void shape_check_indexes(void);

#endif
