/* Stands in for messages.c and out.c of the program. */
#ifndef FUZZ_CLI_H
#define FUZZ_CLI_H

#include "cli/cli.h"

/* All that was said since it was last emptied. */
extern char fuzz_said[65536];

#endif
