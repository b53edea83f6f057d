/* One ODBC connection, ours or the caller's, and what is known of it. One thread at a time. Every call to the
 * driver goes through TPI_ODBC below, which counts it, traces it and lets tests make it fail; every error is
 * read by tpi_link_failed, which decides what it means and whether the connection lives. Read next: stmt.h,
 * tx.c. */
#ifndef TPI_ODBC_LINK_H
#define TPI_ODBC_LINK_H

#include <sql.h>
#include <sqlext.h>
#include <stdbool.h>

#include "odbc/driver.h"
#include "taskpool.h"

/* The words of the last error that the driver reported. */
struct tpi_diag {
    char state[6];
    int32_t native;
    char text[512];
};

enum tpi_tx {
    TPI_TX_NONE,   /* each statement commits by itself */
    TPI_TX_OPEN,   /* between begin and commit */
    TPI_TX_DOOMED, /* open, but something failed: it can only be rolled back */
};

/* What a test makes of a call. */
enum tpi_fault {
    TPI_FAULT_NONE,
    TPI_FAULT_NOT_SENT,    /* the call is not made and fails */
    TPI_FAULT_ANSWER_LOST, /* the call is made, its answer is replaced by a failure */
};

struct tpi_source;

/* Of a transaction. */
struct tpi_tx_state {
    bool used; /* something was executed since it began */
    bool seen; /* what an earlier try may have stored was read; it must also be where commits wait for it */
    /* Why it is lost, or cannot be written, though its statements may be right. TP_OK: nothing of the kind is
     * known. */
    tp_status lost;
    /* On a borrowed connection the server forgot what was prepared: a driver may never end going back to a
     * savepoint then. */
    bool forgot;
};

/* What answers at the other end. */
struct tpi_software {
    char dbms_name[64], dbms_version[64], driver_name[64], driver_version[64];
    char server[128], database[256]; /* for people; "": not known */
};

struct tpi_link {
    SQLHDBC dbc;
    SQLHSTMT tx_handle; /* for tpi_stmt_tx; NULL until it is needed */
    bool owned;
    bool dead;   /* only closing is left */
    bool shared; /* the application has dbc, and may run statements of its own in a transaction */
    bool utc;    /* the session's time zone was to be UTC */
    /* The server no longer knows what was prepared, and nothing that was done hangs on this session: another
     * one, or on a borrowed connection this one, can do the same. */
    bool forgotten;
    bool forgets; /* on a borrowed one it did so before: nothing is kept prepared, so that it happens once */
    bool single_primary; /* asked of this session: of a cluster one node at most takes writes */
    enum tpi_tx tx;
    struct tpi_tx_state tx_state;
    const struct tpi_driver *driver;
    const char *statement;     /* name of the statement that runs, for errors and traces; a constant */
    struct tpi_source *source; /* whose passwords are kept out of error texts; NULL: a borrowed one */
    bool has_write_slot;       /* see slot.h */
    struct tpi_diag diag;
    tp_counters counters;
    struct {
        int64_t began_us;
        enum tpi_fault fault;
    } call; /* that runs */
    struct tpi_software software;
};

/* How names are written where any may be reserved. */
struct tpi_names {
    char quote[8];       /* "": not at all */
    SQLUSMALLINT stored; /* the case of unquoted names: SQL_IC_UPPER, SQL_IC_LOWER, or as they are written */
};

/* ---- The choke point --------------------------------------------------------------------------------- */

/* NULL outside tests. Asked before each call; fills link->diag's state, native and text for the failure. */
extern enum tpi_fault (*tpi_link_fault)(struct tpi_link *link, const char *function);

/* True: make the call. */
bool tpi_link_call_begin(struct tpi_link *link, const char *function);
SQLRETURN tpi_link_call_end(struct tpi_link *link, const char *function, SQLRETURN answer);
#define TPI_ODBC(link, function, ...)                                                                        \
    tpi_link_call_end((link), #function,                                                                     \
                      tpi_link_call_begin((link), #function) ? function(__VA_ARGS__) : SQL_ERROR)

/* For calls whose failure changes nothing (freeing, asking what went wrong): counted and traced, never made
 * to fail. */
#define TPI_ODBC_SURE(link, function, ...)                                                                   \
    (tpi_link_call_count(link), tpi_link_call_end((link), #function, function(__VA_ARGS__)))
void tpi_link_call_count(struct tpi_link *link);

/* Reads the diagnostics of a failed call, notes the error with its text and returns its status. A failure
 * inside a transaction dooms it; a lost connection sets dead. */
TP_CHECKED tp_status tpi_link_failed(struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle);

/* Is the thread's last error one that a driver reported, and of this class? */
bool tpi_link_failed_as(enum tpi_class class);

/* What the warning of a call that did its work means. */
enum tpi_class tpi_link_warning(struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle);

/* What the driver says of the connection; it knows best once a call has failed. */
bool tpi_link_ask_dead(struct tpi_link *link);

/* ---- Connecting -------------------------------------------------------------------------------------- */

/* utc: the session's time zone is to be UTC. */
TP_CHECKED tp_status tpi_link_open(struct tpi_link *link, struct tpi_source *source, bool utc);
/* Is the connection in autocommit mode? TP_CONFLICT: the server has rolled back what was open. */
TP_CHECKED tp_status tpi_link_autocommit(struct tpi_link *link, bool *on);
/* The same by the driver's attribute alone: without the server, which may know of another mode. */
bool tpi_link_autocommit_set(struct tpi_link *link);
/* In autocommit mode: is a transaction open that the application began by a statement of its own? False also
 * where the driver's profile cannot say. */
TP_CHECKED tp_status tpi_link_own_tx(struct tpi_link *link, bool *open);
/* After forgotten: a new session, in a transaction if this one was. */
TP_CHECKED tp_status tpi_link_renew(struct tpi_link *link);
/* Takes the caller's connection; verifies the session, changes nothing. */
TP_CHECKED tp_status tpi_link_borrow(struct tpi_link *link, SQLHDBC dbc);
/* TP_UNSUPPORTED with the reason where a borrowed session cannot be used for more than putting tasks in. It
 * is asked each time: the application may set it otherwise. */
TP_CHECKED tp_status tpi_link_ask_all(struct tpi_link *link);
/* For reading, asked anew where the application may have set this very transaction otherwise: on a borrowed
 * connection, and on our own once its handle was given out. */
TP_CHECKED tp_status tpi_link_ask_reading(struct tpi_link *link);
/* The same for text that is not ASCII, of a borrowed connection; read: for any text that is stored. */
TP_CHECKED tp_status tpi_link_ask_text(struct tpi_link *link, bool read);
/* May a borrowed connection read what others have not committed? */
TP_CHECKED tp_status tpi_link_ask_uncommitted(struct tpi_link *link, bool *reads);
/* What the driver says of it. */
TP_CHECKED tp_status tpi_link_names(struct tpi_link *link, struct tpi_names *names);
/* The driver manager's name and version; "" when it does not say. */
void tpi_link_manager(struct tpi_link *link, char *out, size_t size);
/* Rolls back what is open and disconnects, unless borrowed. */
void tpi_link_close(struct tpi_link *link);

/* ---- Transactions ------------------------------------------------------------------------------------ */

TP_CHECKED tp_status tpi_link_begin(struct tpi_link *link);
/* Where an error of somebody else's statement may have ended the open transaction: TP_CONFLICT if it did. */
TP_CHECKED tp_status tpi_link_check_tx(struct tpi_link *link);
/* A doomed transaction is rolled back: TP_CONFLICT. */
TP_CHECKED tp_status tpi_link_commit(struct tpi_link *link);
/* Inside a transaction: tx_lost with its text, also when the application's own statements met it. */
TP_CHECKED tp_status tpi_link_tx_lost(struct tpi_link *link);
/* And begins the next in the same message. TP_NONE: committed only, this driver cannot. */
TP_CHECKED tp_status tpi_link_commit_begin(struct tpi_link *link);
/* In the transaction of a borrowed connection whose level makes an error of what others committed after its
 * snapshot; *set: there is a savepoint, for tpi_link_savepoint_end. */
TP_CHECKED tp_status tpi_link_savepoint(struct tpi_link *link, bool *set);
/* Gives status, after a failure with words. *undone: what was done since is taken back, for sure, and the
 * application's transaction goes on; else after a failure it can only be rolled back. */
TP_CHECKED tp_status tpi_link_savepoint_end(struct tpi_link *link, tp_status status, bool *undone);
/* Never fails from the caller's view: what cannot be rolled back is dead. */
void tpi_link_rollback(struct tpi_link *link);
void tpi_link_doom(struct tpi_link *link);
/* May a statement be sent? Not on a lost connection, and not between an error in a transaction and its
 * rollback. */
TP_CHECKED tp_status tpi_link_usable(const struct tpi_link *link);
/* What was to be done in the transaction is missing there for want of memory: dooms it. */
TP_CHECKED tp_status tpi_link_no_memory(struct tpi_link *link);

#endif
