/* The functions that are handed on as they are. */
#include "driver.h"

#define FUNCTION(name, parameters, arguments)                                                                \
    SQLRETURN SQL_API name parameters {                                                                      \
        struct object *object = h;                                                                           \
        if (!call_begin(object, #name)) return SQL_ERROR;                                                    \
        h = object->real;                                                                                    \
        return call_end(object, #name, object->dbc->call.name arguments);                                    \
    }
PASSED_FUNCTIONS(FUNCTION)
