/* See events.h. Each listener is a connection with its thread, which may wait. */
#include "events.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/messages.h"

enum { LISTENERS_MAX = 80, WAIT_MS = 5000, BLOCK = 16384 };

static atomic_int listeners;

struct listener {
    struct console *console;
    struct pool *pool;
    char session[TOKEN_SIZE];
    struct person person;
    uint64_t serial;
    char *text; /* what is to be sent, from at on */
    size_t at, length;
};

/* Somebody who signed out, was taken out of the users or got another password sees no more. */
static bool may_go_on(struct listener *listener) {
    struct person signed_in = listener->person, person;

    if (!listener->console->users) return true;
    if (*listener->session &&
        !sessions_find(listener->console->sessions, listener->session, false, &signed_in))
        return false;
    return users_find_again(listener->console->users, &signed_in, &person) && person.role >= ROLE_VIEWER;
}

static void next_text(struct listener *listener) {
    char error[READER_ERROR_SIZE];
    char *overview = reader_overview(pool_reader(listener->pool), &listener->serial, WAIT_MS, error);
    FILE *to;

    free(listener->text);
    listener->text = NULL;
    listener->at = 0;
    to = cli_must(open_memstream(&listener->text, &listener->length));
    if (overview) {
        fprintf(to, "event: overview\ndata: %s\n\n", overview);
    } else if (*error) {
        struct answer away = {0};

        answer_error(&away, ANSWER_AWAY, "%s", error);
        fprintf(to, "event: away\ndata: %s\n\n", away.text);
        answer_free(&away);
    } else {
        fputs(":\n\n", to);
    }
    cli_must(fclose(to) == 0 ? listener->text : NULL);
    free(overview);
}

static ssize_t read_events(void *arg, uint64_t position, char *to, size_t most) {
    struct listener *listener = arg;
    size_t length;

    (void)position;
    if (listener->at == listener->length) {
        if (pool_hurries(listener->pool) || !may_go_on(listener)) return MHD_CONTENT_READER_END_OF_STREAM;
        next_text(listener);
    }
    length = listener->length - listener->at;
    if (length > most) length = most;
    memcpy(to, listener->text + listener->at, length);
    listener->at += length;
    return (ssize_t)length;
}

static void end(void *arg) {
    struct listener *listener = arg;

    free(listener->text);
    free(listener);
    atomic_fetch_sub(&listeners, 1);
}

struct MHD_Response *events_response(struct console *console, struct pool *pool, const struct call *call) {
    struct MHD_Response *response;
    struct listener *listener;

    if (atomic_fetch_add(&listeners, 1) >= LISTENERS_MAX) {
        atomic_fetch_sub(&listeners, 1);
        return NULL;
    }
    listener = cli_must(calloc(1, sizeof *listener));
    listener->console = console;
    listener->pool = pool;
    listener->person = call->person;
    memcpy(listener->session, call->session, sizeof listener->session);
    response =
        cli_must(MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, listener, end));
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    return response;
}
