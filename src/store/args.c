/* Stores and finds the values of a statement's named parameters. See args.h. */
#include "store/args.h"

#include <stdlib.h>
#include <string.h>

void tpi_args_text(struct tpi_args *args, enum tpi_param param, const char *text) {
    struct tpi_arg *arg = &args->one[param];
    arg->text = text && *text ? text : NULL;
    arg->length = arg->text ? strlen(text) : 0;
    arg->is_number = false;
}

void tpi_args_number(struct tpi_args *args, enum tpi_param param, int64_t number) {
    struct tpi_arg *arg = &args->one[param];
    arg->text = NULL;
    arg->is_number = true;
    arg->number = number;
}

void tpi_args_list(struct tpi_args *args, const char *const *items, size_t count) {
    args->list = items;
    args->list_count = count;
}

void tpi_args_numbers(struct tpi_args *args, const char *const *digits, size_t count) {
    args->numbers = digits;
    args->number_count = count;
}

void tpi_args_shard(struct tpi_args *args, const char *const *digits) {
    tpi_args_text(args, TPI_P_shard, *digits);
    tpi_args_numbers(args, digits, *digits ? 1 : 0);
}

int64_t tpi_args_value(const struct tpi_args *args, enum tpi_param param) {
    const struct tpi_arg *arg = &args->one[param];
    if (arg->is_number) return arg->number;
    return arg->text ? strtoll(arg->text, NULL, 10) : 0;
}

bool tpi_args_used(const struct tpi_sql *sql, enum tpi_param param) {
    for (size_t i = 0; i < sql->param_count; i++)
        if (sql->params[i] == param) return true;
    return false;
}
