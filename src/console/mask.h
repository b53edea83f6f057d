/* Hides parts of JSON text by the names of their keys or by where they stand, and leaves all else as it is.
 * What it cannot read as JSON it hides as a whole. Must not know tasks. */
#ifndef CONSOLE_MASK_H
#define CONSOLE_MASK_H

#include <stdbool.h>

enum { MASKS_MAX = 50 };

struct masks;

/* texts end with NULL, or are NULL: nothing is hidden. Each is the name of a key, or a JSON pointer (RFC
 * 6901), which begins with "/". NULL: *wrong is one that is neither. */
struct masks *masks_open(char *const *texts, const char **wrong);
void masks_close(struct masks *masks);

/* The text with each masked value replaced by "***"; the caller frees it. *hidden: it is not the text that
 * was given. Names are compared without regard to case. A pointer goes through a list to each of its
 * elements, whatever number it names. Text in text that looks like JSON is looked into as well. */
char *mask_text(const struct masks *masks, const char *text, bool *hidden);

#endif
