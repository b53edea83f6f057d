/* The pools and states that a task may be in, for loops over them. */
#ifndef TESTS_CONFORMANCE_PLACES_H
#define TESTS_CONFORMANCE_PLACES_H

#include "core/fsm.h"

struct place {
    enum tpi_pool pool;
    enum tpi_state state;
};
enum { PLACES = 6 };
static const struct place places[PLACES] = {
    {TPI_POOL_PENDING, TPI_STATE_PENDING},  {TPI_POOL_PENDING, TPI_STATE_HANDLING},
    {TPI_POOL_PENDING, TPI_STATE_FAILED},   {TPI_POOL_FINISHED, TPI_STATE_DONE},
    {TPI_POOL_FINISHED, TPI_STATE_SKIPPED}, {TPI_POOL_FAILED, TPI_STATE_FAILED}};

#endif
