/* Who asks, and what he may do. */
#ifndef CONSOLE_PERSON_H
#define CONSOLE_PERSON_H

#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, "name"): each may do what those before it may. */
#define ROLE_LIST(X)                                                                                         \
    X(ROLE_NOBODY, "nobody")                                                                                 \
    X(ROLE_VIEWER, "viewer")                                                                                 \
    X(ROLE_OPERATOR, "operator")                                                                             \
    X(ROLE_APPROVER, "approver")                                                                             \
    X(ROLE_ADMINISTRATOR, "administrator")
enum role {
#define ROLE_ENUM(id, name) id,
    ROLE_LIST(ROLE_ENUM)
#undef ROLE_ENUM
        ROLES
};

enum { PERSON_NAME_SIZE = 65, TOKEN_SIZE = 65 };

struct person {
    char name[PERSON_NAME_SIZE]; /* "": nobody signed in */
    enum role role;
    bool params;           /* may see the parameters of tasks */
    char csrf[TOKEN_SIZE]; /* "": changes nothing */
    uint64_t password;     /* another number for another password; not it */
};

const char *role_name(enum role role);
/* ROLES: there is none of this name. */
enum role role_find(const char *name);

#endif
