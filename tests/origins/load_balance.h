/* Between the files of design E. */
#ifndef TESTS_ORIGINS_LOAD_BALANCE_H
#define TESTS_ORIGINS_LOAD_BALANCE_H

#include "taskpool.h"

/* Due tasks, two for each biz_key, with numbers chosen by the library. */
void put_spread(const char *handler, size_t count, tp_sharding spread, int shards);

#endif
