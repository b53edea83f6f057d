/* See shared_answer.h. All is under one lock, which is not held while the database is asked. */
#include "shared_answer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clocks.h"
#include "common/messages.h"
#include "polling_interval.h"

enum { KEPT_MAX = 64, BYTES_MAX = 8 * 1024 * 1024, CHANGES_MAX = 64 };

/* Freed when it is neither kept any more nor asked or waited for. */
struct entry {
    struct entry *next;
    char *key;
    int64_t begun; /* what changed later may not be in it */
    int64_t until; /* good so long; times of clock_ms */
    bool asking;
    size_t waiting, bytes;
    struct answer answer;
};

struct change {
    char who[REQUEST_NAME_SIZE];
    int64_t at;
};

struct shared_answers {
    int64_t least_ms;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    struct entry *newest;
    struct change changes[CHANGES_MAX]; /* one a person, in no order */
    int64_t changed_at;                 /* by people that have no room there: by anybody */
};

/* ---- Who may get which --------------------------------------------------------------------------------- */

/* All that an answer depends on: the question, and what request.h says of the person but for his name. Every
 * text with its length, so that no two requests have one key. */
static char *key_of(const char *what, const struct request *request) {
    char *key = NULL;
    size_t size;
    FILE *to = cli_must(open_memstream(&key, &size));

    fprintf(to, "%d%d %s %zu:%s", request->params, request->approves, what,
            request->id ? strlen(request->id) : 0, request->id ? request->id : "");
    for (size_t i = 0; i < request->count; i++)
        fprintf(to, " %zu:%s=%zu:%s", strlen(request->parameters[i].name), request->parameters[i].name,
                strlen(request->parameters[i].value), request->parameters[i].value);
    return cli_must(fclose(to) == 0 ? key : NULL);
}

static int64_t changed_at(const struct shared_answers *all, const char *who) {
    for (size_t i = 0; i < CHANGES_MAX; i++)
        if (all->changes[i].at && strcmp(all->changes[i].who, who) == 0) return all->changes[i].at;
    return all->changed_at;
}

void shared_answers_changed(struct shared_answers *all, const char *who) {
    struct change *place = &all->changes[0]; /* his, or the one of longest ago */

    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < CHANGES_MAX; i++) {
        if (strcmp(all->changes[i].who, who) == 0) {
            place = &all->changes[i];
            break;
        }
        if (all->changes[i].at < place->at) place = &all->changes[i];
    }
    if (strcmp(place->who, who) != 0 && place->at > all->changed_at) all->changed_at = place->at;
    snprintf(place->who, sizeof place->who, "%s", who);
    place->at = clock_ms();
    pthread_mutex_unlock(&all->lock);
}

/* ---- What is kept -------------------------------------------------------------------------------------- */

static void free_entry(struct entry *entry) {
    answer_free(&entry->answer);
    free(entry->key);
    free(entry);
}

/* The newest are kept, as far as there is room. */
static void drop_old(struct shared_answers *all) {
    struct entry **at = &all->newest;
    size_t kept = 0, bytes = 0;
    int64_t now = clock_ms();

    while (*at) {
        struct entry *entry = *at;
        bool good = now < entry->until && kept < KEPT_MAX && bytes + entry->bytes <= BYTES_MAX;

        if (entry->asking || entry->waiting || good) {
            kept++;
            bytes += entry->bytes;
            at = &entry->next;
        } else {
            *at = entry->next;
            free_entry(entry);
        }
    }
}

static struct entry *find(const struct shared_answers *all, const char *key, int64_t after) {
    int64_t now = clock_ms();

    for (struct entry *entry = all->newest; entry; entry = entry->next)
        if (strcmp(entry->key, key) == 0 && entry->begun > after && (entry->asking || now < entry->until))
            return entry;
    return NULL;
}

/* Takes the key over. */
static struct entry *add(struct shared_answers *all, char *key) {
    struct entry *entry = cli_must(calloc(1, sizeof *entry));

    entry->key = key;
    entry->begun = clock_ms();
    entry->asking = true;
    entry->next = all->newest;
    all->newest = entry;
    return entry;
}

/* Called with the lock held, which is released while it waits. */
static void take(struct shared_answers *all, struct entry *entry, struct answer *answer) {
    entry->waiting++;
    while (entry->asking)
        pthread_cond_wait(&all->changed, &all->lock);
    answer_share(&entry->answer, answer);
    answer->age_ms = clock_ms() - entry->begun + 1;
    entry->waiting--;
}

/* What went wrong is told to those who wait, and not kept. */
static void finish(struct shared_answers *all, struct entry *entry, struct answer *answer) {
    int64_t now = clock_ms();

    answer_share(answer, &entry->answer);
    entry->bytes = answer->text ? strlen(answer->text) : 0;
    if (answer->status == ANSWER_OK)
        entry->until = now + polling_interval_ms(now - entry->begun, all->least_ms);
    entry->asking = false;
    pthread_cond_broadcast(&all->changed);
}

void shared_answer(struct shared_answers *all, const char *what, const struct request *request,
                   shared_ask_fn ask, void *arg, struct answer *answer) {
    char *key = key_of(what, request);
    struct entry *entry;

    pthread_mutex_lock(&all->lock);
    entry = find(all, key, changed_at(all, request->who));
    if (entry) {
        take(all, entry, answer);
        free(key);
    } else {
        entry = add(all, key);
        pthread_mutex_unlock(&all->lock);
        ask(arg, answer);
        pthread_mutex_lock(&all->lock);
        finish(all, entry, answer);
    }
    drop_old(all);
    pthread_mutex_unlock(&all->lock);
}

struct shared_answers_state shared_answers_state(struct shared_answers *all) {
    struct shared_answers_state state = {0};

    pthread_mutex_lock(&all->lock);
    for (const struct entry *entry = all->newest; entry; entry = entry->next) {
        state.kept += !entry->asking;
        state.bytes += entry->bytes;
        state.waiting += entry->waiting;
    }
    pthread_mutex_unlock(&all->lock);
    return state;
}

struct shared_answers *shared_answers_open(int64_t least_ms) {
    struct shared_answers *all = cli_must(calloc(1, sizeof *all));

    all->least_ms = least_ms;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    return all;
}

void shared_answers_close(struct shared_answers *all) {
    while (all->newest) {
        struct entry *entry = all->newest;

        all->newest = entry->next;
        free_entry(entry);
    }
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
}
