/* Parameters of a task as a command line gives them. */
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H

#include "cli.h"

/* arg is the text, - for standard input, or NULL for none. NULL: the mistake was told, with *code. The caller
 * frees it. */
char *params_get(const char *arg, enum cli_exit *code);

#endif
