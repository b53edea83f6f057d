/* What a request is answered with. Must not know HTTP's library or the pool. */
#ifndef CONSOLE_ANSWER_H
#define CONSOLE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/json.h"
#include "common/out.h"
#include "taskpool.h"

/* HTTP's numbers. */
enum {
    ANSWER_OK = 200,
    ANSWER_BAD = 400,
    ANSWER_SIGN_IN = 401,
    ANSWER_FORBIDDEN = 403,
    ANSWER_NOT_FOUND = 404,
    ANSWER_NOT_ALLOWED = 405,
    ANSWER_CHANGED = 409,
    ANSWER_TOO_BIG = 413,
    ANSWER_WRONG_HOST = 421,
    ANSWER_TOO_MANY = 429,
    ANSWER_INTERNAL = 500,
    ANSWER_AWAY = 503,
    ANSWER_LATE = 504
};

struct sharers;

/* Start from {0}; to be given to answer_free. */
struct answer {
    unsigned status;         /* 0: not answered */
    char *text;              /* the body; NULL: none */
    struct sharers *sharers; /* other answers that have the same body; NULL: none */
    const char *type;        /* NULL: JSON */
    char cookie[160];        /* for Set-Cookie; "": none */
    int64_t age_ms;          /* 0: it was asked for now; else it is another's, and so old at most */
    bool lost;               /* the connection to the database has to be opened again */
};

/* Takes object over. */
void answer_json(struct answer *answer, struct json_object *object);
void answer_members(struct answer *answer, const struct member *members);
/* {"error": ...}: what was wrong; what to do. */
void answer_error(struct answer *answer, unsigned status, const char *format, ...) PRINTF_LIKE(3, 4);
/* The library's last error of this thread. */
void answer_tp(struct answer *answer, tp_status status);
void answer_free(struct answer *answer);
/* to, which was empty, becomes the same answer, with the very same body. Any thread may use either. */
void answer_share(struct answer *from, struct answer *to);

/* JSON on one line, in which every character is harmless; takes object over, the caller frees the text. */
char *answer_text(struct json_object *object);

#endif
