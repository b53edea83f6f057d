/* Control totals as a record: a JSON object, which is printed, written to a file, and read again to see what
 * changed since. Must not know the database. */
#ifndef CLI_TOTALS_RECORD_H
#define CLI_TOTALS_RECORD_H

#include "totals.h"

/* What totals are of: made again from its record. */
struct totals_of {
    char day[11]; /* 2026-11-24 */
    char zone[65];
    char handler[TP_HANDLER_MAX + 1]; /* "": all */
    char pointer[257];                /* "": only counts */
    int64_t from, until;
};

/* The caller frees it by out_json, or totals_record_write. */
struct json_object *totals_record(const struct totals_of *of, const struct totals *totals);
/* Writes it to file whole or not at all, and frees it. */
enum cli_exit totals_record_write(struct json_object *record, const char *file);
/* Reads a record; totals gets its handlers. A failure was reported. */
enum cli_exit totals_record_read(const char *file, struct totals_of *of, struct totals *totals);
/* Writes a line to standard error for each figure that differs between what was and what is. How many do. */
size_t totals_compare(const struct totals *was, const struct totals *is, const char *was_said,
                      const char *is_said, const enum fate *fates, size_t fate_count);

#endif
