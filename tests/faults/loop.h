/* How applications come to ask again after a failure: what each kind of loop around a call does between two
 * tries. It must not know what the operation is. The application's own calls of operation.h are here too. */
#ifndef TESTS_FAULTS_LOOP_H
#define TESTS_FAULTS_LOOP_H

#include "faults/operation.h"

/* X(enumerator, "its name") */
#define LOOP_LIST(X)                                                                                         \
    X(LOOP_SAME, "same connection") /* reopened when it is lost */                                           \
    X(LOOP_NEW_CONNECTION, "new connection")                                                                 \
    X(LOOP_NEW_PROCESS, "new process") /* the same, and it knows only what an application would store */     \
    X(LOOP_ROLLED_BACK, "rolled back") /* the next try is answered, and the application rolls it back */

enum loop {
#define LOOP_ENUM(id, name) id,
    LOOP_LIST(LOOP_ENUM)
#undef LOOP_ENUM
        LOOPS
};

const char *loop_name(enum loop loop);
/* Is it one for this operation? */
bool loop_is_possible(enum loop loop, const struct operation *operation);

/* Before the first call: what the application stores. */
void loop_begin(struct work *work);
/* After a failure: the work is ready for the next try. */
void loop_recover(enum loop loop, const struct operation *operation, struct work *work);
/* Instead of the commit. */
tp_status loop_roll_back(struct work *work);

void loop_open_loan(struct work *work);
void loop_close_loan(struct work *work);
void loop_reopen(struct work *work);

#endif
