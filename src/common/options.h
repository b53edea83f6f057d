/* The options that all commands have. Read next: args.h, which reads them. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

/* What every command has. Text of options is kept until the program ends. */
struct common_options {
    char *dsn;
    char *dsn_file;
    int json;
    int csv; /* of commands with OPTION_CSV */
    int quiet;
    int help;
    char *color;
    int no_pager;
    int local_time;
};
extern struct common_options common;

#endif
