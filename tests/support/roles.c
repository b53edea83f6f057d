/* The list of roles for child processes. See roles.h. */
#include "support/roles.h"

#include <stdlib.h>
#include <string.h>

enum { ROLES = 20 };

static struct {
    const char *name;
    int (*play)(char **arguments);
} roles[ROLES];
static int count;

void role_enrol(const char *name, int (*play)(char **arguments)) {
    if (count == ROLES) abort();
    roles[count].name = name;
    roles[count++].play = play;
}

bool role_is_played(int argc, char **argv) {
    return argc > 2 && strcmp(argv[1], "--child") == 0;
}

int role_play(int argc, char **argv) {
    for (int i = 0; argc > 2 && i < count; i++)
        if (strcmp(roles[i].name, argv[2]) == 0) return roles[i].play(argv + 3);
    return 2;
}
