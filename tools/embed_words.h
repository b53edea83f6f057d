/* Build tool: the words of a dialect. A statement says {now}, or {now_plus lease} with an argument, and each
 * dialect has a text for it; sql/common/words lists the words. Knows nothing of what the texts mean. */
#ifndef EMBED_WORDS_H
#define EMBED_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The mark of a word that says of the whole statement: it goes from group to group (struct tpi_sql). It
 * follows those of src/dialect/dialect.h, and is in no finished text. */
#define EMBED_GROUPED '\010'

/* Adds the words of sql/common. */
void embed_words_common(const char *path);
/* Replaces texts of those by a dialect's own; no such file: it has none. */
void embed_words_own(const char *path);
/* From now on NAME_failed, where there is such a word, stands for NAME in a statement about the pool failed.
 * NULL: the statement is about no pool in particular. */
void embed_words_pool(const char *name);
/* Puts the text of each word in place of it; size is the room at text. False: the dialect lacks one of them,
 * and with it the statement. */
bool embed_words_expand(char *text, size_t size);

/* Ends the build. In embed_sql.c. */
_Noreturn void embed_die(const char *what, const char *name);

#endif
