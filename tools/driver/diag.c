/* Errors: the driver's own, or the real one's. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

SQLRETURN fail(struct object *object, const char *state, SQLINTEGER native, const char *format, ...) {
    struct diag *diag = &object->diag;
    va_list list;
    va_start(list, format);
    vsnprintf(diag->text, sizeof diag->text, format, list);
    va_end(list);
    snprintf(diag->state, sizeof diag->state, "%s", state);
    diag->native = native;
    diag->is_set = true;
    diag->is_real = false;
    return SQL_ERROR;
}

void keep_diag(struct object *object) {
    struct diag *diag = &object->diag;
    SQLSMALLINT length = 0;
    if (!object->real) return;
    diag->is_real = diag->is_set = SQL_SUCCEEDED(
        object->dbc->call.SQLGetDiagRec(object->type, object->real, 1, (SQLCHAR *)diag->state, &diag->native,
                                        (SQLCHAR *)diag->text, sizeof diag->text, &length));
}

static SQLRETURN give_text(const char *from, void *out, SQLSMALLINT size, SQLSMALLINT *length) {
    if (length) *length = (SQLSMALLINT)strlen(from);
    if (!out || size <= 0) return SQL_SUCCESS_WITH_INFO;
    snprintf(out, (size_t)size, "%s", from);
    return strlen(from) < (size_t)size ? SQL_SUCCESS : SQL_SUCCESS_WITH_INFO;
}

SQLRETURN SQL_API SQLGetDiagRec(SQLSMALLINT type, SQLHANDLE h, SQLSMALLINT i, SQLCHAR *state,
                                SQLINTEGER *native, SQLCHAR *text, SQLSMALLINT size, SQLSMALLINT *length) {
    struct object *object = h;
    const struct diag *diag = &object->diag;
    if (!diag->is_set) return SQL_NO_DATA;
    if (i != 1 && diag->is_real)
        return object->dbc->call.SQLGetDiagRec(type, object->real, i, state, native, text, size, length);
    if (i != 1) return SQL_NO_DATA;
    if (state) memcpy(state, diag->state, sizeof diag->state);
    if (native) *native = diag->native;
    return give_text(diag->text, text, size, length);
}

SQLRETURN SQL_API SQLGetDiagField(SQLSMALLINT type, SQLHANDLE h, SQLSMALLINT i, SQLSMALLINT field,
                                  SQLPOINTER out, SQLSMALLINT size, SQLSMALLINT *length) {
    struct object *object = h;
    const struct diag *diag = &object->diag;
    if (object->real && (!diag->is_set || diag->is_real))
        return object->dbc->call.SQLGetDiagField(type, object->real, i, field, out, size, length);
    if (!diag->is_set || i > 1) return SQL_NO_DATA;
    switch (field) {
    case SQL_DIAG_NUMBER:
        *(SQLINTEGER *)out = 1;
        return SQL_SUCCESS;
    case SQL_DIAG_NATIVE:
        *(SQLINTEGER *)out = diag->native;
        return SQL_SUCCESS;
    case SQL_DIAG_SQLSTATE:
        return give_text(diag->state, out, size, length);
    case SQL_DIAG_MESSAGE_TEXT:
        return give_text(diag->text, out, size, length);
    case SQL_DIAG_CLASS_ORIGIN:
    case SQL_DIAG_SUBCLASS_ORIGIN:
        return give_text("ODBC 3.0", out, size, length);
    default:
        return SQL_ERROR;
    }
}
