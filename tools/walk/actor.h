/* One connection of the application: its transaction, its claims, what it heard. It must not know what is
 * done in the transaction. Read next: notebook.h. */
#ifndef TOOLS_WALK_ACTOR_H
#define TOOLS_WALK_ACTOR_H

#include "walk/notebook.h"

enum { HELD = 12, BATCHES = 40, DONE_MAX = 40 };

/* What a transaction did, if it commits. */
struct done {
    struct note *put, *refused; /* NULL: not that */
    struct note *completed;
    int key; /* in the ledger; -1: not that */
};

struct actor {
    int number;
    tp_conn *conn; /* NULL: closed */
    long session;
    bool lost;
    bool inside; /* an explicit transaction ... */
    bool failed; /* ... which can only be rolled back */
    struct done done[DONE_MAX];
    size_t done_count;
    tp_claim_request request;
    tp_batch *batches[BATCHES];
    size_t batch_count;
    const tp_task *held[HELD]; /* NULL: a free place */
    bool unsure[HELD];         /* a commit that may have settled it got no answer */
    bool settled_inside[HELD]; /* in the transaction that is open */
};

/* The last call, for people. */
extern char actor_last[120];

/* Notes the answer, and gives it. Fails the test when it is a failure that may not be asked again; another
 * leaves the transaction good for nothing. */
tp_status actor_heard(struct actor *actor, const char *call, tp_status status);

void actor_open(struct actor *actor);
void actor_reopen(struct actor *actor);
void actor_close(struct actor *actor);
/* Its session ends, and nobody has told it. */
void actor_kill(struct actor *actor);

void actor_begin(struct actor *actor);
void actor_commit(struct actor *actor, bool and_begin);
void actor_roll_back(struct actor *actor);
/* For the caller to say what it did in the transaction; the commit confirms it. */
struct done *actor_did(struct actor *actor);
/* It is stored: notes it in the notebook. */
void actor_confirm(const struct done *done);

#endif
