/* The page: the files of src/console/web, and uPlot where the build had it, inside the program. Written by
 * tools/embed_files.c. */
#ifndef CONSOLE_ASSETS_H
#define CONSOLE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path;
    const char *type; /* the whole Content-Type */
    const char *etag; /* with its quotes */
    const unsigned char *bytes;
    size_t size;
};

/* "" is the page itself, else what follows /assets/, such as pages/tasks.js. NULL: there is none. */
const struct asset *tpi_asset_find(const char *path);

#endif
