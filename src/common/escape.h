/* Makes text harmless for a terminal. */
#ifndef COMMON_ESCAPE_H
#define COMMON_ESCAPE_H

/* Control characters, line separators, text-direction marks and broken UTF-8 shown as \n \x1b \u202e; the
 * caller frees it. NULL: out of memory. */
char *escape_text(const char *text);
/* The same for text that is JSON: only what JSON does not ask for itself, as \u009b. */
char *escape_json(const char *text);

#endif
