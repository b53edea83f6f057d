/* Fields of COBOL, which are filled with blanks and have no end, to C's text and back. */
#ifndef COBOL_FIELDS_H
#define COBOL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* What a field can be. */
enum field {
    FIELD_TEXT,
    FIELD_FULL, /* to its last byte: something may have been cut off */
    FIELD_NUL   /* LOW-VALUES in it */
};

/* Bytes before the trailing blanks. */
size_t field_length(const char *field, size_t size);
/* Looks at the first length bytes; may_fill: a full field is fine. */
enum field field_look(const char *field, size_t size, size_t length, bool may_fill);
/* text (may be NULL: "") and blanks; false: it does not fit, and the field is all blanks. */
bool field_fill(char *field, size_t size, const char *text);
/* The same for a message, of which a field takes as many whole characters as it has room for. */
void field_fill_message(char *field, size_t size, const char *text);

#endif
