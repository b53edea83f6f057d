/* Reads the parameters of a task from an argument or from standard input, and refuses what no database could
 * store. */
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H

#include "cli.h"

/* arg is the text, - for standard input, or NULL for none. NULL: the mistake was reported, with *code. The
 * caller frees it. */
char *params_get(const char *arg, enum cli_exit *code);

#endif
