/* Runs a named statement of the dialect on a connection (execute.h) and checks its row count. It must not
 * know what a task is. The layers above reach the connection through store->link. Read next: ops/claim.c. */
#ifndef TPI_STORE_STORE_H
#define TPI_STORE_STORE_H

#include "dialect/dialect.h"
#include "odbc/link.h"
#include "odbc/source.h"
#include "odbc/stmt.h"
#include "store/args.h"
#include "store/record.h"
#include "store/render.h"

/* Lists are written out in these steps, padded with their last item, so that few statements are prepared. */
enum { TPI_LIST_MAX = 500, TPI_ROWS_MAX = 50 };

struct tpi_prepared {
    enum tpi_statement statement;
    struct tpi_repeats repeats;
    int64_t limit;   /* that it was prepared for */
    int64_t made_ms; /* on this machine's monotonic clock */
    unsigned runs;   /* since then */
    struct tpi_stmt stmt;
};

/* The database's clock, carried on by this machine's; for dialects without an epoch. */
struct tpi_db_clock {
    int64_t database_ms, boot_ms;
    int64_t behind_ms; /* how much later it may be: the answer took its time, and most databases'
                          CURRENT_TIMESTAMP has whole seconds */
    int64_t said_ms;   /* last */
    bool known;
};

struct tpi_store {
    struct tpi_link link;
    const struct tpi_dialect *dialect;
    unsigned caps;
    const char *prefix;
    struct tpi_names names;
    struct tpi_prepared **prepared; /* each stays where it is while others come */
    size_t prepared_count;
    struct tpi_db_clock clock;
    bool by_locks;   /* what may be there is found by locking reads: who lent the session may have begun a
                        transaction of another level, which hides it or shows what is not committed */
    size_t text_max; /* longest text one statement may carry; 0: no limit known */
};

/* How often a list of count items, or a part for each of count rows, is written out: 1, 2, 4, ... up to
 * TPI_LIST_MAX, so that few statements are prepared; 0 for none. */
size_t tpi_store_repeats(size_t count);

/* Drops what was prepared; before the link is closed or reopened. */
void tpi_store_forget(struct tpi_store *store);

/* Runs a statement. rows (may be NULL for a query) gets the rows changed. */
TP_CHECKED tp_status tpi_store_change(struct tpi_store *store, enum tpi_statement statement,
                                      struct tpi_args *args, int64_t *rows);
/* The same where one row must change: TP_NONE for no row, TP_DB for more than one, which dooms the
 * transaction. */
TP_CHECKED tp_status tpi_store_change_one(struct tpi_store *store, enum tpi_statement statement,
                                          struct tpi_args *args);
/* Runs a statement whose marked part is repeated, once for each of count (at most TPI_ROWS_MAX) args. What
 * stands outside of that part comes from the first. */
TP_CHECKED tp_status tpi_store_change_rows(struct tpi_store *store, enum tpi_statement statement,
                                           struct tpi_args *args, size_t count, int64_t *rows);
/* A query whose marked part is repeated likewise, at most 256 times. */
TP_CHECKED tp_status tpi_store_query_rows(struct tpi_store *store, enum tpi_statement statement,
                                          struct tpi_args *args, size_t count, struct tpi_stmt **rows);
/* Runs a query; *rows is to be fetched to its end or closed before the next statement. */
TP_CHECKED tp_status tpi_store_query(struct tpi_store *store, enum tpi_statement statement,
                                     struct tpi_args *args, struct tpi_stmt **rows);
/* Runs a query and reads its first row, see record.h. TP_NONE: there is none. */
TP_CHECKED tp_status tpi_store_read(struct tpi_store *store, enum tpi_statement statement,
                                    struct tpi_args *args, const struct tpi_column *columns,
                                    struct tpi_texts *texts, void *record);
/* Runs a query and reads all its rows into an array, whose records have size bytes each; *all, NULL before,
 * is to be freed. After a failure it is NULL, and *count 0. */
TP_CHECKED tp_status tpi_store_list(struct tpi_store *store, enum tpi_statement statement,
                                    struct tpi_args *args, const struct tpi_column *columns,
                                    struct tpi_texts *texts, size_t size, void **all, size_t *count);
/* The first column of rows, as texts; start from {0}, free. */
struct tpi_keys {
    struct tpi_texts texts;
    const char **all;
    size_t count;
};
TP_CHECKED tp_status tpi_store_keys(struct tpi_store *store, enum tpi_statement statement,
                                    struct tpi_args *args, struct tpi_keys *keys);
void tpi_keys_free(struct tpi_keys *keys);
/* Is there a row? */
TP_CHECKED tp_status tpi_store_exists(struct tpi_store *store, enum tpi_statement statement,
                                      struct tpi_args *args, bool *found);

/* Runs a statement without parameters that makes or drops a table, at once; the dialect's word for long text
 * becomes the driver's own type. */
TP_CHECKED tp_status tpi_store_define(struct tpi_store *store, enum tpi_statement statement);

/* The same for a rendered statement, a script's; its names are quoted where the dialect wants it. long_text:
 * the type; NULL: the dialect has its own. */
TP_CHECKED tp_status tpi_store_define_text(struct tpi_store *store, const char *name, struct tpi_buf *text,
                                           const char *long_text);

/* The name of the driver's longest text type, appended to out. */
TP_CHECKED tp_status tpi_store_long_text(struct tpi_store *store, struct tpi_buf *out);

/* Milliseconds since 1970 UTC by the database's clock, carried on; for dialects with TPI_CAP_CLIENT_CLOCK. */
TP_CHECKED tp_status tpi_store_now(struct tpi_store *store, int64_t *now_ms);
/* There: fills in the parameters of the statement that stand for the clock, in each of rows args. */
TP_CHECKED tp_status tpi_clock_fill(struct tpi_store *store, enum tpi_statement statement,
                                    struct tpi_args *args, size_t rows);

#endif
