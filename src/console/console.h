/* The console as a whole: what the options say, and the parts that all requests share. Read next: main.c,
 * then http.c. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "mask.h"
#include "pool.h"
#include "sessions.h"
#include "users.h"

enum { POOLS_MAX = 100, HOSTS_MAX = 40 };

struct console {
    struct pool *pools[POOLS_MAX];
    size_t pool_count;
    struct users *users; /* NULL: nobody signs in, and nothing is changed */
    struct sessions *sessions;
    struct masks *masks;          /* of the parameters of tasks */
    const char *hosts[HOSTS_MAX]; /* by which browsers may call it, without ports; then NULL */
    const char *trust_proxy;      /* the address from which user_header is believed; NULL: none */
    const char *user_header;
    bool behind_proxy; /* which speaks TLS */
    bool tls;          /* by the console itself */
    bool secure;       /* either: cookies are for TLS alone */
    bool open_metrics; /* for everybody */
    int64_t life_ms;   /* of a session */
};

#endif
