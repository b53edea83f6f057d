/* See place.h. realpath would do, were there nobody who puts a link where it has just looked. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

struct walk {
    struct place *place;
    char rest[PATH_MAX]; /* of the path, behind the place */
    int links;
};

static bool fails(int why) {
    errno = why;
    return false;
}

static void go_to(struct place *place, int folder) {
    place_close(place);
    place->folder = folder;
}

/* What is left of the way leads on behind it. */
static bool take(struct walk *walk, const char *path) {
    char both[2 * PATH_MAX];
    int length = snprintf(both, sizeof both, "%s%s%s", path, *walk->rest ? "/" : "", walk->rest);

    if (length < 0 || length >= (int)sizeof walk->rest) return fails(ENAMETOOLONG);
    memcpy(walk->rest, both, (size_t)length + 1);
    if (*path == '/') go_to(walk->place, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return walk->place->folder >= 0;
}

static bool next_name(struct walk *walk) {
    const char *from = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(from, "/");

    if (!length) return fails(ENOENT);
    if (length > NAME_MAX) return fails(ENAMETOOLONG);
    memcpy(walk->place->name, from, length);
    walk->place->name[length] = '\0';
    from += length;
    from += strspn(from, "/");
    memmove(walk->rest, from, strlen(from) + 1);
    return true;
}

static bool note_linker(struct place *place, uid_t owner) {
    if (owner == 0 || owner == geteuid() || owner == place->linker) return true;
    if (place->linker != geteuid()) return fails(EPERM); /* of two strangers one is not the file's owner */
    place->linker = owner;
    return true;
}

static bool follow(struct walk *walk, int link, uid_t owner) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof target);

    if (length < 0) return false;
    if (length == (ssize_t)sizeof target) return fails(ENAMETOOLONG);
    if (walk->links++ == LINKS_MAX) return fails(ELOOP);
    target[length] = '\0';
    if (!*walk->rest) walk->place->linked = true;
    return note_linker(walk->place, owner) && take(walk, target);
}

/* As a folder first: one that is mounted when it is used is mounted then. */
static int look(const struct walk *walk) {
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    const struct place *place = walk->place;
    int found = *walk->rest ? openat(place->folder, place->name, flags | O_DIRECTORY) : -1;

    return found >= 0 ? found : openat(place->folder, place->name, flags);
}

/* Done when nothing is left and the name is no link. */
static bool step(struct walk *walk, bool *done) {
    struct place *place = walk->place;
    int found = look(walk);
    struct stat about;
    bool good;

    if (found < 0) return *done = errno == ENOENT && !*walk->rest && !place->linked;
    good = fstat(found, &about) == 0;
    if (good && !S_ISLNK(about.st_mode) && *walk->rest) {
        go_to(place, found);
        return true;
    }
    *done = good && !S_ISLNK(about.st_mode);
    if (good && !*done) good = follow(walk, found, about.st_uid);
    (void)close(found);
    return good;
}

bool place_find(const char *path, struct place *place) {
    struct walk walk = {.place = place};
    bool done = false, good;

    *place = (struct place){
        .path = path, .folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), .linker = geteuid()};
    good = take(&walk, path);
    while (good && !done)
        good = next_name(&walk) && step(&walk, &done);
    return good;
}

void place_close(struct place *place) {
    if (place->folder >= 0) (void)close(place->folder);
    place->folder = -1;
}

bool place_is_meant(const struct place *place, uid_t owner) {
    return place->linker == geteuid() || place->linker == owner;
}
