/* Reads and writes ODBC connection strings: KEY=value;KEY={value};... In braces }} is one closing brace. Pure
 * text; must not know any driver. Read next: source.h. */
#ifndef TPI_ODBC_CONNSTR_H
#define TPI_ODBC_CONNSTR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "taskpool.h"

struct tpi_pair {
    char *key;
    char *value; /* without braces */
    bool bare;   /* it came without them, and some drivers take braces for part of a value */
};

struct tpi_connstr {
    struct tpi_pair *pairs;
    size_t count;
};

/* Blanks around keys and outside braces are dropped. An error names the part, never its value. */
TP_CHECKED tp_status tpi_connstr_parse(const char *text, struct tpi_connstr *out);
/* Overwrites the values first. */
void tpi_connstr_free(struct tpi_connstr *cs);
/* The value of the first pair with this key, case aside; NULL when absent. */
const char *tpi_connstr_get(const struct tpi_connstr *cs, const char *key);
/* Takes the pair out. False: absent. The value goes to *value, to be freed, unless value is NULL. */
bool tpi_connstr_take(struct tpi_connstr *cs, const char *key, char **value);
/* Sets or adds. False: no memory. */
bool tpi_connstr_set(struct tpi_connstr *cs, const char *key, const char *value);
bool tpi_connstr_copy(const struct tpi_connstr *from, struct tpi_connstr *to);
/* Writes the string for SQLDriverConnect, with braces where needed, but none around what came without. */
void tpi_connstr_write(const struct tpi_connstr *cs, struct tpi_buf *out);

/* A value fit to be shown: anything but a word may hold what slid into it from the next key. */
const char *tpi_connstr_shown(const char *value);

/* Are the two keys so alike, yet not the same, that one is likely a typing error? */
bool tpi_connstr_alike(const char *a, const char *b);

#endif
