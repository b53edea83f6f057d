/* What tasks a command is about: one table of options and one reader for all commands that select. Must not
 * know what is done to them. Read next: list.c, operate.c. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <stdbool.h>

#include "common/args.h"
#include "taskpool.h"

/* As they were given; ids grow by those of standard input. */
struct selection {
    char **ids;
    char *pool, *handler, *state, *reason, *reason_like, *biz_key, *dedup_key, *since, *until, *worker,
        *group, *gate;
};
extern struct selection selection;
extern struct poptOption selection_table[];
#define SELECTION_OPTIONS                                                                                    \
    {                                                                                                        \
        NULL, '\0', POPT_ARG_INCLUDE_TABLE, selection_table, 0,                                              \
            "Which tasks; all that is given must hold:", NULL                                                \
    }

/* Was anything given that narrows it down, besides the pool? */
bool selection_is_narrow(void);
/* Fill in what was given. A mistake ends the program. */
void selection_for_list(tp_list_request *request);
void selection_for_action(tp_selection *action);
/* A time, or how long before now, by the database's clock; text may be NULL. */
void selection_moment(const char *option, const char *text, int64_t *ms);

#endif
