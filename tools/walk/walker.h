/* An application that knows only the header's words, and does at random all that they allow: a few
 * connections, each with its transaction and its claims, over one notebook. Calls fail at random, and after
 * each it goes on as the header says that one may. Read next: notebook.h. */
#ifndef TOOLS_WALK_WALKER_H
#define TOOLS_WALK_WALKER_H

#include "walk/notebook.h"

/* One round: so many steps with faults, then without any all that is not known is asked for, and most of what
 * was left off too. Gives how many calls failed. */
int walker_round(int steps);
/* After a round, one that a failed check ended too: no connection is open. */
void walker_close(void);
/* What the last step was, for people. */
const char *walker_last(void);

#endif
