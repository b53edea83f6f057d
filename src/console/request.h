/* What somebody asks of a pool: parameters by name, checked for what HTTP may bring. It outlives the HTTP
 * thread that read it. Must not know HTTP's library. */
#ifndef CONSOLE_REQUEST_H
#define CONSOLE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "taskpool.h"

struct json_object;
struct masks;
struct reader;

enum { REQUEST_PARAMETERS_MAX = 20, REQUEST_NAME_SIZE = 65 };

struct parameter {
    char *name, *value;
};

/* Start from {0}; to be given to request_free. */
struct request {
    char *id; /* the last part of the path; NULL: there is none */
    struct parameter parameters[REQUEST_PARAMETERS_MAX];
    size_t count;
    struct json_object *body; /* an object; NULL: there is none */
    char who[REQUEST_NAME_SIZE];
    bool params;               /* may see, and write, the parameters of tasks */
    bool approves;             /* may decide what others asked for */
    const struct masks *masks; /* of them */
    struct reader *reader;     /* of the pool */
};

void request_free(struct request *request);
/* NULL, or what is wrong with it. */
const char *request_add(struct request *request, const char *name, const char *value);
/* NULL: not given. */
const char *request_text(const struct request *request, const char *name);
/* value stays when it is not given. False: answered that it is no such number. */
bool request_number(const struct request *request, const char *name, int64_t least, int64_t most,
                    int64_t *value, struct answer *answer);
/* As a number of milliseconds, or a time as people write it. */
bool request_time(const struct request *request, const char *name, int64_t *value, struct answer *answer);
/* False: one that is in none of the lists was given, which is answered. */
bool request_knows(const struct request *request, const char *const *names, bool selection,
                   struct answer *answer);

/* The selection of the parameters, or of an object of the same names; what it points to lives as long as
 * they, ids (room for REQUEST_IDS_MAX) is filled. */
enum { REQUEST_IDS_MAX = 1000 };
bool request_selection(const struct request *request, tp_list_request *list, const char **ids,
                       struct answer *answer);
bool request_selection_of(struct json_object *object, tp_list_request *list, const char **ids,
                          struct answer *answer);
/* Does it narrow down anything, so that nothing happens to a whole pool by a forgotten member? */
bool request_is_narrow(const tp_list_request *list);

#endif
