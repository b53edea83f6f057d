/* Where a path leads to, link by link: what becomes of the path afterwards changes nothing. Must not know
 * users. */
#ifndef CONSOLE_PLACE_H
#define CONSOLE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct place {
    const char *path; /* as it was given, for people */
    int folder;
    char name[NAME_MAX + 1]; /* in the folder, and no link */
    bool linked;             /* the path's end is a link */
    uid_t linker;            /* who made the links that are neither root's nor ours; else we */
};

/* A file that is not there has a place, too, unless a link leads to it. false: errno says why. To be closed
 * in either case. */
bool place_find(const char *path, struct place *place);
void place_close(struct place *place);
/* Not so where somebody's link leads to another's file. */
bool place_is_meant(const struct place *place, uid_t owner);

#endif
