/* Build tool: the text of a statement as the library has it. Comments are taken out and blanks folded,
 * outside quotes; :name and the prefix tp_ become marks (src/dialect/dialect.h), and those that words put
 * there stay. Knows no files and no dialect. */
#ifndef EMBED_TEXT_H
#define EMBED_TEXT_H

#include <stdbool.h>

enum { EMBED_TEXT_MAX = 64 * 1024, EMBED_PARAMS_MAX = 200 };

struct embed_text {
    char text[EMBED_TEXT_MAX];
    char params[EMBED_PARAMS_MAX][128];
    int param_count;
    bool grouped; /* the word grouped is in it */
};

/* The statement from..to; in a script there are no parameters. */
void embed_text_make(const char *from, const char *to, bool script, struct embed_text *result);
/* One line of a script as people read it: only the prefix becomes a mark. */
void embed_text_line(const char *from, const char *to, struct embed_text *result);
bool embed_is_mark(char c);

#endif
