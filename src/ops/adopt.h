/* Adoption of an old task table: its mapping, read and checked (adopt_lines.c, adopt_read.c), and the scripts
 * of sql/common/adopt written out for it (adopt_render.c, adopt_print.c). What the mapping gives gets into
 * SQL as checked and quoted names and as quoted values only. Read next: adopt.c. */
#ifndef TPI_OPS_ADOPT_H
#define TPI_OPS_ADOPT_H

#include "base/buf.h"
#include "store/render.h"
#include "taskpool.h"

enum { TPI_ADOPT_KEYS_MAX = 8, TPI_ADOPT_BATCH_MAX = 10000 };

/* X(enumerator, word): what the scripts call [word]. */
#define TPI_ADOPT_LIST(X)                                                                                    \
    X(TPI_ADOPT_NAME, "name")                                                                                \
    X(TPI_ADOPT_TABLE, "table")                                                                              \
    X(TPI_ADOPT_STATE, "state")                                                                              \
    X(TPI_ADOPT_OWNER, "owner")                                                                              \
    X(TPI_ADOPT_MARK, "mark")                                                                                \
    X(TPI_ADOPT_TAKEN, "taken")                                                                              \
    X(TPI_ADOPT_OPEN, "open")                                                                                \
    X(TPI_ADOPT_DONE, "done")                                                                                \
    X(TPI_ADOPT_SKIPPED, "skipped")                                                                          \
    X(TPI_ADOPT_FAILED, "failed")                                                                            \
    X(TPI_ADOPT_HANDLER, "handler")                                                                          \
    X(TPI_ADOPT_BIZ_KEY, "biz_key")                                                                          \
    X(TPI_ADOPT_PARAMS, "params")                                                                            \
    X(TPI_ADOPT_FAILURES, "failures")                                                                        \
    X(TPI_ADOPT_ALONE, "alone")                                                                              \
    X(TPI_ADOPT_HISTORY, "history")                                                                          \
    X(TPI_ADOPT_COLUMNS, "columns")                                                                          \
    X(TPI_ADOPT_REASON, "reason")                                                                            \
    X(TPI_ADOPT_COUNTED, "counted")                                                                          \
    X(TPI_ADOPT_SHARD, "shard")                                                                              \
    X(TPI_ADOPT_DUE, "due")                                                                                  \
    X(TPI_ADOPT_BATCH, "batch")                                                                              \
    X(TPI_ADOPT_TASKS, "tasks")       /* ids, of links that are to be changed */                             \
    X(TPI_ADOPT_DETACHED, "detached") /* in the name of the links, while it is another */

enum tpi_adopt_word {
#define TPI_ADOPT_ENUM(id, word) id,
    TPI_ADOPT_LIST(TPI_ADOPT_ENUM)
#undef TPI_ADOPT_ENUM
        TPI_ADOPT_COUNT
};

/* The scripts, by the number that their names begin with. */
enum tpi_adopt_script {
    TPI_ADOPT_S_INSTALL = 1,
    TPI_ADOPT_S_BACK,
    TPI_ADOPT_S_COPY,
    TPI_ADOPT_S_GONE,
    TPI_ADOPT_S_OPEN,
    TPI_ADOPT_S_LEFT,
    TPI_ADOPT_S_REMOVE,
    TPI_ADOPT_S_COMPARE,
    TPI_ADOPT_S_ALONE_BACK = 91,
    TPI_ADOPT_S_ALONE_COPY,
    TPI_ADOPT_S_RETURNED,
    TPI_ADOPT_S_REOPENED,
    TPI_ADOPT_S_WITHDRAWN,
    TPI_ADOPT_S_DETACH,
    TPI_ADOPT_S_ATTACH,
    TPI_ADOPT_S_FAILED
};

struct tpi_adoption {
    const struct tpi_dialect *dialect;
    struct tpi_buf words[TPI_ADOPT_COUNT]; /* as SQL; empty: not given */
    struct tpi_buf keys[TPI_ADOPT_KEYS_MAX];
    size_t key_count;
};

/* TP_MISUSE names the line; TP_UNSUPPORTED: the dialect has no adoption. To be freed also after a failure. */
TP_CHECKED tp_status tpi_adopt_read(const char *mapping, const struct tpi_dialect *dialect,
                                    struct tpi_adoption *adoption);
void tpi_adopt_free(struct tpi_adoption *adoption);
/* Does nobody but the pool take rows of the table? */
bool tpi_adopt_alone(const struct tpi_adoption *adoption);

/* Writes a statement, or a line of a script, for the mapping and the prefix, appended to out. */
void tpi_adopt_render(const struct tpi_adoption *adoption, const char *prefix, const char *text,
                      struct tpi_buf *out);

#endif
