/* tp_env: takes taskpool's own keys out of the connection string and checks them. Nothing is connected here.
 * Read next: conn.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "ops/conn.h"

static const char *const own_keys[] = {"Dialect", "Prefix", "Plan"};

static tp_status read_dialect(tp_env *env, const char *name) {
    const struct tpi_dialect *dialect = tpi_dialect_by_name(name);
    if (!dialect) {
        char names[100];
        tpi_dialect_names(names, sizeof names);
        return tpi_error(TP_MISUSE, "connection string: Dialect=%s is not known; it is one of %s",
                         tpi_connstr_shown(name), names);
    }
    atomic_store(&env->dialect, dialect);
    env->dialect_given = true;
    return TP_OK;
}

/* It becomes part of SQL, so the letters are listed: isalpha would ask the application's locale. */
static tp_status read_prefix(tp_env *env, const char *prefix) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    enum { LETTERS = 52 };
    size_t length = strlen(prefix);
    bool good = length >= 1 && length <= TP_PREFIX_MAX && strspn(prefix, allowed) == length &&
                memchr(allowed, prefix[0], LETTERS);
    if (!good)
        return tpi_error(TP_MISUSE,
                         "connection string: Prefix must be a letter and up to %d letters, digits and _",
                         TP_PREFIX_MAX - 1);
    memcpy(env->prefix, prefix, length + 1);
    return TP_OK;
}

static tp_status read_plan(tp_env *env, const char *name) {
    if (!tpi_plan_parse(name, &env->plan))
        return tpi_error(TP_MISUSE,
                         "connection string: Plan=%s is not known; it is one of row, batch, skip, hold, cas",
                         tpi_connstr_shown(name));
    env->plan_given = true;
    return TP_OK;
}

static tp_status (*const own_readers[])(tp_env *, const char *) = {read_dialect, read_prefix, read_plan};
enum { OWN_KEYS = sizeof own_keys / sizeof own_keys[0] };

static tp_status take_own_keys(tp_env *env, struct tpi_connstr *cs) {
    for (size_t i = 0; i < OWN_KEYS; i++) {
        char *value = NULL;
        if (!tpi_connstr_take(cs, own_keys[i], &value)) continue;
        tp_status status = own_readers[i](env, value);
        free(value);
        if (status != TP_OK) return status;
        while (tpi_connstr_take(cs, own_keys[i], NULL)) { /* of a key given twice the first counts */
        }
    }
    return TP_OK;
}

/* A key that nobody takes is ignored by drivers, so one that nearly is ours must be refused here. */
static tp_status check_typing(const struct tpi_connstr *cs) {
    for (size_t i = 0; i < cs->count; i++)
        for (size_t k = 0; k < OWN_KEYS; k++)
            if (tpi_connstr_alike(cs->pairs[i].key, own_keys[k]))
                return tpi_error(TP_MISUSE, "connection string: unknown key '%.40s'; did you mean %s?",
                                 cs->pairs[i].key, own_keys[k]);
    return TP_OK;
}

tp_status tp_env_open(const char *connection_string, tp_env **out) {
    struct tpi_connstr cs = {0};
    if (!connection_string)
        return tpi_error(TP_MISUSE,
                         "the connection string is NULL; if it comes from getenv, set that variable");
    if (!out) return tpi_error(TP_MISUSE, "tp_env_open: an argument is NULL");
    tp_status status = tpi_connstr_parse(connection_string, &cs);
    if (status != TP_OK) return status;
    tp_env *env = calloc(1, sizeof *env);
    if (!env) {
        tpi_connstr_free(&cs);
        return tpi_error(TP_NOMEM, "out of memory");
    }
    (void)pthread_mutex_init(&env->once.lock, NULL);
    snprintf(env->prefix, sizeof env->prefix, "tp_");
    status = take_own_keys(env, &cs);
    if (status == TP_OK) status = check_typing(&cs);
    if (status == TP_OK) status = tpi_source_open(&env->source, &cs);
    tpi_connstr_free(&cs);
    if (status == TP_OK)
        *out = env;
    else
        free(env);
    return status;
}

void tp_env_close(tp_env *env) {
    if (!env) return;
    tpi_source_close(&env->source);
    for (struct tpi_once_try *one = env->once.first, *next; one; one = next) {
        next = one->next;
        free(one);
    }
    pthread_mutex_destroy(&env->once.lock);
    free(env);
}
