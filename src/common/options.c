/* See options.h. */
#include "options.h"

struct common_options common;
