/* Build tool, the part of embed_sql.c that knows the words of a dialect: what a common statement says in
 * braces, {now}, and what stands there for one database. sql/common/words lists them all. */
#ifndef EMBED_WORDS_H
#define EMBED_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Adds the words of sql/common. */
void embed_words_common(const char *path);
/* Replaces texts of those by a dialect's own; no such file: it has none. */
void embed_words_own(const char *path);
/* Puts the text of each word in place of it; size is the room at text. False: the dialect lacks one of them,
 * and with it the statement. */
bool embed_words_expand(char *text, size_t size);

/* Ends the build. In embed_sql.c. */
_Noreturn void embed_die(const char *what, const char *name);

#endif
