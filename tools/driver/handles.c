/* Handles: each of ours stands for one of the real driver's, which is known when a connection is made. */
#include <stdlib.h>

#include "driver.h"

static SQLRETURN alloc_env(SQLHANDLE *out) {
    struct env *env = calloc(1, sizeof *env);
    *out = env;
    if (!env) return SQL_ERROR;
    env->object.type = SQL_HANDLE_ENV;
    return SQL_SUCCESS;
}

static SQLRETURN alloc_dbc(struct env *env, SQLHANDLE *out) {
    struct dbc *dbc = calloc(1, sizeof *dbc);
    *out = dbc;
    if (!dbc) return SQL_ERROR;
    dbc->object.type = SQL_HANDLE_DBC;
    dbc->object.dbc = dbc;
    dbc->env = env;
    return SQL_SUCCESS;
}

static SQLRETURN alloc_stmt(struct dbc *dbc, SQLHANDLE *out) {
    struct stmt *stmt = calloc(1, sizeof *stmt);
    *out = NULL;
    if (!stmt) return SQL_ERROR;
    SQLRETURN answer = dbc->call.SQLAllocHandle(SQL_HANDLE_STMT, dbc->object.real, &stmt->object.real);
    if (!SQL_SUCCEEDED(answer)) {
        free(stmt);
        return answer;
    }
    stmt->object.type = SQL_HANDLE_STMT;
    stmt->object.dbc = dbc;
    stmt->next = dbc->stmts;
    dbc->stmts = stmt;
    *out = stmt;
    return answer;
}

static SQLRETURN alloc_desc(struct dbc *dbc, SQLHANDLE *out) {
    struct desc *desc = calloc(1, sizeof *desc);
    *out = desc;
    if (!desc) return SQL_ERROR;
    desc->object.type = SQL_HANDLE_DESC;
    desc->object.dbc = dbc;
    return dbc->call.SQLAllocHandle(SQL_HANDLE_DESC, dbc->object.real, &desc->object.real);
}

SQLRETURN SQL_API SQLAllocHandle(SQLSMALLINT type, SQLHANDLE parent, SQLHANDLE *out) {
    if (type == SQL_HANDLE_ENV) return alloc_env(out);
    if (type == SQL_HANDLE_DBC) return alloc_dbc(parent, out);
    struct dbc *dbc = parent;
    if (!call_begin(&dbc->object, "SQLAllocHandle")) return SQL_ERROR;
    return call_end(&dbc->object, "SQLAllocHandle",
                    type == SQL_HANDLE_STMT ? alloc_stmt(dbc, out) : alloc_desc(dbc, out));
}

static void forget(struct stmt *stmt) {
    struct stmt **at = &stmt->object.dbc->stmts;
    while (*at != stmt)
        at = &(*at)->next;
    *at = stmt->next;
    statement_frees(stmt);
}

void forget_all(struct dbc *dbc) {
    while (dbc->stmts) {
        struct stmt *stmt = dbc->stmts;
        forget(stmt);
        free(stmt);
    }
}

SQLRETURN SQL_API SQLFreeHandle(SQLSMALLINT type, SQLHANDLE h) {
    struct object *object = h;
    SQLRETURN answer = SQL_SUCCESS;
    if (type == SQL_HANDLE_STMT || type == SQL_HANDLE_DESC)
        answer = object->dbc->call.SQLFreeHandle(type, object->real);
    if (type == SQL_HANDLE_STMT) forget(h);
    free(h);
    return answer;
}

SQLRETURN SQL_API SQLSetEnvAttr(SQLHENV h, SQLINTEGER name, SQLPOINTER value, SQLINTEGER length) {
    struct env *env = h;
    (void)length;
    if (name == SQL_ATTR_ODBC_VERSION) env->version = value;
    return SQL_SUCCESS;
}

/* The four that a statement has from the start. */
static SQLRETURN give_desc(struct stmt *stmt, SQLINTEGER name, SQLPOINTER out) {
    struct object *object = &stmt->descs[name - SQL_ATTR_APP_ROW_DESC].object;
    const struct functions *call = &stmt->object.dbc->call;
    SQLRETURN answer = call->SQLGetStmtAttr(stmt->object.real, name, &object->real, 0, NULL);
    object->type = SQL_HANDLE_DESC;
    object->dbc = stmt->object.dbc;
    *(SQLHANDLE *)out = object;
    return answer;
}

static bool is_desc(SQLINTEGER name) {
    return name >= SQL_ATTR_APP_ROW_DESC && name <= SQL_ATTR_IMP_PARAM_DESC;
}

SQLRETURN SQL_API SQLGetStmtAttr(SQLHSTMT h, SQLINTEGER name, SQLPOINTER out, SQLINTEGER size,
                                 SQLINTEGER *length) {
    struct stmt *stmt = h;
    if (!call_begin(h, "SQLGetStmtAttr")) return SQL_ERROR;
    SQLRETURN answer =
        is_desc(name) ? give_desc(stmt, name, out)
                      : stmt->object.dbc->call.SQLGetStmtAttr(stmt->object.real, name, out, size, length);
    return call_end(h, "SQLGetStmtAttr", answer);
}

SQLRETURN SQL_API SQLSetStmtAttr(SQLHSTMT h, SQLINTEGER name, SQLPOINTER value, SQLINTEGER length) {
    struct stmt *stmt = h;
    if (!call_begin(h, "SQLSetStmtAttr")) return SQL_ERROR;
    if (is_desc(name) && value) value = ((struct object *)value)->real;
    if (name == SQL_ATTR_QUERY_TIMEOUT && stmt->object.dbc->habits.endless_waits) {
        stmt->timeout = (SQLULEN)value;
        return SQL_SUCCESS;
    }
    return call_end(h, "SQLSetStmtAttr",
                    stmt->object.dbc->call.SQLSetStmtAttr(stmt->object.real, name, value, length));
}
