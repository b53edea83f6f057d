/* What a program does as a child process that one of its tests started (child.h): ROLE(name) { ... } enrols
 * itself. It gets the arguments of child_start behind the role and gives the exit status. */
#ifndef TESTS_SUPPORT_ROLES_H
#define TESTS_SUPPORT_ROLES_H

#include <stdbool.h>

#include "support/callbacks.h"

#define ROLE(name)                                                                                           \
    static int play_##name(char **arguments);                                                                \
    __attribute__((constructor)) static void enrol_role_##name(void) {                                       \
        role_enrol(#name, play_##name);                                                                      \
    }                                                                                                        \
    static int play_##name(MAY_BE_UNUSED char **arguments)
void role_enrol(const char *name, int (*play)(char **arguments));

/* In main: was the process started as a child? */
bool role_is_played(int argc, char **argv);
int role_play(int argc, char **argv);

#endif
