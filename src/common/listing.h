/* How records of one kind are listed: for people aligned columns, which stay aligned whatever text is in
 * them, and on a terminal fit into it (records.h: whole, spare); with --json objects, one a line at once, or
 * all in a list that becomes part of a larger object. Must not know what a record is; read next: records.h.
 */
#ifndef COMMON_LISTING_H
#define COMMON_LISTING_H

#include "records.h"

struct listing;

/* columns live as long as the listing. */
struct listing *listing_open(const struct column *columns);
/* For listing_list. */
struct listing *listing_open_list(const struct column *columns);
/* In a table text that is "" or NULL shows as "-". */
void listing_add(struct listing *listing, const void *record);
/* Prints the table's rows that were added since it was last asked to, the first time below the titles.
 * Columns never get narrower, so that those of long lists stand below each other. With --json all is printed
 * already. On a terminal the first call starts the pager. */
void listing_print(struct listing *listing);
/* Says on standard error that a limit cut the list: "4,900 more; " and what shows them. more below 0: nobody
 * counted them; 0: says nothing. */
void listing_more(int64_t more, const char *what);
/* The objects, for json_add; to be asked once. */
struct json_object *listing_list(struct listing *listing);
/* Frees it, with what was not printed. */
void listing_free(struct listing *listing);

#endif
