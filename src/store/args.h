/* Values for the named parameters of one statement. Text is not copied: it must live until the statement has
 * run. */
#ifndef TPI_STORE_ARGS_H
#define TPI_STORE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dialect/dialect.h"

struct tpi_arg {
    const char *text; /* NULL: SQL NULL, or a number */
    size_t length;
    bool is_number;
    int64_t number;
    char digits[TPI_DIGITS_SIZE]; /* for the number's text, where the driver is to get that */
};

struct tpi_args {
    struct tpi_arg one[TPI_PARAM_COUNT];
    const char *const *list; /* for the statement's list parameter, wherever it stands */
    size_t list_count;
    const char *const *numbers; /* for its one list of numbers, as digits */
    size_t number_count;
};

/* text NULL or "": SQL NULL, because one of the databases does not know the difference. */
void tpi_args_text(struct tpi_args *args, enum tpi_param param, const char *text);
void tpi_args_number(struct tpi_args *args, enum tpi_param param, int64_t number);
void tpi_args_list(struct tpi_args *args, const char *const *items, size_t count);
void tpi_args_numbers(struct tpi_args *args, const char *const *digits, size_t count);
/* One shard: :shard, and :shards in the optional part. *digits must live as long as the text; NULL there: the
 * part is left out. */
void tpi_args_shard(struct tpi_args *args, const char *const *digits);

/* The number that was given; 0: none. */
int64_t tpi_args_value(const struct tpi_args *args, enum tpi_param param);
/* Does the statement name the parameter? */
bool tpi_args_used(const struct tpi_sql *sql, enum tpi_param param);

#endif
