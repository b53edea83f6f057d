/* Reads a row of a result into a struct by a list of columns. See record.h. */
#include "store/record.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "core/fsm.h"

#define UNIT_SEPARATOR "\x1f"

static tp_status keep(struct tpi_stmt *stmt, struct tpi_texts *texts, const struct tpi_value *value,
                      const char **out) {
    *out = tpi_texts_keep(texts, value->text, value->length);
    return *out ? TP_OK : tpi_link_no_memory(stmt->link);
}

static tp_status read_uuid(struct tpi_stmt *stmt, struct tpi_texts *texts, const struct tpi_value *value,
                           const char **out) {
    tp_status status = keep(stmt, texts, value, out);
    if (status == TP_OK) tpi_lower((char *)(uintptr_t)*out, value->length); /* the texts' own, or "" */
    return status;
}

static tp_status read_exact(struct tpi_stmt *stmt, const struct tpi_value *value, int64_t *out) {
    *out = 0;
    if (value->is_null || tpi_number_exact(value->text, out)) return TP_OK;
    tpi_link_doom(stmt->link);
    return tpi_error(TP_DB, "%s: the driver gives the number '%.40s', which is not a whole one", stmt->name,
                     value->text);
}

static int32_t nearest_int(int64_t number) {
    if (number < INT32_MIN) return INT32_MIN;
    return number > INT32_MAX ? INT32_MAX : (int32_t)number;
}

/* To some servers a short literal is a CHAR, and as long as the longest of a UNION: blanks follow it. */
static tp_status read_pool(const struct tpi_value *value, enum tpi_pool *out) {
    char name[16];
    size_t length = value->length < sizeof name ? value->length : sizeof name - 1;
    memcpy(name, value->text, length);
    while (length && name[length - 1] == ' ')
        length--;
    name[length] = '\0';
    return tpi_pool_parse(name, out) ? TP_OK
                                     : tpi_error(TP_DB, "a task is in pool '%s', which does not exist", name);
}

static tp_status read_state(const struct tpi_value *value, enum tpi_state *out) {
    return tpi_state_parse(value->text, out)
               ? TP_OK
               : tpi_error(TP_DB, "a task is in state '%s', which does not exist", value->text);
}

static tp_status read_field(struct tpi_stmt *stmt, const struct tpi_column *column, struct tpi_texts *texts,
                            const struct tpi_value *value, void *field) {
    switch (column->read) {
    case TPI_READ_TEXT:
        return keep(stmt, texts, value, field);
    case TPI_READ_UUID:
        return read_uuid(stmt, texts, value, field);
    case TPI_READ_CHARS:
        tpi_utf8_copy(value->text, field, column->size);
        break;
    case TPI_READ_ID:
        if (!tpi_uuid_normal(value->text, field)) *(char *)field = '\0';
        break;
    case TPI_READ_NUMBER:
        *(int64_t *)field = tpi_number(value->text);
        break;
    case TPI_READ_KNOWN:
        if (!value->is_null) *(int64_t *)field = tpi_number(value->text);
        break;
    case TPI_READ_EXACT:
        return read_exact(stmt, value, field);
    case TPI_READ_INT:
        *(int32_t *)field = nearest_int(tpi_number(value->text));
        break;
    case TPI_READ_FLAG:
        *(int *)field = tpi_number(value->text) != 0;
        break;
    case TPI_READ_POOL:
        return read_pool(value, field);
    case TPI_READ_STATE:
        return read_state(value, field);
    case TPI_READ_NOT:
    case TPI_READ_END:
        break;
    }
    return TP_OK;
}

tp_status tpi_record_read(struct tpi_stmt *stmt, size_t first, const struct tpi_column *columns,
                          struct tpi_texts *texts, void *record) {
    struct tpi_buf scratch = {0};
    struct tpi_value value;
    tp_status status = TP_OK;
    for (size_t i = 0; columns[i].read != TPI_READ_END && status == TP_OK; i++) {
        if (columns[i].read == TPI_READ_NOT) continue;
        status = tpi_stmt_value(stmt, first + i, &scratch, &value);
        if (status == TP_OK)
            status = read_field(stmt, &columns[i], texts, &value, (char *)record + columns[i].offset);
    }
    tpi_buf_free(&scratch);
    return status;
}

/* A part of a text as if it were a column. end: writable. */
static tp_status read_part(struct tpi_stmt *stmt, const char *from, char *end,
                           const struct tpi_column *column, struct tpi_texts *texts, void *record) {
    struct tpi_value value = {.text = from, .length = (size_t)(end - from), .is_null = end == from};
    char next = *end;
    *end = '\0';
    tp_status status = read_field(stmt, column, texts, &value, (char *)record + column->offset);
    *end = next;
    return status;
}

tp_status tpi_record_split(struct tpi_stmt *stmt, char **text, const struct tpi_column *columns,
                           struct tpi_texts *texts, void *record) {
    tp_status status = TP_OK;
    for (size_t i = 0; columns[i].read != TPI_READ_END && **text && **text != '/' && status == TP_OK; i++) {
        char *end = *text;
        while (*end && *end != ',' && *end != '/')
            end++;
        status = read_part(stmt, *text, end, &columns[i], texts, record);
        *text = *end == ',' ? end + 1 : end;
    }
    return status;
}

tp_status tpi_record_cut(struct tpi_stmt *stmt, char **text, const struct tpi_column *column,
                         struct tpi_texts *texts, void *record) {
    char *from = *text, *end = from + strcspn(from, UNIT_SEPARATOR);
    *text = *end ? end + 1 : end;
    return read_part(stmt, from, end, column, texts, record);
}

tp_status tpi_record_next(struct tpi_stmt *stmt, const struct tpi_column *columns, struct tpi_texts *texts,
                          void *record) {
    tp_status status = tpi_stmt_fetch(stmt);
    return status == TP_OK ? tpi_record_read(stmt, 1, columns, texts, record) : status;
}

tp_status tpi_record_all(struct tpi_stmt *stmt, const struct tpi_column *columns, struct tpi_texts *texts,
                         void *records, size_t size, size_t limit, size_t *count) {
    tp_status status = TP_OK;
    while (*count < limit && status == TP_OK) {
        status = tpi_record_next(stmt, columns, texts, (char *)records + *count * size);
        if (status == TP_OK) ++*count;
    }
    tpi_stmt_close(stmt);
    return status == TP_NONE ? TP_OK : status;
}
