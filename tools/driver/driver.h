/* An ODBC driver for tests: it hands each call on to a real driver and takes on habits of others, chosen by
 * its connection string. README.md lists them. This header is its inside: handles, what every call begins and
 * ends with, and errors of its own. Read next: calls.c. */
#ifndef TOOLS_DRIVER_DRIVER_H
#define TOOLS_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions.h"
#include "habits.h"

struct dbc;

/* The error or warning of the last call: the driver's own, or the real one's first, which some drivers tell
 * once only. */
struct diag {
    bool is_set, is_real;
    char state[6];
    SQLINTEGER native;
    char text[512];
};

/* What every handle begins with. */
struct object {
    SQLSMALLINT type; /* SQL_HANDLE_... */
    SQLHANDLE real;
    struct dbc *dbc; /* whose functions; NULL of an environment */
    struct diag diag;
};

struct env {
    struct object object;
    SQLPOINTER version;
};

enum { ATTRS_MAX = 16 };

/* Set before there is a connection. */
struct attr {
    SQLINTEGER name, length;
    SQLPOINTER value;
};

struct dbc {
    struct object object;
    struct env *env;
    void *library; /* NULL: not connected */
    struct functions call;
    SQLHENV real_env;
    struct attr attrs[ATTRS_MAX];
    size_t attr_count;
    struct habits habits;
    struct stmt *stmts; /* all that are allocated */
    struct stmt *busy;  /* has rows left to fetch */
    long wait;          /* for locks, as it is set; 0: not yet */
    bool told_late;     /* the mode of before is told */
    SQLUINTEGER autocommit, old_autocommit;
};

struct param {
    SQLSMALLINT type;
    SQLLEN *theirs, ours;
};

/* A value that habits changed, while it is fetched. */
struct value {
    SQLUSMALLINT column; /* 0: none */
    bool is_null, over;
    char *data;
    size_t length, given;
};

struct desc {
    struct object object;
};

struct stmt {
    struct object object;
    struct stmt *next;
    struct desc descs[4]; /* the statement's own; real is NULL until they are asked for */
    char *text;           /* NULL: none, so it is no cursor of the server's */
    bool prepared, lost, unmade;
    SQLULEN timeout;
    struct param *params;
    size_t param_count;
    struct value value;
};

/* Clears the handle's error. False: the call is not to be made, and failed. */
bool call_begin(struct object *object, const char *function);
/* What becomes of the real driver's answer. */
SQLRETURN call_end(struct object *object, const char *function, SQLRETURN answer);

/* Keeps the real driver's error. */
void keep_diag(struct object *object);
/* Sets the error of its own. */
SQLRETURN fail(struct object *object, const char *state, SQLINTEGER native, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Frees the statements that the application left to SQLDisconnect, whose real ones are freed by it. */
void forget_all(struct dbc *dbc);

#endif
