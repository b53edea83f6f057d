/* See http.h. Everything that comes from outside is bounded here: connections, sizes, times. */
#include "http.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api.h"
#include "assets.h"
#include "common/messages.h"
#include "events.h"
#include "headers.h"
#include "incoming.h"
#include "tls.h"

enum {
    CONNECTIONS_MAX = 160,
    PER_ADDRESS_MAX = 48, /* a proxy's is the same for everybody, so there it is CONNECTIONS_MAX */
    TIMEOUT_S = 30,
    HEADERS_MAX = 32768,
    STACK_SIZE = 512 * 1024,
    BODY_MAX = 65536,
    EDIT_MAX = 4 * 1024 * 1024, /* parameters of 1 MiB as JSON */
    LARGE_BODIES_MAX = 2,       /* at a time, of more than BODY_MAX */
    LARGE = 65536,
    LARGE_MAX = 24 * 1024 * 1024, /* of all larger answers that somebody is still reading */
    PATH_MAX_BYTES = 512,
};

struct http {
    struct console *console;
    struct MHD_Daemon *daemon;
};

/* A request while it comes in. */
struct exchange {
    struct call call;
    char address[HEADERS_ADDRESS_SIZE];
    bool trusted; /* it comes from the proxy */
    bool unclear; /* where its body ends: nothing more is read of its connection */
    struct answer answer;
    struct incoming body;
    size_t body_size, body_max;
    bool large_body;
    size_t large_answer; /* its bytes; 0: it is small */
};

static atomic_size_t large_bodies, large_answers;

/* ---- Who asks ------------------------------------------------------------------------------------------ */

static void find_person(struct MHD_Connection *connection, struct console *console,
                        struct exchange *exchange) {
    struct call *call = &exchange->call;
    struct person *person = &call->person;
    struct person signed_in;
    const char *cookie;

    *person = (struct person){.role = console->users ? ROLE_NOBODY : ROLE_VIEWER};
    *call->session = '\0';
    if (!console->users) return;
    if (console->user_header) {
        if (!exchange->trusted ||
            !users_find(console->users, headers_value(connection, console->user_header), person))
            return;
        sessions_proxied(console->sessions, person->name, person->csrf);
        return;
    }
    cookie = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND,
                                         console->secure ? "__Host-taskpool" : "taskpool");
    if (!cookie || !sessions_find(console->sessions, cookie, true, &signed_in) ||
        !users_find_again(console->users, &signed_in, person))
        return;
    snprintf(call->session, sizeof call->session, "%s", cookie);
}

/* ---- Answers ------------------------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response) {
    static const struct {
        const char *name, *value;
    } all[] = {
        {"Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
                                    "form-action 'self'; object-src 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        (void)MHD_add_response_header(response, all[i].name, all[i].value);
}

/* Gives the response up. */
static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response) {
    enum MHD_Result result;

    add_headers(response);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Who reads slowly holds the answer's memory: of large ones there are only so many bytes. */
static size_t bound_answer(struct exchange *exchange) {
    struct answer *answer = &exchange->answer;
    size_t length = answer->text ? strlen(answer->text) : 0;

    if (length <= LARGE) return length;
    exchange->large_answer = length;
    if (atomic_fetch_add(&large_answers, length) + length <= LARGE_MAX) return length;
    answer->type = NULL;
    answer_error(answer, ANSWER_AWAY, "others still read large answers; ask again later");
    return strlen(answer->text);
}

/* In whole seconds, and never younger than it is. */
static void add_age(struct MHD_Response *response, int64_t age_ms) {
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)((age_ms + 999) / 1000));
    (void)MHD_add_response_header(response, "Age", text);
}

/* The answer's text stays until the exchange is done. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct exchange *exchange) {
    struct answer *answer = &exchange->answer;
    size_t length = bound_answer(exchange);
    struct MHD_Response *response =
        cli_must(MHD_create_response_from_buffer(length, answer->text, MHD_RESPMEM_PERSISTENT));

    (void)MHD_add_response_header(response, "Content-Type",
                                  answer->type ? answer->type : "application/json; charset=utf-8");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    if (answer->age_ms) add_age(response, answer->age_ms);
    if (*answer->cookie) (void)MHD_add_response_header(response, "Set-Cookie", answer->cookie);
    if (exchange->unclear) (void)MHD_add_response_header(response, "Connection", "close");
    if (answer->status == ANSWER_TOO_MANY) (void)MHD_add_response_header(response, "Retry-After", "300");
    if (answer->status == ANSWER_AWAY) (void)MHD_add_response_header(response, "Retry-After", "2");
    if (answer->status == ANSWER_NOT_ALLOWED) (void)MHD_add_response_header(response, "Allow", "GET, HEAD");
    return send_response(connection, answer->status, response);
}

static enum MHD_Result send_asset(struct MHD_Connection *connection, const struct asset *asset) {
    bool known = strcmp(headers_value(connection, "If-None-Match"), asset->etag) == 0;
    struct MHD_Response *response = cli_must(MHD_create_response_from_buffer(
        known ? 0 : asset->size, (void *)asset->bytes, MHD_RESPMEM_PERSISTENT));

    (void)MHD_add_response_header(response, "Content-Type", asset->type);
    (void)MHD_add_response_header(response, "Cache-Control", "no-cache");
    (void)MHD_add_response_header(response, "ETag", asset->etag);
    return send_response(connection, known ? 304 : ANSWER_OK, response);
}

static enum MHD_Result send_events(struct MHD_Connection *connection, struct console *console,
                                   struct exchange *exchange, struct pool *pool) {
    struct MHD_Response *response = events_response(console, pool, &exchange->call);

    if (!response) {
        answer_error(&exchange->answer, ANSWER_AWAY, "too many look at events already; ask for the overview");
        return send_answer(connection, exchange);
    }
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* a proxy hands each on at once */
    return send_response(connection, ANSWER_OK, response);
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static enum MHD_Result add_parameter(void *arg, enum MHD_ValueKind kind, const char *name,
                                     const char *value) {
    struct exchange *exchange = arg;
    const char *wrong = request_add(&exchange->call.request, name, value);

    (void)kind;
    if (!wrong) return MHD_YES;
    answer_error(&exchange->answer, ANSWER_BAD, "%s", wrong);
    return MHD_NO;
}

/* Parameters of tasks may be long, but not many at a time. */
static void expect_body(unsigned long long size, struct exchange *exchange) {
    exchange->body_max = exchange->call.person.role >= ROLE_OPERATOR ? EDIT_MAX : BODY_MAX;
    if (size > exchange->body_max) {
        answer_error(&exchange->answer, ANSWER_TOO_BIG, "the body is too long; %zu bytes are taken",
                     exchange->body_max);
        return;
    }
    if (size <= BODY_MAX) return;
    exchange->large_body = true;
    if (atomic_fetch_add(&large_bodies, 1) >= LARGE_BODIES_MAX)
        answer_error(&exchange->answer, ANSWER_AWAY, "others send large bodies; ask again later");
}

/* What is wrong with it before its body comes is answered. */
static void begin(struct console *console, struct MHD_Connection *connection, const char *path,
                  const char *method, struct exchange *exchange) {
    struct answer *answer = &exchange->answer;
    bool gets = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const char *wrong = headers_wrong(connection, console);

    exchange->call.method = gets ? "GET" : strcmp(method, "POST") == 0 ? "POST" : "DELETE";
    exchange->call.address = exchange->address;
    exchange->call.csrf = headers_value(connection, "X-CSRF-Token");
    headers_address(connection, console, exchange->address, &exchange->trusted);
    exchange->unclear = wrong != NULL;
    if (wrong)
        answer_error(answer, ANSWER_BAD, "%s", wrong);
    else if (!headers_name_us(connection, console))
        answer_error(answer, ANSWER_WRONG_HOST, "this console is not called by this name; see --host");
    else if (strlen(path) > PATH_MAX_BYTES)
        answer_error(answer, ANSWER_NOT_FOUND, "there is nothing at this address");
    else if (!gets && strcmp(method, "POST") != 0 && strcmp(method, "DELETE") != 0)
        answer_error(answer, ANSWER_NOT_ALLOWED, "there is no such method here");
    else if (!gets && !headers_come_from_us(connection))
        answer_error(answer, ANSWER_FORBIDDEN, "this comes from a page of another place");
    else if (strcmp(method, "POST") == 0 &&
             strncasecmp(headers_value(connection, "Content-Type"), "application/json", 16) != 0)
        answer_error(answer, ANSWER_BAD, "the body must be application/json");
    else
        (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_parameter, exchange);
    if (answer->status) return;
    find_person(connection, console, exchange);
    expect_body(strtoull(headers_value(connection, "Content-Length"), NULL, 10), exchange);
}

/* False: the connection is to be closed. */
static bool take_body(struct exchange *exchange, const char *data, size_t size) {
    exchange->body_size += size;
    if (exchange->body_size > exchange->body_max) return false;
    if (strcmp(exchange->call.method, "POST") != 0 || exchange->answer.status) return true;
    if (!incoming_add(&exchange->body, data, size))
        answer_error(&exchange->answer, ANSWER_TOO_BIG, "the body has too many parts; %d are taken",
                     (int)INCOMING_PARTS_MAX);
    return true;
}

static void read_body(struct exchange *exchange) {
    const char *why = NULL;

    if (!exchange->body.size || exchange->answer.status) return;
    exchange->call.request.body = incoming_read(&exchange->body, &why);
    if (why)
        answer_error(&exchange->answer, ANSWER_BAD, "the body cannot be taken as one JSON object: %s", why);
}

static const struct asset *asset_of(const char *path) {
    if (strcmp(path, "/") == 0) return tpi_asset_find("");
    return strncmp(path, "/assets/", 8) == 0 && path[8] ? tpi_asset_find(path + 8) : NULL;
}

static enum MHD_Result send_what(struct console *console, struct MHD_Connection *connection, const char *path,
                                 struct exchange *exchange) {
    static const char prefix[] = "/api/v1/";
    bool gets = strcmp(exchange->call.method, "GET") == 0;
    const struct asset *asset = gets && !exchange->answer.status ? asset_of(path) : NULL;
    struct pool *pool;

    if (asset) return send_asset(connection, asset);
    exchange->call.path = strncmp(path, prefix, sizeof prefix - 1) == 0 ? path + sizeof prefix - 1 : path;
    if (!exchange->answer.status && gets) {
        pool = api_events(console, &exchange->call, &exchange->answer);
        if (pool) return send_events(connection, console, exchange, pool);
    }
    read_body(exchange);
    /* While the body came in, who sends it may have signed out, or be another. */
    if (!gets) find_person(connection, console, exchange);
    if (!exchange->answer.status) api_answer(console, &exchange->call, &exchange->answer);
    return send_answer(connection, exchange);
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **state) {
    struct http *http = arg;
    struct exchange *exchange = *state;

    (void)version;
    if (!exchange) {
        *state = exchange = cli_must(calloc(1, sizeof *exchange));
        begin(http->console, connection, path, method, exchange);
        /* Before the body comes: nobody sends megabytes to be refused. */
        return exchange->answer.status ? send_answer(connection, exchange) : MHD_YES;
    }
    if (*size) {
        if (!take_body(exchange, data, *size)) return MHD_NO;
        *size = 0;
        return MHD_YES;
    }
    return send_what(http->console, connection, path, exchange);
}

static void done(void *arg, struct MHD_Connection *connection, void **state,
                 enum MHD_RequestTerminationCode why) {
    struct exchange *exchange = *state;

    (void)arg, (void)connection, (void)why;
    if (!exchange) return;
    if (exchange->large_body) atomic_fetch_sub(&large_bodies, 1);
    atomic_fetch_sub(&large_answers, exchange->large_answer);
    incoming_free(&exchange->body);
    request_free(&exchange->call.request);
    answer_free(&exchange->answer);
    free(exchange);
    *state = NULL;
}

/* ---- Beginning and end --------------------------------------------------------------------------------- */

/* Far below 0: it is no such digit. */
static int hex(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *found = digit ? strchr(digits, digit | (digit >= 'A' ? 32 : 0)) : NULL;

    return found ? (int)(found - digits) : -1000;
}

/* %00 would cut a text: it stays as it is, as what is no number does. */
static size_t unescape(void *arg, struct MHD_Connection *connection, char *text) {
    char *to = text;

    (void)arg, (void)connection;
    for (const char *from = text; *from; from++) {
        int value = *from == '%' && from[1] ? 16 * hex(from[1]) + hex(from[2]) : 0;

        if (value > 0) from += 2;
        *to++ = value > 0 ? (char)value : *from;
    }
    *to = '\0';
    return (size_t)(to - text);
}

static void say_nothing(void *arg, const char *format, va_list args) {
    (void)arg, (void)format, (void)args;
}

struct http *http_start(struct console *console, const struct sockaddr *address) {
    struct http *http = cli_must(calloc(1, sizeof *http));
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
                     MHD_USE_ERROR_LOG | (address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0) |
                     (console->tls ? MHD_USE_TLS : 0);
    /* Each takes effect with TLS alone. */
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback()},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES},
                                         {MHD_OPTION_END, 0, NULL}};

    http->console = console;
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)(console->behind_proxy ? CONNECTIONS_MAX : PER_ADDRESS_MAX), MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE, MHD_OPTION_NOTIFY_COMPLETED, done, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, console->tls ? MHD_OPTION_ARRAY : MHD_OPTION_END, tls,
        MHD_OPTION_END);
    if (http->daemon) return http;
    free(http);
    return NULL;
}

int http_port(const struct http *http) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info ? info->port : 0;
}

void http_stop(struct http *http) {
    MHD_stop_daemon(http->daemon);
    free(http);
}
