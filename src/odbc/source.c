/* See source.h. */
#include "odbc/source.h"

#include <ctype.h>
#include <sqlext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

tp_status tpi_source_open(struct tpi_source *source, struct tpi_connstr *given) {
    *source = (struct tpi_source){.given = *given};
    *given = (struct tpi_connstr){0};
    pthread_mutex_init(&source->lock, NULL);
    tpi_turn_init(&source->turn);
    if (SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &source->henv)) &&
        SQL_SUCCEEDED(SQLSetEnvAttr(source->henv, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0)))
        return TP_OK;
    tpi_source_close(source);
    return tpi_error(TP_NOMEM, "the ODBC driver manager gives no environment; out of memory?");
}

void tpi_source_close(struct tpi_source *source) {
    if (source->henv) SQLFreeHandle(SQL_HANDLE_ENV, source->henv);
    tpi_connstr_free(&source->given);
    pthread_mutex_destroy(&source->lock);
    tpi_turn_destroy(&source->turn);
    if (source->complete) tpi_wipe(source->complete, strlen(source->complete));
    free(source->complete);
    *source = (struct tpi_source){0};
}

/* Drivers pass over keys that they do not know. */
static bool add_first(struct tpi_connstr *cs) {
    const struct tpi_driver *driver;
    bool done = true;
    for (size_t d = 0; cs->count && (driver = tpi_driver_at(d)); d++)
        for (const struct tpi_key *key = driver->keys; key->name && done; key++)
            if (key->use == TPI_KEY_FIRST && !tpi_connstr_get(cs, key->name))
                done = tpi_connstr_set(cs, key->name, key->value);
    return done;
}

static void write_first(const struct tpi_connstr *given, struct tpi_buf *text) {
    struct tpi_connstr cs = {0};
    if (tpi_connstr_copy(given, &cs) && add_first(&cs))
        tpi_connstr_write(&cs, text);
    else
        text->failed = true;
    tpi_connstr_free(&cs);
}

char *tpi_source_text(struct tpi_source *source, bool *is_complete) {
    struct tpi_buf text = {0};
    tpi_buf_text(&text, ""); /* of a string with our own keys only nothing is left */
    pthread_mutex_lock(&source->lock);
    *is_complete = source->complete != NULL;
    if (source->complete)
        tpi_buf_add(&text, source->complete, strlen(source->complete));
    else
        write_first(&source->given, &text);
    pthread_mutex_unlock(&source->lock);
    if (!text.failed) return text.data;
    tpi_buf_wipe(&text);
    return NULL;
}

/* REFUSE: a number with one of the profile's bits (-1: any), or "true" or "yes". */
static bool refused(const struct tpi_key *key, const char *value) {
    if (!value) return false;
    if (key->use == TPI_KEY_ONLY) return strcasecmp(value, key->value) != 0;
    if (key->use != TPI_KEY_REFUSE) return false;
    return (strtol(value, NULL, 0) & strtol(key->value, NULL, 0)) != 0 || strcasecmp(value, "true") == 0 ||
           strcasecmp(value, "yes") == 0;
}

static bool added(const struct tpi_key *key) {
    return key->use == TPI_KEY_DEFAULT || key->use == TPI_KEY_FIRST || key->use == TPI_KEY_APPEND ||
           key->use == TPI_KEY_ONLY;
}

static const struct tpi_key *known(const struct tpi_driver *driver, const char *name) {
    for (const struct tpi_key *key = driver->keys; key->name; key++)
        if (strcasecmp(key->name, name) == 0) return key;
    return NULL;
}

/* Drivers ignore keys they do not know, so a typing error would pass in silence. */
static tp_status check_keys(const struct tpi_connstr *given, const struct tpi_driver *driver) {
    for (size_t i = 0; i < given->count; i++) {
        const char *name = given->pairs[i].key;
        if (known(driver, name)) continue;
        for (const struct tpi_key *key = driver->keys; key->name; key++)
            if (strlen(key->name) > 4 && tpi_connstr_alike(name, key->name))
                return tpi_error(TP_MISUSE, "connection string: unknown key '%s'; did you mean %s?", name,
                                 key->name);
    }
    return TP_OK;
}

/* Of no known driver, but like one of some driver's. */
tp_status tpi_source_check_typing(const struct tpi_source *source) {
    const struct tpi_driver *driver;
    struct tpi_connstr unknown = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < source->given.count; i++) {
        bool is_known = false;
        for (size_t d = 0; (driver = tpi_driver_at(d)); d++)
            is_known = is_known || known(driver, source->given.pairs[i].key);
        if (!is_known && !tpi_connstr_set(&unknown, source->given.pairs[i].key, "")) break;
    }
    for (size_t d = 0; status == TP_OK && (driver = tpi_driver_at(d)); d++)
        status = check_keys(&unknown, driver);
    tpi_connstr_free(&unknown);
    return status;
}

static bool missing(const struct tpi_connstr *cs, const struct tpi_key *key) {
    return key->use == TPI_KEY_NEEDED && !tpi_connstr_get(cs, key->name) && !tpi_connstr_get(cs, "DSN") &&
           !tpi_connstr_get(cs, "FILEDSN");
}

static bool append_value(struct tpi_connstr *cs, const struct tpi_key *key, const char *theirs) {
    struct tpi_buf value = {0};
    tpi_buf_text(&value, key->value);
    tpi_buf_char(&value, ';');
    tpi_buf_text(&value, theirs);
    bool done = !value.failed && tpi_connstr_set(cs, key->name, value.data);
    tpi_buf_free(&value);
    return done;
}

static tp_status add_keys(struct tpi_connstr *cs, const struct tpi_driver *driver) {
    for (const struct tpi_key *key = driver->keys; key->name; key++) {
        const char *theirs = tpi_connstr_get(cs, key->name);
        bool done = true;
        if (refused(key, theirs))
            return tpi_error(TP_MISUSE, "connection string: %s=%s: %s", key->name, tpi_connstr_shown(theirs),
                             key->why);
        if (missing(cs, key))
            return tpi_error(TP_MISUSE, "connection string: there is no %s: %s", key->name, key->why);
        if (key->use == TPI_KEY_APPEND && theirs)
            done = append_value(cs, key, theirs);
        else if (!theirs && added(key))
            done = tpi_connstr_set(cs, key->name, key->value);
        if (!done) return tpi_error(TP_NOMEM, "out of memory");
    }
    return TP_OK;
}

tp_status tpi_source_complete(struct tpi_source *source, const struct tpi_driver *driver) {
    struct tpi_connstr cs = {0};
    struct tpi_buf text = {0};
    tp_status status = check_keys(&source->given, driver);
    if (status != TP_OK) return status;
    if (!tpi_connstr_copy(&source->given, &cs)) return tpi_error(TP_NOMEM, "out of memory");
    status = add_keys(&cs, driver);
    if (status == TP_OK) {
        tpi_buf_text(&text, "");
        tpi_connstr_write(&cs, &text);
        if (text.failed) status = tpi_error(TP_NOMEM, "out of memory");
    }
    tpi_connstr_free(&cs);
    if (status == TP_OK) {
        pthread_mutex_lock(&source->lock);
        if (!source->complete) {
            source->complete = text.data;
            text.data = NULL;
        }
        pthread_mutex_unlock(&source->lock);
    }
    tpi_buf_wipe(&text);
    return status;
}
