/* A JSON-lines reader, fed like csv.h: one object a line, its members named after the fields of a task.
 * Values are given as text: strings and integers as they are; in params anything else is written back as JSON
 * with its numbers as they were in the file. It refuses what JSON libraries accept loosely: integers that do
 * not fit 64 bits, -0, NaN, a member named twice, lone surrogates, \u0000, raw control characters. Must not
 * know what a field means. Read next: jsontext.h. */
#ifndef CLI_JSONL_H
#define CLI_JSONL_H

#include <stddef.h>

#include "fields.h"

struct jsonl;

/* limit: bytes of one line. NULL: out of memory. */
struct jsonl *jsonl_open(size_t limit);
void jsonl_close(struct jsonl *jsonl);

/* Takes bytes up to the end of a line that holds something; *used says how many. */
enum read_status jsonl_feed(struct jsonl *jsonl, const char *data, size_t length, size_t *used);
/* Says that nothing follows. READ_RECORD: there was a last line without line end, which is whole, because its
 * object is closed. READ_MORE: nothing. */
enum read_status jsonl_end(struct jsonl *jsonl);

/* The object at hand: NULL when the field is absent or null. */
const char *jsonl_value(const struct jsonl *jsonl, enum field field);
/* The line, from 1, of the object at hand or of the one that could not be read. */
long long jsonl_line(const struct jsonl *jsonl);
/* Why the answer was READ_BAD. */
const char *jsonl_error(const struct jsonl *jsonl);

#endif
