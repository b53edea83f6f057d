/* What the driver may take on, by words of its connection string: Habits=cursors:50,no_bigint. A word without
 * a number counts as 1. */
#ifndef TOOLS_DRIVER_HABITS_H
#define TOOLS_DRIVER_HABITS_H

#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

struct dbc;
struct stmt;
struct object;

/* Values, of what was prepared; a test's own statements, which are executed directly, are left alone. */
#define HABITS_OF_VALUES(X)                                                                                  \
    X(pieces)        /* text comes in pieces that end at a character, before their room is full */           \
    X(no_total)      /* of a piece it is not said how much is left */                                        \
    X(exponents)     /* whole numbers without a precision as 1.7E+12 */                                      \
    X(empty_null)    /* '' is NULL, in parameters and results */                                             \
    X(padded)        /* CHAR, as which short literals come, has blanks up to its size */                     \
    X(whole_seconds) /* times without fractions */

#define HABITS_OF_CALLS(X)                                                                                   \
    X(no_bigint)        /* no SQL_C_SBIGINT */                                                               \
    X(no_login_timeout) /* SQL_ATTR_LOGIN_TIMEOUT is refused */                                              \
    X(late_autocommit)  /* SQL_ATTR_AUTOCOMMIT is read as it was until the next statement */                 \
    X(no_counts)        /* SQLRowCount says -1 */                                                            \
    X(no_query_counts)  /* of queries */

#define HABITS_OF_STATEMENTS(X)                                                                              \
    X(long_in_values)   /* SQL_LONGVARCHAR parameters in VALUES and SET only: ORA-01461, ORA-24816 */        \
    X(compile_warning)  /* making a function, trigger or procedure warns: ORA-24344 */                       \
    X(cursors)          /* n statements at a time: ORA-01000 */                                              \
    X(lost_prepares)    /* at each n-th execution the server does not know what was prepared */              \
    X(one_statement)    /* refused while another has rows left to fetch */                                   \
    X(fatal_duplicates) /* a key that is there rolls the transaction back */                                 \
    X(endless_waits)    /* no setting ends a wait for a lock, but SQL_ATTR_QUERY_TIMEOUT, after n seconds */ \
    X(rownum_afresh) /* no habit: MariaDB keeps the first ROWNUM <= ? of what is prepared, Oracle does not   \
                      */

/* The codes of another driver for what the real one says. */
#define HABITS_OF_ERRORS(X)                                                                                  \
    X(oracle_codes)                                                                                          \
    X(mysql_codes)                                                                                           \
    X(mssql_codes)

#define HABIT_LIST(X)                                                                                        \
    HABITS_OF_VALUES(X)                                                                                      \
    HABITS_OF_CALLS(X)                                                                                       \
    HABITS_OF_STATEMENTS(X)                                                                                  \
    HABITS_OF_ERRORS(X)

/* Fault=FUNCTION:n:STATE:native: the n-th call of the function on the connection fails so; with :done behind
 * it, though it is made. */
struct fault {
    char function[32], state[6];
    long n, native, seen;
    bool done;
};

enum { FAULTS_MAX = 4 };

struct habits {
#define HABIT(name) long name;
    HABIT_LIST(HABIT)
#undef HABIT
    char named[64]; /* what SQL_DRIVER_NAME is to be; "": the real driver's */
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
};

/* False: a word that there is not, which is then in *wrong. Both change list. */
bool habits_read(struct habits *habits, char *list, const char **wrong);
bool habits_read_faults(struct habits *habits, char *list, const char **wrong);

/* ---- statements.c: each answers false, or SQL_ERROR, with an error set -----------------------------------
 */

/* Before the text goes to the real driver. */
bool statement_opens(struct stmt *stmt, const char *text, SQLINTEGER length);
bool statement_begins(struct stmt *stmt, bool prepared);
SQLRETURN statement_ends(struct stmt *stmt, SQLRETURN answer);
/* Its rows are gone. */
void statement_closes(struct stmt *stmt);
void statement_frees(struct stmt *stmt);

/* ---- parameters.c -------------------------------------------------------------------------------------- */

/* What the real driver is to take for the length. */
SQLLEN *parameter_binds(struct stmt *stmt, size_t i, SQLSMALLINT type, SQLLEN *indicator);
bool parameters_fit(struct stmt *stmt);

/* ---- statements.c, waits ------------------------------------------------------------------------------- */

/* Is this a setting that is passed over? */
bool wait_setting(const struct stmt *stmt);
bool wait_begins(struct stmt *stmt);

/* ---- values.c ------------------------------------------------------------------------------------------ */

/* Is the value one that habits change? Then it is given by value_get. */
bool value_changes(const struct stmt *stmt, SQLSMALLINT type);
SQLRETURN value_get(struct stmt *stmt, SQLUSMALLINT column, char *out, SQLLEN room, SQLLEN *left);
void value_forget(struct stmt *stmt);

/* ---- codes.c ------------------------------------------------------------------------------------------- */

/* Another driver's code for the error that was kept. */
void code_translate(struct object *object);
bool code_is_duplicate(const struct object *object);

#endif
