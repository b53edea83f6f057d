/* What a randomly walking application knows: which tasks it asked for, which of them it got an answer for,
 * how they ended, which keys are in the ledger. At the end of a round the tables are compared with it. It
 * must not know how anything was asked. Read next: walker.h. */
#ifndef TOOLS_WALK_NOTEBOOK_H
#define TOOLS_WALK_NOTEBOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "taskpool.h"

enum { NOTES = 80, KEYS = 24 };

struct note {
    tp_new_task task; /* id "": was never asked for */
    char params[16], key[16];
    bool there;        /* an answer, and a commit where there was one, said so */
    bool refused;      /* another has its key; nothing may be there */
    const char *ended; /* the state in which a confirmed settle left it; NULL: none has */
};

struct notebook {
    struct note notes[NOTES];
    size_t count;
    bool keys[KEYS]; /* in the ledger, by a confirmed commit */
};
extern struct notebook notebook;

/* Before each round. */
void notebook_open(void);
/* NULL: there is no room. */
struct note *notebook_add(const char *key);
/* Fails the test when there is none. */
struct note *notebook_find(const char *id);
/* A settle was confirmed: it may have been the only one. */
void notebook_end(struct note *note, const char *state);
void notebook_name_key(char name[16], size_t key);

/* Reads the tables over a session that never fails, and fails the test when they are not as they must be. */
void notebook_judge(void);

#endif
