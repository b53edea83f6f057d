/* Who is signed in: tokens in memory, which end by themselves; and a limit on tries to sign in. Must not know
 * HTTP or passwords. */
#ifndef CONSOLE_SESSIONS_H
#define CONSOLE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "person.h"

struct sessions;

/* idle_ms: a session that was not used for so long has ended; life_ms: it ends then however it is used. */
struct sessions *sessions_open(int64_t idle_ms, int64_t life_ms);
void sessions_close(struct sessions *sessions);
/* Makes one; token and the person's csrf get its random texts. A proxied one is that of the name, and has no
 * token. */
void sessions_add(struct sessions *sessions, struct person *person, char token[TOKEN_SIZE]);
/* Whose it is, but for role and rights: name, csrf, and password as it was at the sign-in. use: this is use
 * of it, by which it goes on. False: it is not there, or has ended. */
bool sessions_find(struct sessions *sessions, const char *token, bool use, struct person *person);
void sessions_end(struct sessions *sessions, const char *token);
/* The CSRF token of somebody whom a proxy has signed in. */
void sessions_proxied(struct sessions *sessions, const char *name, char csrf[TOKEN_SIZE]);

/* May somebody at this address try this name now? Counts the try until it is forgiven. */
bool sessions_may_try(struct sessions *sessions, const char *name, const char *address);
void sessions_forgive(struct sessions *sessions, const char *name, const char *address);

/* Takes as long wherever they differ. */
bool token_is_equal(const char *one, const char *other);

#endif
