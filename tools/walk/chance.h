/* Chance that a seed repeats, and the faults that it throws. */
#ifndef TOOLS_WALK_CHANCE_H
#define TOOLS_WALK_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "taskpool_odbc.h"

void chance_open(uint64_t seed);
/* 0 to sides - 1. */
unsigned chance(unsigned sides);

/* From now on calls to the driver fail at random, or none do; sessions of pool.eye and pool.b never. */
void chance_faults(bool on);
int chance_fault_count(void);
/* The connection is lost: what is left of it on the server ends. session: its number. */
void chance_lose(tp_conn *conn, long session);

#endif
