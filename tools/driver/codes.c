/* Errors: the driver's own, or the real one's; what the real drivers say, and how Oracle's and MySQL's own
 * say the same. Oracle's codes: its error messages; MySQL's driver hands on the server's codes, and has a
 * state of ODBC's for a few of them only. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum situation {
    OTHER,
    DUPLICATE,
    BUSY, /* NOWAIT's refusal */
    WAITED,
    DEADLOCK,
    SERIALIZATION,
    ABORTED,
    NO_TABLE,
    NO_COLUMN,
    TABLE_EXISTS,
    TOO_LONG,
    NOT_NULL,
    CHECK,
    CANCELLED,
    GONE,
    REFUSED,
    READ_ONLY,
    DENIED,
    SITUATIONS
};

/* The first that fits counts. NULL, 0: any. */
static const struct {
    const char *state;
    SQLINTEGER native, native_end;
    const char *text;
    enum situation situation;
} said[] = {
    {NULL, 1062, 0, NULL, DUPLICATE},
    {"23505", 0, 0, NULL, DUPLICATE},
    {"HY000", 19, 0, "UNIQUE", DUPLICATE},
    {NULL, 3572, 0, NULL, BUSY},
    {"55P03", 0, 0, "obtain", BUSY},
    {NULL, 1205, 0, NULL, WAITED},
    {"55P03", 0, 0, NULL, WAITED},
    {NULL, 1213, 0, NULL, DEADLOCK},
    {"40P01", 0, 0, NULL, DEADLOCK},
    {"40001", 0, 0, NULL, SERIALIZATION},
    {"25P02", 0, 0, NULL, ABORTED},
    {NULL, 1146, 0, NULL, NO_TABLE},
    {"42P01", 0, 0, NULL, NO_TABLE},
    {NULL, 1054, 0, NULL, NO_COLUMN},
    {"42703", 0, 0, NULL, NO_COLUMN},
    {NULL, 1050, 0, NULL, TABLE_EXISTS},
    {NULL, 1061, 0, NULL, TABLE_EXISTS},
    {NULL, 1359, 0, NULL, TABLE_EXISTS},
    {NULL, 1304, 0, NULL, TABLE_EXISTS},
    {"42P07", 0, 0, NULL, TABLE_EXISTS},
    {NULL, 1406, 0, NULL, TOO_LONG},
    {"22001", 0, 0, NULL, TOO_LONG},
    {NULL, 1048, 0, NULL, NOT_NULL},
    {"23502", 0, 0, NULL, NOT_NULL},
    {NULL, 4025, 0, NULL, CHECK},
    {NULL, 3819, 0, NULL, CHECK},
    {"23514", 0, 0, NULL, CHECK},
    {NULL, 1317, 0, NULL, CANCELLED},
    {NULL, 1969, 0, NULL, CANCELLED},
    {"57014", 0, 0, NULL, CANCELLED},
    {NULL, 2002, 2005, NULL, REFUSED},
    {NULL, 1045, 0, NULL, REFUSED},
    {"08001", 0, 0, NULL, REFUSED},
    {NULL, 2006, 2013, NULL, GONE},
    {"08", 0, 0, NULL, GONE},
    {"57P01", 0, 0, NULL, GONE},
    {"HY000", 8, 0, "SAVEPOINT", GONE},
    {NULL, 0, 0, "connection has been lost", GONE},
    {NULL, 0, 0, "terminating connection", GONE},
    {NULL, 1290, 0, NULL, READ_ONLY},
    {NULL, 1792, 0, NULL, READ_ONLY},
    {"25006", 0, 0, NULL, READ_ONLY},
    {NULL, 1142, 1143, NULL, DENIED},
    {"42501", 0, 0, NULL, DENIED},
};

struct code {
    const char *state;
    SQLINTEGER native;
    const char *text;
};

static const struct code oracle[SITUATIONS] = {
    [OTHER] = {"HY000", 600, "ORA-00600: internal error code"},
    [DUPLICATE] = {"23000", 1, "ORA-00001: unique constraint violated"},
    [BUSY] = {"HY000", 54, "ORA-00054: resource busy and acquire with NOWAIT specified or timeout expired"},
    [WAITED] = {"HYT00", 1013, "ORA-01013: user requested cancel of current operation"},
    [DEADLOCK] = {"HY000", 60, "ORA-00060: deadlock detected while waiting for resource"},
    [SERIALIZATION] = {"HY000", 8177, "ORA-08177: can't serialize access for this transaction"},
    [ABORTED] = {"HY000", 24761, "ORA-24761: transaction rolled back"},
    [NO_TABLE] = {"42S02", 942, "ORA-00942: table or view does not exist"},
    [NO_COLUMN] = {"42S22", 904, "ORA-00904: invalid identifier"},
    [TABLE_EXISTS] = {"42S01", 955, "ORA-00955: name is already used by an existing object"},
    [TOO_LONG] = {"HY000", 12899, "ORA-12899: value too large for column"},
    [NOT_NULL] = {"23000", 1400, "ORA-01400: cannot insert NULL"},
    [CHECK] = {"23000", 2290, "ORA-02290: check constraint violated"},
    [CANCELLED] = {"HY008", 1013, "ORA-01013: user requested cancel of current operation"},
    [GONE] = {"HY000", 3113, "ORA-03113: end-of-file on communication channel"},
    [REFUSED] = {"HY000", 12541, "ORA-12541: TNS:no listener"},
    [READ_ONLY] = {"HY000", 16000, "ORA-16000: database or pluggable database open for read-only access"},
    [DENIED] = {"HY000", 1031, "ORA-01031: insufficient privileges"},
};

static const struct code mssql[SITUATIONS] = {
    [OTHER] = {"42000", 50000, "an error"},
    [DUPLICATE] = {"23000", 2601, "Cannot insert duplicate key row in object with unique index"},
    [BUSY] = {"HYT00", 1222, "Lock request time out period exceeded."},
    [WAITED] = {"HYT00", 1222, "Lock request time out period exceeded."},
    [DEADLOCK] = {"40001", 1205, "Transaction was deadlocked and has been chosen as the deadlock victim."},
    [SERIALIZATION] = {"40001", 3960, "Snapshot isolation transaction aborted due to update conflict."},
    [ABORTED] = {"42000", 3930, "The current transaction cannot be committed."},
    [NO_TABLE] = {"42S02", 208, "Invalid object name."},
    [NO_COLUMN] = {"42S22", 207, "Invalid column name."},
    [TABLE_EXISTS] = {"42S01", 2714, "There is already an object with this name in the database."},
    [TOO_LONG] = {"22001", 2628, "String or binary data would be truncated."},
    [NOT_NULL] = {"23000", 515, "Cannot insert the value NULL into column."},
    [CHECK] = {"23000", 547, "The INSERT statement conflicted with the CHECK constraint."},
    [CANCELLED] = {"HY008", 0, "Operation canceled"},
    [GONE] = {"08S01", 10054, "TCP Provider: Error code 0x2746"},
    [REFUSED] = {"08001", 10061, "TCP Provider: Error code 0x274D"},
    [READ_ONLY] = {"25000", 3906, "Failed to update database because the database is read-only."},
    [DENIED] = {"42000", 229, "The permission was denied on the object."},
};

static bool fits(size_t i, const struct diag *diag) {
    SQLINTEGER end = said[i].native_end ? said[i].native_end : said[i].native;
    if (said[i].state && strncmp(said[i].state, diag->state, strlen(said[i].state)) != 0) return false;
    if (said[i].native && (diag->native < said[i].native || diag->native > end)) return false;
    return !said[i].text || strstr(diag->text, said[i].text);
}

static enum situation situation_of(const struct diag *diag) {
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (fits(i, diag)) return said[i].situation;
    return OTHER;
}

bool code_is_duplicate(const struct object *object) {
    return object->diag.is_set && situation_of(&object->diag) == DUPLICATE;
}

static void say(struct diag *diag, const struct code *code) {
    char text[sizeof diag->text];
    snprintf(text, sizeof text, "%s; it was: %.380s", code->text, diag->text);
    memcpy(diag->text, text, sizeof text);
    snprintf(diag->state, sizeof diag->state, "%s", code->state);
    diag->native = code->native;
}

/* MariaDB has one code for a refusal and for a wait that ended. */
static enum situation of_statement(const struct object *object, enum situation situation) {
    const struct stmt *stmt = object->type == SQL_HANDLE_STMT ? (const struct stmt *)object : NULL;
    if (situation != WAITED || !stmt || !stmt->text) return situation;
    return strstr(stmt->text, "NOWAIT") ? BUSY : WAITED;
}

static void say_as_mysql(struct diag *diag, enum situation situation) {
    static const struct {
        SQLINTEGER native;
        const char *state;
    } states[] = {{1062, "23000"}, {1064, "42000"}, {1305, "42000"}, {1050, "42S01"}, {1146, "42S02"},
                  {1054, "42S22"}, {2006, "08S01"}, {2013, "08S01"}, {2055, "08S01"}};
    const char *state = "HY000";
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (states[i].native == diag->native) state = states[i].state;
    snprintf(diag->state, sizeof diag->state, "%s", state);
    if (situation == BUSY) diag->native = 3572;
}

void code_translate(struct object *object) {
    struct diag *diag = &object->diag;
    const struct habits *habits = object->dbc ? &object->dbc->habits : NULL;
    bool warns = strncmp(diag->state, "01", 2) == 0;
    if (!habits || !diag->is_set || !diag->is_real || warns) return;
    enum situation situation = of_statement(object, situation_of(diag));
    const struct code *codes = habits->oracle_codes ? oracle : habits->mssql_codes ? mssql : NULL;
    bool translated = codes || habits->mysql_codes;
    if (translated) diag->is_real = false; /* the real one's is not asked for any more */
    if (codes && (situation != OTHER || diag->native))
        say(diag, &codes[situation]);
    else if (habits->mysql_codes)
        say_as_mysql(diag, situation);
    else if (habits->endless_waits && situation == WAITED)
        snprintf(diag->state, sizeof diag->state, "HYT00");
}

/* ---- What is wrong with a handle ------------------------------------------------------------------------
 */

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
