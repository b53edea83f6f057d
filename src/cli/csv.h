/* A CSV reader (RFC 4180) that is fed bytes in chunks of any size and yields one record at a time. It keeps
 * one record in memory, never more than the limit. Lines end in LF or CRLF; a UTF-8 byte order mark is
 * dropped; empty lines are skipped. It refuses what cannot be read without guessing: unequal columns, stray
 * quotes, a lone CR, NUL bytes, broken UTF-8, and a last line without line end, which RFC 4180 allows: who
 * wrote the file may have been stopped in the middle of a number. Must not know tasks. Read next: rows.h,
 * for what the columns mean. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stddef.h>

#include "fields.h"

struct csv;

/* limit: bytes of one record, without quotes and separators. NULL: out of memory. */
struct csv *csv_open(size_t limit);
void csv_close(struct csv *csv);

/* Takes bytes up to the end of a record; *used says how many. Feed the rest again after READ_RECORD. */
enum read_status csv_feed(struct csv *csv, const char *data, size_t length, size_t *used);
/* Says that nothing follows. READ_MORE: nothing was left. */
enum read_status csv_end(struct csv *csv);

/* The record at hand. */
size_t csv_count(const struct csv *csv);
const char *csv_field(const struct csv *csv, size_t i);
/* The physical line, from 1, where the record at hand, or the one that could not be read, begins. */
long long csv_line(const struct csv *csv);
/* Why the answer was READ_BAD. */
const char *csv_error(const struct csv *csv);

#endif
