/* The body of a request while it comes in, and what it says. Must not know HTTP. */
#ifndef CONSOLE_INCOMING_H
#define CONSOLE_INCOMING_H

#include <stdbool.h>
#include <stddef.h>

struct incoming {
    char *text; /* with a NUL behind it; NULL: nothing has come */
    size_t size, room, parts;
    bool in_text, escaped; /* where its last byte stands */
};

/* More parts, which are members and elements, are refused: each takes memory that its bytes do not show. */
enum { INCOMING_PARTS_MAX = 5000 };

/* False: it has too many parts, and the rest need not be given. */
bool incoming_add(struct incoming *incoming, const char *data, size_t size);
/* All has come: the object that it is, to be given to json_object_put; nothing of it is changed. NULL: *why
 * it is none. */
struct json_object *incoming_read(struct incoming *incoming, const char **why);
void incoming_free(struct incoming *incoming);

#endif
