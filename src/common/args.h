/* Command lines of all programs: options, help, where the connection string comes from, and connecting. Must
 * not know commands. */
#ifndef COMMON_ARGS_H
#define COMMON_ARGS_H

#include <popt.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "messages.h"
#include "options.h"

extern struct poptOption common_table[];
#define COMMON_OPTIONS                                                                                       \
    { NULL, '\0', POPT_ARG_INCLUDE_TABLE, common_table, 0, "Options of all commands:", NULL }
#define OPTION_TEXT(name, letter, slot, arg, text)                                                           \
    { name, letter, POPT_ARG_STRING, slot, 0, text, arg }
#define OPTION_FLAG(name, letter, slot, text)                                                                \
    { name, letter, POPT_ARG_NONE, slot, 0, text, NULL }

#define OPTION_CSV OPTION_FLAG("csv", '\0', &common.csv, "output as CSV (RFC 4180), times in UTC")

struct usage {
    const char *arguments; /* as shown behind the command's name */
    const char *about;     /* what it does; whole lines */
    const char *examples;  /* whole lines */
    struct poptOption *options;
    size_t least, most; /* how many arguments */
};

/* Makes the process list forget a --dsn, before anything else reads the arguments. */
void args_hide_dsn(int argc, char **argv);

/* For a program that replaces this one: these options get their values by the environment, where nobody
 * else sees them, and argv only shows that there are some. The other one takes them over, or hides its own.
 */
void args_hand_over(const char **argv);
void args_take_over(int argc, char **argv);
/* Reads argv by the table and gives the arguments that are no options, then NULL. Shows the help and ends the
 * program when it was asked for. */
const char **args_read(const struct usage *usage, int argc, const char **argv);
/* Reports a mistake on the command line and ends the program. */
NO_RETURN void args_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* How much of an argument a message may show: up to a =. Behind it may stand a password: of a mistyped
 * --dsn=, or of one that was taken for the value of the option before. */
int args_shown(const char *text);

/* Readers of option values, for text that may be NULL (value stays). A mistake ends the program. */
void args_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *value);
void args_duration(const char *option, const char *text, int64_t *ms);
void args_time(const char *option, const char *text, int64_t *ms);

/* The environment of the connection string, which comes from --dsn, --dsn-file or TASKPOOL_DSN. To be closed
 * by the caller. A failure was reported. */
enum cli_exit args_open_env(tp_env **env);
/* That of a file with a connection string. */
enum cli_exit args_open_env_of(const char *path, tp_env **env);
/* The program's connection, which is closed at its end; without one the program ends. args_connect also
 * checks that the tables are those that this program knows; called again it gives the same one. */
tp_conn *args_connect_unchecked(void);
tp_conn *args_connect(void);
/* The environment of that connection. */
tp_env *args_env(void);
/* From here on nobody else gets at files that we make: a database may be one. Gives the umask before. */
mode_t args_own_files(void);

#endif
