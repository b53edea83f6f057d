/* Reads the rows of a result into structs: a list says, column by column, how it is read and into which
 * field. Whoever adds a column to a statement adds it to the list. */
#ifndef TPI_STORE_RECORD_H
#define TPI_STORE_RECORD_H

#include "base/texts.h"
#include "odbc/stmt.h"

enum tpi_read {
    TPI_READ_END,    /* of the list */
    TPI_READ_NOT,    /* passed over */
    TPI_READ_TEXT,   /* const char *, kept in the texts; "" for NULL */
    TPI_READ_UUID,   /* the same in lower case: drivers differ in that of its digits */
    TPI_READ_CHARS,  /* char[], by tpi_utf8_copy; "" for NULL */
    TPI_READ_ID,     /* char[TPI_UUID_SIZE]: a UUID in lower case; "" for NULL and for what is none */
    TPI_READ_NUMBER, /* int64_t; 0 for NULL */
    TPI_READ_KNOWN,  /* int64_t; NULL leaves what is there */
    /* The same of a number that the database worked out, such as its clock: TP_DB where it came in a form
     * that may have lost digits, as some drivers write what they take for a floating-point number. */
    TPI_READ_EXACT,
    TPI_READ_INT,   /* int32_t, or the nearest, where the database takes any number, or words for one */
    TPI_READ_FLAG,  /* int: 1 for any number but 0 */
    TPI_READ_POOL,  /* enum tpi_pool by its name; TP_DB for any other */
    TPI_READ_STATE, /* enum tpi_state likewise */
};

struct tpi_column {
    enum tpi_read read;
    size_t offset, size; /* of the field */
};
#define TPI_COLUMN(how, record, field)                                                                       \
    { TPI_READ_##how, offsetof(record, field), sizeof(((record *)NULL)->field) }
#define TPI_COLUMN_END                                                                                       \
    { TPI_READ_END, 0, 0 }
/* A list of one column, where the field is all of the record. */
#define TPI_COLUMN_ONLY(how)                                                                                 \
    { {TPI_READ_##how, 0, 0}, TPI_COLUMN_END }

/* Reads columns of the current row, from number first (1: the first) on. texts: NULL where no column is kept
 * there; what earlier rows left in it stays. */
TP_CHECKED tp_status tpi_record_read(struct tpi_stmt *stmt, size_t first, const struct tpi_column *columns,
                                     struct tpi_texts *texts, void *record);
/* Reads the numbers of a text that holds several, with commas between them and a slash behind the last,
 * as if each were a column. Fields of which it has no more stay as they are. *text: writable; goes to where
 * the rest begins, or to the slash. */
TP_CHECKED tp_status tpi_record_split(struct tpi_stmt *stmt, char **text, const struct tpi_column *columns,
                                      struct tpi_texts *texts, void *record);
/* Reads what stands before a unit separator, in the same way; *text goes behind it. */
TP_CHECKED tp_status tpi_record_cut(struct tpi_stmt *stmt, char **text, const struct tpi_column *column,
                                    struct tpi_texts *texts, void *record);
/* Reads the next row. TP_NONE: behind the last; the result is then closed. */
TP_CHECKED tp_status tpi_record_next(struct tpi_stmt *stmt, const struct tpi_column *columns,
                                     struct tpi_texts *texts, void *record);
/* Reads the next rows into an array, whose records have size bytes each and of which *count are in use, until
 * limit are; closes the result. */
TP_CHECKED tp_status tpi_record_all(struct tpi_stmt *stmt, const struct tpi_column *columns,
                                    struct tpi_texts *texts, void *records, size_t size, size_t limit,
                                    size_t *count);

#endif
