/* Decides how the output of a handler program is passed on: in whole lines, so that programs that run at the
 * same time do not mix theirs; and keeps the last line that is not blank, which becomes the reason of a
 * failure. Must not know processes. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "taskpool.h"

struct lines {
    void (*write)(const char *text, size_t length);
    size_t used;
    size_t last_length;
    bool cut; /* text is not the beginning of its line */
    char text[4096];
    char last[TP_REASON_MAX + 1]; /* beginning of the last line that is not blank */
};

void lines_take(struct lines *lines, const char *data, size_t length);
/* Passes on a last line without line end, and ends it. */
void lines_end(struct lines *lines);
/* last as valid UTF-8 without control characters; "" when nothing was said. */
const char *lines_last(struct lines *lines);

#endif
