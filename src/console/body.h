/* The body of an action's request: its members, checked, and what all actions have in common. Must not know
 * what the actions are. */
#ifndef CONSOLE_BODY_H
#define CONSOLE_BODY_H

#include "request.h"

enum { BODY_TEXT_MAX = 1000 };

/* What all actions have. */
struct body_common {
    const char *why;
    bool dry_run;
    int64_t expect; /* -1: not given */
};

/* Is every member one of names, which end with NULL, or one that all actions have? A null is not taken for a
 * member that was left out: without its expect or its handler an action does more. Reads what all have.
 * False, here and below: answered. */
bool body_common(const struct request *request, const char *const *names, struct body_common *common,
                 struct answer *answer);

/* NULL: it is not there, or null. */
struct json_object *body_member(const struct request *request, const char *key);
/* These leave their value as it was when the member is not there. */
bool body_text(const struct request *request, const char *key, size_t most, const char **text,
               struct answer *answer);
bool body_number(const struct request *request, const char *key, int64_t least, int64_t most, int64_t *number,
                 struct answer *answer);
bool body_yes_no(const struct request *request, const char *key, bool *yes, struct answer *answer);
/* A text that must be there. */
bool body_needed(const struct request *request, const char *key, const char **text, struct answer *answer);

/* False: something else is there than was counted before, so that nothing is done. */
bool body_expected(const struct body_common *common, size_t count, struct answer *answer);
/* Answers how many were changed, or would be, and writes down what was done. */
void body_answer(const struct request *request, const char *name, const struct body_common *common,
                 size_t count, struct answer *answer);
/* The same with members of its own. */
void body_answer_more(const struct request *request, const char *name, const struct body_common *common,
                      size_t count, const struct member *more, struct answer *answer);

/* Answers that another person has to approve it. id: the request's, or NULL. */
void body_requested(const struct request *request, const char *name, const char *id, size_t count,
                    struct answer *answer);

#endif
