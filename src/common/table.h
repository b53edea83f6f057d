/* Aligned columns for people: text keeps its width in a terminal whatever is in it. */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stddef.h>

struct table;

/* heads: one title a column, '>' in front of those to be right-aligned. They live as long as the table. */
struct table *table_open(const char *const *heads, size_t columns);
/* Adds the next cell; "" and NULL show as "-". */
void table_add(struct table *table, const char *text);
void table_add_number(struct table *table, long long number);
/* Prints the rows added since it was last asked to, the first time below the titles. Columns never get
 * narrower, so that those of long lists stand below each other. */
void table_print_part(struct table *table);
/* Prints titles and rows and frees it all. */
void table_print(struct table *table);
/* Frees it, with what was not printed; NULL is accepted. */
void table_free(struct table *table);

#endif
