/* Which word somebody may have meant who mistyped it. Pure functions. */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX 32 /* bytes of a word that are compared */

/* How many letters must be put in, left out, replaced, or swapped with their neighbour. */
size_t nearest_distance(const char *one, const char *other);

struct nearest {
    const char *word; /* as it was typed */
    const char *found;
    size_t distance; /* of found */
};
/* Takes candidate when it is nearer than what was found, and near enough: a third of its letters may be
 * wrong. Begin with {.word = ...}. */
void nearest_try(struct nearest *nearest, const char *candidate);

#endif
