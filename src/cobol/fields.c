/* Blank-padded fields; see fields.h. Knows nothing of tasks. */
#include "fields.h"

#include <string.h>

size_t field_length(const char *field, size_t size) {
    while (size && field[size - 1] == ' ')
        size--;
    return size;
}

enum field field_look(const char *field, size_t size, size_t length, bool may_fill) {
    if (memchr(field, 0, length)) return FIELD_NUL;
    return length == size && !may_fill ? FIELD_FULL : FIELD_TEXT;
}

bool field_fill(char *field, size_t size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    memset(field, ' ', size);
    if (length > size) return false;
    if (length) memcpy(field, text, length); // NOLINT(bugprone-not-null-terminated-result): blanks end it
    return true;
}

void field_fill_message(char *field, size_t size, const char *text) {
    size_t length = strlen(text);
    if (length > size) {
        length = size;
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
    }
    memset(field, ' ', size);
    memcpy(field, text, length); // NOLINT(bugprone-not-null-terminated-result): blanks end it
}
