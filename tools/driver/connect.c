/* Connecting: the driver's own keys are taken out of the connection string, the real driver is loaded, and
 * what was set before is set there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver.h"

enum { TEXT = 4096, REAL = 512 };

/* ---- The connection string ----------------------------------------------------------------------------- */

/* Where the pair that begins here ends: at its ; or the end. */
static const char *end_of_pair(const char *at) {
    const char *value = at + strcspn(at, "=;");
    if (*value == '=' && value[1] == '{')
        for (value += 2; *value && (value[0] != '}' || value[1] == '}'); value++)
            value += *value == '}';
    return value + strcspn(value, ";");
}

static bool has_key(const char *pair, const char *key) {
    return strncasecmp(pair, key, strlen(key)) == 0 && pair[strlen(key)] == '=';
}

/* Is it the driver's own? Its value is then kept, without braces. */
static bool take(struct dbc *dbc, const char *pair, size_t length, char real[REAL], bool *right) {
    char value[REAL];
    const char *start = memchr(pair, '=', length);
    const char *wrong = "";
    if (!start) return false;
    size_t left = length - (size_t)(start + 1 - pair);
    bool braced = left > 1 && start[1] == '{';
    snprintf(value, sizeof value, "%.*s", (int)(left - (braced ? 2 : 0)), start + 1 + braced);
    if (has_key(pair, "Driver")) return true;
    if (has_key(pair, "Real"))
        memcpy(real, value, REAL);
    else if (has_key(pair, "Named"))
        snprintf(dbc->habits.named, sizeof dbc->habits.named, "%.63s", value);
    else if (has_key(pair, "Habits"))
        *right = *right && habits_read(&dbc->habits, value, &wrong);
    else if (has_key(pair, "Fault"))
        *right = *right && habits_read_faults(&dbc->habits, value, &wrong);
    else
        return false;
    if (!*right && !dbc->object.diag.is_set)
        fail(&dbc->object, "HY000", 0, "the driver for tests has no habit %s", wrong);
    return true;
}

/* Driver= goes to the end, with the real one's. False: an error was set. */
static bool split(struct dbc *dbc, const char *given, char real[REAL], char *out, size_t size) {
    size_t used = 0;
    bool right = true;
    real[0] = '\0';
    for (const char *at = given; *at;) {
        const char *end = end_of_pair(at);
        size_t length = (size_t)(end - at);
        if (!take(dbc, at, length, real, &right) && used + length + 2 < size)
            used += (size_t)snprintf(out + used, size - used, "%.*s;", (int)length, at);
        at = *end ? end + 1 : end;
    }
    if (right && !real[0]) {
        fail(&dbc->object, "HY000", 0, "the driver for tests needs Real=, the path of a driver");
        return false;
    }
    return right && snprintf(out + used, size - used, "Driver=%s;", real) < (int)(size - used);
}

/* ---- The real driver ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define OWN(name)                           {#name, offsetof(struct functions, name)},
#define PASSED(name, parameters, arguments) OWN(name)
    OWN_FUNCTIONS(OWN) PASSED_FUNCTIONS(PASSED)
#undef PASSED
#undef OWN
};

/* It stays loaded: what the manager unloads and loads with each connection is this driver. */
static bool load(struct dbc *dbc, const char *real) {
    dbc->library = dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!dbc->library) {
        fail(&dbc->object, "HY000", 0, "the real driver cannot be loaded: %s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(dbc->library, functions[i].name);
        memcpy((char *)&dbc->call + functions[i].offset, &function, sizeof function);
    }
    return true;
}

static SQLRETURN alloc_real(struct dbc *dbc) {
    const struct functions *call = &dbc->call;
    SQLRETURN answer = call->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &dbc->real_env);
    if (!SQL_SUCCEEDED(answer)) return fail(&dbc->object, "HY001", 0, "no environment");
    call->SQLSetEnvAttr(dbc->real_env, SQL_ATTR_ODBC_VERSION, dbc->env->version, 0);
    answer = call->SQLAllocHandle(SQL_HANDLE_DBC, dbc->real_env, &dbc->object.real);
    if (!SQL_SUCCEEDED(answer)) return fail(&dbc->object, "HY001", 0, "no connection handle");
    for (size_t i = 0; i < dbc->attr_count; i++)
        call->SQLSetConnectAttr(dbc->object.real, dbc->attrs[i].name, dbc->attrs[i].value,
                                dbc->attrs[i].length);
    return SQL_SUCCESS;
}

static void unload(struct dbc *dbc) {
    if (dbc->object.real) dbc->call.SQLFreeHandle(SQL_HANDLE_DBC, dbc->object.real);
    if (dbc->real_env) dbc->call.SQLFreeHandle(SQL_HANDLE_ENV, dbc->real_env);
    if (dbc->library) dlclose(dbc->library);
    dbc->object.real = dbc->real_env = NULL;
    dbc->library = NULL;
}

SQLRETURN SQL_API SQLDriverConnect(SQLHDBC h, SQLHWND window, SQLCHAR *in, SQLSMALLINT in_length,
                                   SQLCHAR *out, SQLSMALLINT size, SQLSMALLINT *length, SQLUSMALLINT how) {
    struct dbc *dbc = h;
    char given[TEXT], real[REAL], text[TEXT];
    (void)window;
    (void)how;
    dbc->habits = (struct habits){0};
    dbc->autocommit = SQL_AUTOCOMMIT_ON;
    dbc->object.diag.is_set = false;
    int in_size = in_length == SQL_NTS ? (int)strlen((const char *)in) : in_length;
    snprintf(given, sizeof given, "%.*s", in_size, (const char *)in);
    if (!split(dbc, given, real, text, sizeof text) || !call_begin(&dbc->object, "SQLDriverConnect") ||
        !load(dbc, real))
        return SQL_ERROR;
    SQLRETURN answer = alloc_real(dbc);
    if (answer == SQL_SUCCESS)
        answer = dbc->call.SQLDriverConnect(dbc->object.real, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL,
                                            SQL_DRIVER_NOPROMPT);
    if (!SQL_SUCCEEDED(answer)) {
        if (!dbc->object.diag.is_set) keep_diag(&dbc->object);
        dbc->object.diag.is_real = false; /* its handle goes */
        unload(dbc);
        return answer;
    }
    if (length) *length = (SQLSMALLINT)in_size;
    if (out && size > 0) snprintf((char *)out, (size_t)size, "%s", given);
    return call_end(&dbc->object, "SQLDriverConnect", answer);
}

SQLRETURN SQL_API SQLConnect(SQLHDBC h, SQLCHAR *a, SQLSMALLINT al, SQLCHAR *b, SQLSMALLINT bl, SQLCHAR *c,
                             SQLSMALLINT cl) {
    (void)a, (void)al, (void)b, (void)bl, (void)c, (void)cl;
    return fail(h, "HYC00", 0, "the driver for tests connects by SQLDriverConnect");
}

SQLRETURN SQL_API SQLDisconnect(SQLHDBC h) {
    struct dbc *dbc = h;
    if (!call_begin(&dbc->object, "SQLDisconnect")) return SQL_ERROR;
    SQLRETURN answer = dbc->call.SQLDisconnect(dbc->object.real);
    if (!SQL_SUCCEEDED(answer)) return answer;
    forget_all(dbc);
    unload(dbc);
    return answer;
}

/* ---- Attributes ---------------------------------------------------------------------------------------- */

/* What is read back is the mode of before, until a statement comes. */
static void switch_autocommit(struct dbc *dbc, SQLPOINTER value) {
    dbc->old_autocommit = dbc->autocommit;
    dbc->autocommit = (SQLUINTEGER)(uintptr_t)value;
    dbc->told_late = dbc->habits.late_autocommit;
}

SQLRETURN SQL_API SQLSetConnectAttr(SQLHDBC h, SQLINTEGER name, SQLPOINTER value, SQLINTEGER length) {
    struct dbc *dbc = h;
    if (!call_begin(&dbc->object, "SQLSetConnectAttr")) return SQL_ERROR;
    if (name == SQL_ATTR_AUTOCOMMIT) switch_autocommit(dbc, value);
    if (dbc->library)
        return call_end(&dbc->object, "SQLSetConnectAttr",
                        dbc->call.SQLSetConnectAttr(dbc->object.real, name, value, length));
    if (dbc->attr_count == ATTRS_MAX) return fail(&dbc->object, "HY000", 0, "too many attributes");
    dbc->attrs[dbc->attr_count++] = (struct attr){.name = name, .value = value, .length = length};
    return SQL_SUCCESS;
}

SQLRETURN SQL_API SQLGetConnectAttr(SQLHDBC h, SQLINTEGER name, SQLPOINTER out, SQLINTEGER size,
                                    SQLINTEGER *length) {
    struct dbc *dbc = h;
    if (!call_begin(&dbc->object, "SQLGetConnectAttr")) return SQL_ERROR;
    if (!dbc->library) return fail(&dbc->object, "08003", 0, "not connected");
    if (name == SQL_ATTR_AUTOCOMMIT && dbc->told_late) {
        *(SQLUINTEGER *)out = dbc->old_autocommit;
        return SQL_SUCCESS;
    }
    return call_end(&dbc->object, "SQLGetConnectAttr",
                    dbc->call.SQLGetConnectAttr(dbc->object.real, name, out, size, length));
}

SQLRETURN SQL_API SQLGetInfo(SQLHDBC h, SQLUSMALLINT what, SQLPOINTER out, SQLSMALLINT size,
                             SQLSMALLINT *length) {
    struct dbc *dbc = h;
    if (!call_begin(&dbc->object, "SQLGetInfo")) return SQL_ERROR;
    if (what == SQL_DRIVER_NAME && dbc->habits.named[0]) {
        *length = (SQLSMALLINT)snprintf(out, (size_t)size, "%s", dbc->habits.named);
        return SQL_SUCCESS;
    }
    return call_end(&dbc->object, "SQLGetInfo",
                    dbc->call.SQLGetInfo(dbc->object.real, what, out, size, length));
}
