/* A driver profile says how one ODBC driver behaves, as constant data: what its error codes mean, which keys
 * and session settings it needs for its answers to be true, how transactions are begun. It must not know any
 * SQL dialect. Profiles are in dialects/drivers/; the last of the registry fits any driver. Read next:
 * registry.c, dialects/drivers/any.c. */
#ifndef TPI_ODBC_DRIVER_H
#define TPI_ODBC_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

/* SQL types by number, so that profiles need no ODBC header. */
enum { TPI_SQL_DECIMAL = 3, TPI_SQL_BIGINT = -5 };

/* What an error means. X(enumerator, status for the caller, "in words", "what to do", or "") */
#define TPI_CLASS_LIST(X)                                                                                    \
    X(TPI_CLASS_OTHER, TP_DB, "database error", "")                                                          \
    X(TPI_CLASS_DEAD, TP_DISCONNECTED, "the connection is lost", "reopen it and ask again")                  \
    X(TPI_CLASS_REFUSED, TP_DISCONNECTED, "cannot connect",                                                  \
      "check server and port, or file and folder, database, user and password in the connection string")     \
    X(TPI_CLASS_NO_DRIVER, TP_UNSUPPORTED, "the ODBC driver or data source is not there",                    \
      "install the driver or correct Driver= or DSN=; odbcinst -q -d lists what is installed")               \
    X(TPI_CLASS_LOCKED, TP_TIMEOUT, "locked by another session", "ask again")                                \
    X(TPI_CLASS_TIMEOUT, TP_TIMEOUT, "no answer in time", "ask again")                                       \
    X(TPI_CLASS_CONFLICT, TP_CONFLICT, "another session got in the way", "roll back and ask again")          \
    X(TPI_CLASS_ABORTED, TP_CONFLICT, "a statement of this transaction failed before",                       \
      "roll back and do the whole again")                                                                    \
    X(TPI_CLASS_EXISTS, TP_CONFLICT, "a row with this key is there", "")                                     \
    X(TPI_CLASS_FORGOTTEN, TP_CONFLICT, "server and driver disagree about what is prepared",                 \
      "roll back and ask again")                                                                             \
    X(TPI_CLASS_OBJECT_EXISTS, TP_SCHEMA, "the object exists already", "")                                   \
    X(TPI_CLASS_NO_TABLE, TP_SCHEMA, "a table or column of the pool is missing",                             \
      "run 'taskpool schema install', or check Prefix=")                                                     \
    X(TPI_CLASS_TOO_LONG, TP_TOOBIG, "a value is too long or out of range", "")                              \
    X(TPI_CLASS_READ_ONLY, TP_UNWRITABLE, "the database cannot be written",                                  \
      "this may be a standby, or a server that was made read-only: connect to the one that takes writes")    \
    X(TPI_CLASS_READ_ONLY_FILE, TP_UNWRITABLE, "the database cannot be written",                             \
      "check the permissions of the file and its folder")                                                    \
    X(TPI_CLASS_FULL, TP_UNWRITABLE, "the disk or the database is full", "make room and ask again")          \
    X(TPI_CLASS_DISK, TP_DB, "the disk failed", "")                                                          \
    X(TPI_CLASS_IN_TX, TP_DB, "a transaction is open", "")                                                   \
    X(TPI_CLASS_NO_TX, TP_DB, "no transaction is open", "")                                                  \
    X(TPI_CLASS_DENIED, TP_DB, "permission denied",                                                          \
      "share/taskpool/sql/DIALECT/admin/grants.sql grants what each kind of user needs")                     \
    X(TPI_CLASS_NO_DATABASE, TP_MISUSE, "no database is named", "add Database= to the connection string")    \
    X(TPI_CLASS_CURSORS, TP_CONFLICT, "no more statements can be prepared",                                  \
      "roll back and ask again, or have the server allow more of them")                                      \
    X(TPI_CLASS_INVALID, TP_SCHEMA, "a function or trigger of the pool does not compile",                    \
      "run 'taskpool schema install' again, or look into USER_ERRORS")

enum tpi_class {
#define TPI_CLASS_ENUM(id, status, text, hint) id,
    TPI_CLASS_LIST(TPI_CLASS_ENUM)
#undef TPI_CLASS_ENUM
        TPI_CLASS_COUNT
};

struct tpi_class_info {
    tp_status status;
    const char *text, *hint; /* hint: "" where there is nothing to do */
};

/* One line of a profile's error table; the first that fits counts. NULL state, native 0 and NULL text fit
 * any. A state is compared by its own length, so "08" fits the whole class. Natives from native to native_end
 * (when not 0). */
struct tpi_rule {
    const char *state;
    int32_t native, native_end;
    const char *text; /* part of the message */
    enum tpi_class class;
};

#define TPI_NO_RECONNECT                                                                                     \
    "a session that the driver reconnects by itself commits without being told to; take it out"

enum tpi_key_use {
    TPI_KEY_DEFAULT, /* added when absent */
    TPI_KEY_FIRST,   /* the same, and before the driver is known: what bounds the first connect too */
    TPI_KEY_APPEND,  /* added, or put in front of what is there */
    TPI_KEY_BITS,    /* where there is a number, these bits are set in it */
    TPI_KEY_REFUSE,  /* this value is refused */
    TPI_KEY_ONLY,    /* added when absent; any other value is refused */
    TPI_KEY_NEEDED,  /* must be there, unless a DSN is, which may have it */
    TPI_KEY_KNOWN,   /* only known: to find typing errors */
};
struct tpi_key {
    const char *name, *value;
    enum tpi_key_use use;
    const char *why; /* for TPI_KEY_REFUSE, TPI_KEY_ONLY and TPI_KEY_NEEDED */
};

/* What cannot be done in a session that is not as expected. Of our own nothing can. */
enum tpi_check_use {
    TPI_CHECK_ANYTHING, /* anything: such a connection cannot be borrowed */
    TPI_CHECK_READING,  /* all but putting in, which reads nothing */
    TPI_CHECK_TEXT,     /* the same, and putting in text that is not ASCII */
    TPI_CHECK_LINES,    /* reading text */
    TPI_CHECKS,
};

/* A question whose answer must be as expected. */
struct tpi_session_check {
    const char *sql;
    const char *expected; /* compared without case */
    const char *what;     /* what must be and why, for people */
    enum tpi_check_use use;
};

/* What a connection may have otherwise but should not: asked by the doctor only. */
struct tpi_advice {
    const char *name;          /* of the setting */
    const char *sql;           /* its value */
    const char *good;          /* compared without case */
    const char *what, *remedy; /* what another value does */
};

/* Messages to the server and back, to count round trips. */
struct tpi_trips {
    unsigned prepare, first_execute, execute, direct, begin, commit, rollback;
};

/* Every node of a cluster takes writes, and hears of the others' locks at a commit. */
#define TPI_MANY_WRITERS "many writers"
/* The server is a copy, which only reads; a commit waits for copies of which too few follow. */
#define TPI_IS_COPY      "a copy"
#define TPI_COMMITS_HANG "commits hang"

struct tpi_driver {
    const char *name;
    const char *const *modules; /* beginnings of SQL_DRIVER_NAME, ends with NULL */
    const char *server;         /* part of SQL_DBMS_NAME or SQL_DBMS_VER; NULL: any other server */
    const struct tpi_key *keys; /* ends with a NULL name */
    const struct tpi_rule *rules;
    size_t rule_count;
    const char *const *session; /* run after connecting our own connections, ends with NULL */
    const char *utc;            /* session time zone UTC, for a dialect that reads the clock as text */
    const struct tpi_session_check *checks; /* ends with a NULL sql */
    const struct tpi_advice *advice;        /* ends with a NULL sql; NULL: none */
    const char *begin, *commit, *rollback;  /* NULL: by SQL_ATTR_AUTOCOMMIT and SQLEndTran */
    const char *commit_begin;               /* both in one message; NULL: cannot be */
    /* Is a transaction open and sound, where other statements share the connection? tx_open is the answer
     * then; NULL: the probe is a statement that is then refused with TPI_CLASS_IN_TX. tx_ends_silently: an
     * error may end the transaction and what follows commits by itself, so each operation asks, not only the
     * commit. */
    const char *tx_probe;
    const char *tx_open;
    bool tx_ends_silently;
    /* Is the session in autocommit mode? "1" then. NULL: SQL_ATTR_AUTOCOMMIT says it truly;
     * autocommit_late: it may do so only once a statement has run. */
    const char *autocommit;
    bool autocommit_late;
    /* In autocommit mode: is a transaction open that the application began by a statement of its own?
     * own_tx_open is the answer then; NULL: own_tx is a statement that is then refused with TPI_CLASS_IN_TX,
     * and otherwise taken back by own_tx_undo (NULL: it has done nothing). own_tx NULL: it cannot be known.
     */
    const char *own_tx;
    const char *own_tx_open;
    const char *own_tx_undo;
    /* In a transaction of the application's at a level at which whatever others committed after its snapshot
     * is an error: set before what may meet that, then taken back to and ended, so that the transaction goes
     * on. NULL: there is nothing of the kind. */
    const char *savepoint, *savepoint_back, *savepoint_end;
    /* A commit that reports success must be checked for a lost connection; without tx_probe a statement goes
     * before it, which fails where the transaction does not stand any more. */
    bool commit_may_lie;
    const char *max_packet; /* asks for the longest statement the server takes, or NULL */
    const char *prepares;   /* how many statements the server has prepared for this session, or NULL */
    /* Ends when all that can be seen is where a commit waits for it to be, as on a standby. NULL: a commit
     * can be seen only when it is there, or waits for no other server. */
    const char *catch_up;
    /* Which servers are beside this one: TPI_MANY_WRITERS, TPI_IS_COPY, TPI_COMMITS_HANG, or what the doctor
     * is to say of them; NULL: cannot be asked. */
    const char *cluster;
    bool may_have_writers;    /* cluster may answer TPI_MANY_WRITERS */
    int16_t number_type;      /* SQL type of numbers that are bound */
    bool binds_int64;         /* they may be bound as SQL_C_SBIGINT, and not as text */
    bool binds_columns;       /* columns may be bound, and a value that was cut can be read by SQLGetData */
    bool rownum_sticks;       /* a prepared ROWNUM <= ? keeps the value of its first execution */
    bool grouping_spoils;     /* a prepared GROUP BY along an index reads all of it when it runs again */
    unsigned keeps_plans;     /* after so many runs the server may keep a statement's plan; 0: it does not */
    bool quotes_texts;        /* a quoted name that does not exist is a text, and no error */
    bool polls_for_lock;      /* waits for another writer by asking every few milliseconds */
    bool locking_reads;       /* the server has TPI_CAP_LOCKING_READ, by LOCK IN SHARE MODE */
    bool isolation_attribute; /* read committed is set, and seen, by SQL_ATTR_TXN_ISOLATION */
    struct tpi_trips trips;
    /* What helps where a pooler gives each transaction another session, which knows nothing of what was
     * prepared; NULL: only a session for each connection. */
    const char *pooler_remedy;
    /* For finding such a pooler: the server's number of the session; how many statements are prepared there;
     * which settings a session lacks, or has otherwise, by its user's defaults. NULL: cannot be asked. */
    const char *session_number, *prepared_count, *lacking_defaults;
    /* Takes braces in a statement's text for ODBC's own syntax, unless an attribute says that there are none.
     */
    bool scans_escapes;
    /* How many statements a connection keeps prepared; 0: the store's own limit. */
    unsigned prepared_max;
    /* Longest text, in bytes, that is bound as SQL_VARCHAR where the column is of a long type; 0: none is. */
    unsigned varchar_max;
    /* Where no session setting ends a wait for a lock: after so many seconds a statement that changes rows is
     * given up, by SQL_ATTR_QUERY_TIMEOUT; 0: never. */
    unsigned change_timeout_s;
};

/* The profile for what SQL_DRIVER_NAME says; never NULL. */
const struct tpi_driver *tpi_driver_for_module(const char *module);
/* The same for one of the servers that the driver reaches. */
const struct tpi_driver *tpi_driver_for_server(const char *module, const char *dbms_name,
                                               const char *dbms_version);
/* The i-th profile, NULL beyond the last. */
const struct tpi_driver *tpi_driver_at(size_t i);

enum tpi_class tpi_driver_classify(const struct tpi_driver *driver, const char *state, int32_t native,
                                   const char *text);
const struct tpi_class_info *tpi_class_info(enum tpi_class class);

#endif
