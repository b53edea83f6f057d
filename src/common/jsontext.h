/* Refuses JSON text that json-c would accept and change. Must not know tasks or lines. */
#ifndef COMMON_JSONTEXT_H
#define COMMON_JSONTEXT_H

#include <json-c/json_types.h>
#include <stddef.h>

/* Looks at text of length bytes with a NUL behind them, none within. NULL: whatever of it json-c takes is
 * JSON and says the same there; else what would not. *members gets how many object members the text writes.
 */
const char *jsontext_check(const char *text, size_t length, size_t *members);
/* Writes each surrogate pair in text that was found good as the character that it is; gives the new length.
 */
size_t jsontext_join(char *text, size_t length);
/* How many members the parsed tree has; fewer than written: one was there twice. */
size_t jsontext_members(struct json_object *tree);

#endif
