/* See source.h. What a profile does to the keys is in add_key; typing errors are found by keys that are
 * almost one of the profile's. */
#include "odbc/source.h"

#include <ctype.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

tp_status tpi_source_open(struct tpi_source *source, struct tpi_connstr *given) {
    *source = (struct tpi_source){.given = *given};
    *given = (struct tpi_connstr){0};
    pthread_mutex_init(&source->lock, NULL);
    tpi_write_slot_init(&source->write_slot);
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
    tpi_write_slot_destroy(&source->write_slot);
    if (source->complete) tpi_wipe(source->complete, strlen(source->complete));
    free(source->complete);
    *source = (struct tpi_source){0};
}

/* The string as given, with what every driver's profile adds before the driver is known: drivers ignore keys
 * that they do not know. */
static void write_first(const struct tpi_connstr *given, struct tpi_buf *text) {
    struct tpi_connstr cs = {0};
    const struct tpi_driver *driver;
    bool done = tpi_connstr_copy(given, &cs);
    for (size_t d = 0; cs.count && (driver = tpi_driver_at(d)); d++)
        for (const struct tpi_key *key = driver->keys; key->name && done; key++)
            if (key->use == TPI_KEY_FIRST && !tpi_connstr_get(&cs, key->name))
                done = tpi_connstr_set(&cs, key->name, key->value);
    if (done)
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

static bool knows(const struct tpi_driver *driver, const char *name) {
    for (const struct tpi_key *key = driver->keys; key->name; key++)
        if (strcasecmp(key->name, name) == 0) return true;
    return false;
}

/* Drivers ignore keys that they do not know, so without this a typing error would never be seen. */
static tp_status check_key(const char *name, const struct tpi_driver *driver) {
    if (knows(driver, name)) return TP_OK;
    for (const struct tpi_key *key = driver->keys; key->name; key++)
        if (strlen(key->name) > 4 && tpi_connstr_alike(name, key->name))
            return tpi_error(TP_MISUSE, "connection string: unknown key '%s'; did you mean %s?", name,
                             key->name);
    return TP_OK;
}

/* Which driver it is nobody knows: a key that any driver has is right. */
tp_status tpi_source_check_typing(const struct tpi_source *source) {
    const struct tpi_driver *driver;
    tp_status status = TP_OK;
    for (size_t i = 0; i < source->given.count && status == TP_OK; i++) {
        const char *name = source->given.pairs[i].key;
        bool is_known = false;
        for (size_t d = 0; (driver = tpi_driver_at(d)); d++)
            is_known = is_known || knows(driver, name);
        for (size_t d = 0; !is_known && status == TP_OK && (driver = tpi_driver_at(d)); d++)
            status = check_key(name, driver);
    }
    return status;
}

static bool append_value(struct tpi_connstr *cs, const struct tpi_key *key, const char *theirs) {
    struct tpi_buf value = {0};
    tpi_buf_text(&value, key->value);
    tpi_buf_char(&value, ';');
    tpi_buf_text(&value, theirs);
    bool done = !value.failed && tpi_connstr_set(cs, key->name, value.data);
    tpi_buf_wipe(&value); /* theirs may set a password */
    return done;
}

static bool set_bits(struct tpi_connstr *cs, const struct tpi_key *key, const char *theirs) {
    long value = strtol(theirs, NULL, 0), bits = strtol(key->value, NULL, 10);
    char text[24];
    snprintf(text, sizeof text, "%ld", value | bits);
    return (value & bits) == bits || tpi_connstr_set(cs, key->name, text);
}

/* A number with one of the bits of refused (-1: any), or "true" or "yes". */
static bool is_refused(const char *value, const char *refused) {
    return (strtol(value, NULL, 0) & strtol(refused, NULL, 0)) != 0 || strcasecmp(value, "true") == 0 ||
           strcasecmp(value, "yes") == 0;
}

/* Does to the string what the profile says of one key. */
static tp_status add_key(struct tpi_connstr *cs, const struct tpi_key *key) {
    const char *theirs = tpi_connstr_get(cs, key->name);
    bool done = true, refused = false;
    switch (key->use) {
    case TPI_KEY_DEFAULT:
    case TPI_KEY_FIRST:
        done = theirs || tpi_connstr_set(cs, key->name, key->value);
        break;
    case TPI_KEY_APPEND:
        done = theirs ? append_value(cs, key, theirs) : tpi_connstr_set(cs, key->name, key->value);
        break;
    case TPI_KEY_BITS:
        done = !theirs || set_bits(cs, key, theirs);
        break;
    case TPI_KEY_ONLY:
        refused = theirs && strcasecmp(theirs, key->value) != 0;
        done = theirs || tpi_connstr_set(cs, key->name, key->value);
        break;
    case TPI_KEY_REFUSE:
        refused = theirs && is_refused(theirs, key->value);
        break;
    case TPI_KEY_NEEDED:
        if (!theirs && !tpi_connstr_get(cs, "DSN") && !tpi_connstr_get(cs, "FILEDSN"))
            return tpi_error(TP_MISUSE, "connection string: there is no %s: %s", key->name, key->why);
        break;
    case TPI_KEY_KNOWN:
        break;
    }
    if (refused)
        return tpi_error(TP_MISUSE, "connection string: %s=%s: %s", key->name, tpi_connstr_shown(theirs),
                         key->why);
    return done ? TP_OK : tpi_error(TP_NOMEM, "out of memory");
}

tp_status tpi_source_complete(struct tpi_source *source, const struct tpi_driver *driver) {
    struct tpi_connstr cs = {0};
    struct tpi_buf text = {0};
    tp_status status = TP_OK;
    for (size_t i = 0; i < source->given.count && status == TP_OK; i++)
        status = check_key(source->given.pairs[i].key, driver);
    if (status != TP_OK) return status;
    if (!tpi_connstr_copy(&source->given, &cs)) return tpi_error(TP_NOMEM, "out of memory");
    for (const struct tpi_key *key = driver->keys; key->name && status == TP_OK; key++)
        status = add_key(&cs, key);
    tpi_buf_text(&text, "");
    tpi_connstr_write(&cs, &text);
    tpi_connstr_free(&cs);
    if (status == TP_OK && text.failed) status = tpi_error(TP_NOMEM, "out of memory");
    pthread_mutex_lock(&source->lock);
    if (status == TP_OK && !source->complete) {
        source->complete = text.data;
        text.data = NULL;
    }
    pthread_mutex_unlock(&source->lock);
    tpi_buf_wipe(&text);
    return status;
}
