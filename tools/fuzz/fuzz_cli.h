/* Stands in for messages.c and out.c of the programs. */
#ifndef FUZZ_CLI_H
#define FUZZ_CLI_H

#include "common/messages.h"

/* All that was said since it was last emptied. */
extern char fuzz_said[65536];

#endif
