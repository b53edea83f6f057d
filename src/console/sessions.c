/* See sessions.h. Tables of a fixed size: whoever asks cannot make them grow. */
#include "sessions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clocks.h"
#include "common/messages.h"

enum { SESSIONS_MAX = 1000, TRIES = 4096, TRIES_MS = 300000, RANDOM_BYTES = 32 };
/* So many tries that failed in that time: of one name from one address, from one address, of one name. */
enum { TRIES_PAIR = 5, TRIES_ADDRESS = 20, TRIES_NAME = 50 };

struct session {
    char token[TOKEN_SIZE]; /* "": free, or proxied */
    char csrf[TOKEN_SIZE];
    char name[PERSON_NAME_SIZE]; /* "": free */
    uint64_t password;
    int64_t begun, used; /* of clock_ms */
};

struct tries {
    int64_t since;
    int count;
};

struct sessions {
    int64_t idle_ms, life_ms;
    uint64_t seed; /* so that nobody knows which names share a counter */
    pthread_mutex_t lock;
    struct session of[SESSIONS_MAX];
    struct tries tries[TRIES];
};

static void fill_random(void *to, size_t size) {
    size_t done = 0;

    while (done < size) {
        ssize_t got = getrandom((char *)to + done, size - done, 0);

        if (got > 0) done += (size_t)got;
    }
}

static void make_token(char token[TOKEN_SIZE]) {
    unsigned char bytes[RANDOM_BYTES];

    fill_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

bool token_is_equal(const char *one, const char *other) {
    unsigned char differ = strlen(one) != TOKEN_SIZE - 1 || strlen(other) != TOKEN_SIZE - 1;

    for (size_t i = 0; !differ && i < TOKEN_SIZE - 1; i += 8)
        for (size_t k = i; k < i + 8; k++)
            differ |= (unsigned char)(one[k] ^ other[k]);
    return !differ;
}

struct sessions *sessions_open(int64_t idle_ms, int64_t life_ms) {
    struct sessions *sessions = cli_must(calloc(1, sizeof *sessions));

    sessions->idle_ms = idle_ms;
    sessions->life_ms = life_ms;
    fill_random(&sessions->seed, sizeof sessions->seed);
    pthread_mutex_init(&sessions->lock, NULL);
    return sessions;
}

void sessions_close(struct sessions *sessions) {
    if (!sessions) return;
    pthread_mutex_destroy(&sessions->lock);
    explicit_bzero(sessions->of, sizeof sessions->of);
    free(sessions);
}

static bool has_ended(const struct sessions *sessions, const struct session *session) {
    int64_t now = clock_ms();

    return now - session->used >= sessions->idle_ms || now - session->begun >= sessions->life_ms;
}

/* A free place, or that of the one that was used longest ago. */
static struct session *place_for(struct sessions *sessions) {
    struct session *oldest = &sessions->of[0];

    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct session *session = &sessions->of[i];

        if (!*session->name || has_ended(sessions, session)) return session;
        if (session->used < oldest->used) oldest = session;
    }
    return oldest;
}

static struct session *begin(struct sessions *sessions, const char *name) {
    struct session *session = place_for(sessions);

    *session = (struct session){.begun = clock_ms(), .used = clock_ms()};
    snprintf(session->name, sizeof session->name, "%s", name);
    make_token(session->csrf);
    return session;
}

void sessions_add(struct sessions *sessions, struct person *person, char token[TOKEN_SIZE]) {
    struct session *session;

    pthread_mutex_lock(&sessions->lock);
    session = begin(sessions, person->name);
    session->password = person->password;
    make_token(session->token);
    memcpy(token, session->token, TOKEN_SIZE);
    memcpy(person->csrf, session->csrf, TOKEN_SIZE);
    pthread_mutex_unlock(&sessions->lock);
}

/* Called with the lock held; NULL: there is none, or it has ended. */
static struct session *find(struct sessions *sessions, const char *token) {
    struct session *found = NULL;

    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (*sessions->of[i].token && token_is_equal(sessions->of[i].token, token)) found = &sessions->of[i];
    return found && !has_ended(sessions, found) ? found : NULL;
}

bool sessions_find(struct sessions *sessions, const char *token, bool use, struct person *person) {
    struct session *session;

    pthread_mutex_lock(&sessions->lock);
    session = find(sessions, token);
    if (session) {
        if (use) session->used = clock_ms();
        *person = (struct person){.password = session->password};
        memcpy(person->name, session->name, PERSON_NAME_SIZE);
        memcpy(person->csrf, session->csrf, TOKEN_SIZE);
    }
    pthread_mutex_unlock(&sessions->lock);
    return session != NULL;
}

void sessions_end(struct sessions *sessions, const char *token) {
    struct session *session;

    pthread_mutex_lock(&sessions->lock);
    session = find(sessions, token);
    if (session) *session = (struct session){0};
    pthread_mutex_unlock(&sessions->lock);
}

void sessions_proxied(struct sessions *sessions, const char *name, char csrf[TOKEN_SIZE]) {
    struct session *session = NULL;

    pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (!*sessions->of[i].token && strcmp(sessions->of[i].name, name) == 0 &&
            !has_ended(sessions, &sessions->of[i]))
            session = &sessions->of[i];
    if (!session) session = begin(sessions, name);
    session->used = clock_ms();
    memcpy(csrf, session->csrf, TOKEN_SIZE);
    pthread_mutex_unlock(&sessions->lock);
}

/* ---- Tries --------------------------------------------------------------------------------------------- */

/* FNV-1a. Names that share a counter share its limit, which is rare. */
static struct tries *tries_of(struct sessions *sessions, const char *name, const char *address) {
    uint64_t hash = 14695981039346656037U ^ sessions->seed;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211U;
    hash = (hash ^ 256) * 1099511628211U;
    for (; *address; address++)
        hash = (hash ^ (unsigned char)*address) * 1099511628211U;
    return &sessions->tries[(hash ^ hash >> 32) % TRIES];
}

static bool count(struct tries *tries, int most) {
    int64_t now = clock_ms();

    if (!tries->count || now - tries->since >= TRIES_MS) *tries = (struct tries){.since = now};
    if (tries->count >= most) return false;
    tries->count++;
    return true;
}

bool sessions_may_try(struct sessions *sessions, const char *name, const char *address) {
    bool may;

    pthread_mutex_lock(&sessions->lock);
    may = count(tries_of(sessions, name, address), TRIES_PAIR) &&
          count(tries_of(sessions, "", address), TRIES_ADDRESS) &&
          count(tries_of(sessions, name, ""), TRIES_NAME);
    pthread_mutex_unlock(&sessions->lock);
    return may;
}

void sessions_forgive(struct sessions *sessions, const char *name, const char *address) {
    struct tries *of[3];

    pthread_mutex_lock(&sessions->lock);
    of[0] = tries_of(sessions, name, address);
    of[1] = tries_of(sessions, "", address);
    of[2] = tries_of(sessions, name, "");
    for (size_t i = 0; i < 3; i++)
        if (of[i]->count) of[i]->count--;
    pthread_mutex_unlock(&sessions->lock);
}
