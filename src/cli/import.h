/* Puts in many tasks from a file or a pipe, in constant memory, batch by batch. Must not know formats. Read
 * next: csv.h, jsonl.h, rows.h, batch.h. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "cli.h"

enum import_format { IMPORT_CSV, IMPORT_JSONL };

struct import_options {
    const char *path; /* "-": standard input */
    enum import_format format;
    const char *handler; /* of rows that name none; may be NULL, as may these */
    const char *group, *after;
    int64_t batch;    /* rows that are written together */
    int64_t skip;     /* rows that an earlier run dealt with */
    int64_t retry_ms; /* how long a lost database is waited for */
    bool progress;
};

struct import_result {
    int64_t rows; /* dealt with, skipped ones too: what --skip takes to go on from here */
    int64_t inserted;
    int64_t there;
};

/* A failure was reported; result is filled in any case. */
enum cli_exit import_file(tp_conn *conn, const struct import_options *options, struct import_result *result);

#endif
