/* A dialect is one database's SQL, as constant data: what the database can do and the statements that say it.
 * It must not know how any ODBC driver behaves; that is a driver profile's (odbc/driver.h). Read next:
 * params.h, statements.h, a file under dialects/. */
#ifndef TPI_DIALECT_DIALECT_H
#define TPI_DIALECT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "dialect/params.h"
#include "dialect/statements.h"

/* What a database can do. Each picks a whole way of working, never a fragment of a statement. */
enum tpi_cap {
    TPI_CAP_ROW = 1 << 0,            /* lock one row and refuse at once, or a single writer */
    TPI_CAP_BATCH = 1 << 1,          /* one UPDATE of the first n rows */
    TPI_CAP_SKIP_RETURNING = 1 << 2, /* lock, mark and return in one statement, past locked rows */
    TPI_CAP_SKIP_UPDATE = 1 << 3,    /* lock and mark in one statement, past locked rows */
    TPI_CAP_SKIP_LOCK = 1 << 4,      /* lock given rows, past those that are locked */
    TPI_CAP_CAS = 1 << 5,            /* the row count of a guarded UPDATE says who won */
    TPI_CAP_MOVE_IN_TWO = 1 << 6,    /* a row moves by INSERT and DELETE, not in one statement */
    TPI_CAP_DOCUMENT = 1 << 7,       /* enqueue_many reads one JSON document; absent: repeated rows */
    TPI_CAP_QUIET_EXISTS =
        1 << 8, /* enqueue skips a task that exists, without an error; absent: it is asked first */
    TPI_CAP_CLIENT_CLOCK = 1 << 9,    /* no portable epoch: the clock is asked for and carried on */
    TPI_CAP_ROWNUM = 1 << 12,         /* results end by ROWNUM <= :limit */
    TPI_CAP_FUNCTIONS = 1 << 11,      /* the schema makes functions that statements use */
    TPI_CAP_DDL_ROLLS_BACK = 1 << 10, /* a schema script is all or nothing; what is there
                                       * is no error in it */
    TPI_CAP_HOLD_TAKE = 1 << 13,      /* pick and lock in one statement, past locked rows, and no others */
    TPI_CAP_ONE_WRITER = 1 << 14,     /* a transaction that may write is the only one */
    TPI_CAP_BATCH_PICKED =
        1 << 15, /* one UPDATE of given rows; of the first n it would lock every row it reads */
    TPI_CAP_LANE_HEADS = 1 << 16, /* claim_lanes gives the first lane from :priority on, and the last one's */
    TPI_CAP_KNOWN_LANE =
        1 << 17, /* hold_take, and claim_skip where it returns, see if a more urgent lane came */
    TPI_CAP_ENQUEUE_NEW = 1 << 18,  /* skipping what exists costs time: enqueue_new does without */
    TPI_CAP_HOLD_ONE = 1 << 19,     /* hold_take_one takes one task, and is planned once */
    TPI_CAP_QUOTE = 1 << 20,        /* any name may be reserved: all are quoted as the driver says */
    TPI_CAP_HOLD_WINDOW = 1 << 21,  /* hold_take sees the first :window due rows only, whoever holds them */
    TPI_CAP_LOCKING_READ = 1 << 22, /* a locking read sees what is committed by now, at any level, which
                                       cannot be asked for; an insert of what is there fails alone */
    TPI_CAP_HOLD_PACKED = 1 << 24,  /* each column costs: hold_take gives TPI_ROWS_HELD (ops/batch.h) */
    TPI_CAP_READS_APART = 1 << 23,  /* a statement may read by locks, and two tables at two moments */
};
#define TPI_CAP_BATCHES (TPI_CAP_BATCH | TPI_CAP_BATCH_PICKED)
#define TPI_CAP_SKIP    (TPI_CAP_SKIP_RETURNING | TPI_CAP_SKIP_UPDATE | TPI_CAP_SKIP_LOCK)
#define TPI_CAP_HOLD    (TPI_CAP_HOLD_TAKE | TPI_CAP_SKIP_LOCK | TPI_CAP_ONE_WRITER)

/* X(enumerator, "name", capabilities of which it needs one) */
#define TPI_PLAN_LIST(X)                                                                                     \
    X(TPI_PLAN_ROW, "row", TPI_CAP_ROW)                                                                      \
    X(TPI_PLAN_BATCH, "batch", TPI_CAP_BATCHES)                                                              \
    X(TPI_PLAN_SKIP, "skip", TPI_CAP_SKIP)                                                                   \
    X(TPI_PLAN_HOLD, "hold", TPI_CAP_HOLD)                                                                   \
    X(TPI_PLAN_CAS, "cas", TPI_CAP_CAS)

enum tpi_plan {
#define TPI_PLAN_ENUM(id, name, caps) id,
    TPI_PLAN_LIST(TPI_PLAN_ENUM)
#undef TPI_PLAN_ENUM
        TPI_PLAN_COUNT
};

/* One statement, made from its file when the library is built. Its text has marks, which the renderer
 * (store/render.h) replaces: TPI_SQL_PREFIX by the prefix of the tables, TPI_SQL_PARAM by a ? (params says
 * which parameter, in order). The part between TPI_SQL_ROWS and TPI_SQL_ROWS_END is repeated with UNION ALL.
 * The part between TPI_SQL_IF and TPI_SQL_IF_END, which holds a list of numbers, is written only when that
 * list is given; what follows TPI_SQL_BUT_0 in it only when no row's list holds 0. */
#define TPI_SQL_PARAM    '\001'
#define TPI_SQL_PREFIX   '\002'
#define TPI_SQL_ROWS     '\003'
#define TPI_SQL_ROWS_END '\004'
#define TPI_SQL_IF       '\005'
#define TPI_SQL_IF_END   '\006'
#define TPI_SQL_BUT_0    '\007'
struct tpi_sql {
    const char *text; /* NULL: the dialect has none */
    const unsigned char *params;
    size_t param_count;
    bool returns; /* if it changes rows, it returns one for each: it begins WITH */
    bool grouped; /* goes from group to group along an index, which some drivers spoil (odbc/driver.h) */
};

/* One numbered schema script. lines are its whole text for people, statements what the library runs. */
struct tpi_script {
    int version;
    const char *file;
    const char *const *lines;
    size_t line_count;
    const char *const *statements;
    size_t statement_count;
};

/* A database that speaks the dialect, by SQL_DBMS_NAME, and what versions before min_version cannot do. */
struct tpi_dbms {
    const char *name;
    int major, minor; /* of the first version that has caps */
    unsigned caps;
};

struct tpi_dialect {
    const char *name;
    unsigned caps;
    enum tpi_plan plan;               /* default */
    const struct tpi_sql *sql;        /* by enum tpi_statement */
    const struct tpi_script *scripts; /* in order of version; ends with a NULL file */
    const struct tpi_script *adopt;   /* for an old task table, in order of number; the same end */
    char name_quote;                  /* around names; 0: no adoption */
    int name_case;                    /* of names without quotes: -1 lower, 1 upper, 0 as they are */
    const struct tpi_dbms *dbms;      /* ends with a NULL name */
    bool anywhere;         /* Dialect= may name it for a database that is known by another dialect */
    const char *long_text; /* word in the schema that stands for the driver's own long text type, or NULL */
};

/* NULL: no such dialect. */
const struct tpi_dialect *tpi_dialect_by_name(const char *name);
/* The dialect for what SQL_DBMS_NAME says, generic when nobody claims it. */
const struct tpi_dialect *tpi_dialect_for_dbms(const char *dbms_name);
/* False: it is known that the database speaks another one. */
bool tpi_dialect_may_fit(const struct tpi_dialect *dialect, const char *dbms_name);
/* The dialect's capabilities on this version of the database ("10.11.000019"). */
unsigned tpi_dialect_caps(const struct tpi_dialect *dialect, const char *dbms_name, const char *dbms_version);
/* The dialects' names, "a, b, c", as text for people. */
void tpi_dialect_names(char *out, size_t size);
/* The i-th dialect, NULL beyond the last. */
const struct tpi_dialect *tpi_dialect_at(size_t i);

const char *tpi_plan_name(enum tpi_plan plan);
bool tpi_plan_parse(const char *name, enum tpi_plan *plan);
/* The best plan that caps allow: the dialect's own, else skip, batch, row, cas in this order. */
enum tpi_plan tpi_plan_default(const struct tpi_dialect *dialect, unsigned caps);
bool tpi_plan_possible(enum tpi_plan plan, unsigned caps);

const char *tpi_statement_name(enum tpi_statement statement);
/* Capabilities of which one makes the statement needed; 0: always needed. */
unsigned tpi_statement_caps(enum tpi_statement statement);
enum tpi_param_kind tpi_param_kind(enum tpi_param param);

#endif
