/* The mapping of an adoption as a file: lines NAME = VALUE, # begins a comment. What the values mean is read
 * by adopt_read.c. */
#ifndef TPI_OPS_ADOPT_LINES_H
#define TPI_OPS_ADOPT_LINES_H

#include "ops/adopt.h"

/* X(enumerator, "name", required: where the table is shared with old consumers, where it is not) */
#define TPI_SETTING_LIST(X)                                                                                  \
    X(NAME, "name", true, true)                                                                              \
    X(TABLE, "table", true, true)                                                                            \
    X(KEY, "key", true, true)                                                                                \
    X(STATE, "state", true, false)                                                                           \
    X(OPEN, "open", true, false)                                                                             \
    X(OWNER, "owner", false, false)                                                                          \
    X(TAKEN, "taken", true, false)                                                                           \
    X(ALONE, "alone", false, true)                                                                           \
    X(DONE, "done", true, true)                                                                              \
    X(SKIPPED, "skipped", false, false)                                                                      \
    X(FAILED, "failed", true, true)                                                                          \
    X(HISTORY, "history", false, false)                                                                      \
    X(COLUMNS, "columns", false, false)                                                                      \
    X(ONLY, "only", false, false)                                                                            \
    X(HANDLER, "handler", true, true)                                                                        \
    X(BIZ_KEY, "biz_key", false, false)                                                                      \
    X(PARAMS, "params", false, false)                                                                        \
    X(FAILURES, "failures", false, false)                                                                    \
    X(REASON, "reason", false, false)                                                                        \
    X(SHARD, "shard", false, false)                                                                          \
    X(DUE, "due", false, false)                                                                              \
    X(BATCH, "batch", false, false)

enum tpi_setting {
#define TPI_SETTING_ENUM(id, name, shared, alone) id,
    TPI_SETTING_LIST(TPI_SETTING_ENUM)
#undef TPI_SETTING_ENUM
        SETTING_COUNT
};

struct tpi_adopt_reader {
    struct tpi_adoption *adoption;
    int line;
    int lines[SETTING_COUNT]; /* 0: not given */
    char *values[SETTING_COUNT];
    const char *what; /* the setting that is read */
};

/* Cuts text into the settings. Those that are missing, or cannot be together, are refused. */
TP_CHECKED tp_status tpi_adopt_lines(struct tpi_adopt_reader *reader, char *text);
/* The value of a setting that is given, which errors then are about. */
const char *tpi_adopt_begin(struct tpi_adopt_reader *reader, enum tpi_setting setting);
/* TP_MISUSE with the line. */
tp_status tpi_adopt_refuse(const struct tpi_adopt_reader *reader, const char *why, const char *text);

#endif
