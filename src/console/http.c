/* See http.h. Everything that comes from outside is bounded here: connections, sizes, times. */
#include "http.h"

#include <json-c/json.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "api.h"
#include "assets.h"
#include "common/messages.h"
#include "events.h"

enum {
    CONNECTIONS_MAX = 96,
    PER_ADDRESS_MAX = 48, /* a proxy's is the same for everybody, so there it is CONNECTIONS_MAX */
    TIMEOUT_S = 30,
    HEADERS_MAX = 32768,
    STACK_SIZE = 512 * 1024,
    BODY_MAX = 65536,
    EDIT_MAX = 4 * 1024 * 1024, /* parameters of 1 MiB as JSON */
    PATH_MAX_BYTES = 512,
    ADDRESS_SIZE = 64,
};

struct http {
    struct console *console;
    struct MHD_Daemon *daemon;
};

/* A request while it comes in. */
struct exchange {
    struct call call;
    char address[ADDRESS_SIZE];
    struct answer answer;
    struct json_tokener *reader; /* of the body; NULL: there is none */
    size_t body_size, body_max;
};

/* ---- Headers ------------------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name) {
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value ? value : "";
}

/* How long the name in HOST or HOST:PORT is. */
static size_t host_length(const char *host) {
    return *host == '[' ? strcspn(host, "]") + (strchr(host, ']') != NULL) : strcspn(host, ":");
}

/* A page of somebody else whose name was made to lead here calls by that name. */
static bool host_is_ours(const struct console *console, const char *host) {
    size_t length = host_length(host);

    for (const char *const *one = console->hosts; *one; one++)
        if (strlen(*one) == length && strncasecmp(*one, host, length) == 0) return true;
    return false;
}

/* What a page of another place sends is not wanted, whatever cookies go with it. */
static bool comes_from_us(struct MHD_Connection *connection) {
    const char *origin = header(connection, "Origin"), *site = header(connection, "Sec-Fetch-Site");
    const char *host = strstr(origin, "://");

    if (*site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) return false;
    return !*origin || (host && strcasecmp(host + 3, header(connection, "Host")) == 0);
}

static void read_address(struct MHD_Connection *connection, struct console *console,
                         char address[ADDRESS_SIZE], bool *trusted) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const char *forwarded = strrchr(header(connection, "X-Forwarded-For"), ',');
    socklen_t size;

    snprintf(address, ADDRESS_SIZE, "?");
    *trusted = false;
    if (!info || !info->client_addr) return;
    size =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    (void)getnameinfo(info->client_addr, size, address, ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST);
    *trusted = console->trust_proxy && strcmp(console->trust_proxy, address) == 0;
    forwarded = forwarded ? forwarded + 1 : header(connection, "X-Forwarded-For");
    forwarded += strspn(forwarded, " ");
    if (*trusted && *forwarded) snprintf(address, ADDRESS_SIZE, "%s", forwarded);
}

/* ---- Who asks ------------------------------------------------------------------------------------------ */

static void find_person(struct MHD_Connection *connection, struct console *console, bool trusted,
                        struct call *call) {
    struct person *person = &call->person;
    const char *cookie;
    char name[PERSON_NAME_SIZE], csrf[TOKEN_SIZE];

    *person = (struct person){.role = console->users ? ROLE_NOBODY : ROLE_VIEWER};
    if (!console->users) return;
    if (console->user_header) {
        if (!trusted || !users_find(console->users, header(connection, console->user_header), person)) return;
        sessions_proxied(console->sessions, person->name, person->csrf);
        return;
    }
    cookie = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND,
                                         console->behind_proxy ? "__Host-taskpool" : "taskpool");
    if (!cookie || !sessions_find(console->sessions, cookie, true, name, csrf) ||
        !users_find(console->users, name, person))
        return;
    snprintf(call->session, sizeof call->session, "%s", cookie);
    memcpy(person->csrf, csrf, sizeof csrf);
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

/* Takes the answer's text over. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer) {
    size_t length = answer->text ? strlen(answer->text) : 0;
    struct MHD_Response *response =
        cli_must(MHD_create_response_from_buffer(length, answer->text, MHD_RESPMEM_MUST_FREE));

    answer->text = NULL;
    (void)MHD_add_response_header(response, "Content-Type",
                                  answer->type ? answer->type : "application/json; charset=utf-8");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    if (*answer->cookie) (void)MHD_add_response_header(response, "Set-Cookie", answer->cookie);
    if (answer->status == ANSWER_TOO_MANY) (void)MHD_add_response_header(response, "Retry-After", "300");
    if (answer->status == ANSWER_AWAY) (void)MHD_add_response_header(response, "Retry-After", "2");
    if (answer->status == ANSWER_NOT_ALLOWED) (void)MHD_add_response_header(response, "Allow", "GET, HEAD");
    return send_response(connection, answer->status, response);
}

static enum MHD_Result send_asset(struct MHD_Connection *connection, const struct asset *asset) {
    bool known = strcmp(header(connection, "If-None-Match"), asset->etag) == 0;
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
        return send_answer(connection, &exchange->answer);
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

/* What is wrong with it before its body comes is answered. */
static void begin(struct console *console, struct MHD_Connection *connection, const char *path,
                  const char *method, struct exchange *exchange) {
    struct answer *answer = &exchange->answer;
    bool gets = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0, trusted;

    exchange->call.method = gets ? "GET" : strcmp(method, "POST") == 0 ? "POST" : "DELETE";
    exchange->call.address = exchange->address;
    exchange->call.csrf = header(connection, "X-CSRF-Token");
    read_address(connection, console, exchange->address, &trusted);
    if (!host_is_ours(console, header(connection, "Host")))
        answer_error(answer, ANSWER_WRONG_HOST, "this console is not called by this name; see --host");
    else if (strlen(path) > PATH_MAX_BYTES)
        answer_error(answer, ANSWER_NOT_FOUND, "there is nothing at this address");
    else if (!gets && strcmp(method, "POST") != 0 && strcmp(method, "DELETE") != 0)
        answer_error(answer, ANSWER_NOT_ALLOWED, "there is no such method here");
    else if (!gets && !comes_from_us(connection))
        answer_error(answer, ANSWER_FORBIDDEN, "this comes from a page of another place");
    else if (strcmp(method, "POST") == 0 &&
             strncasecmp(header(connection, "Content-Type"), "application/json", 16) != 0)
        answer_error(answer, ANSWER_BAD, "the body must be application/json");
    else
        (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_parameter, exchange);
    if (answer->status) return;
    find_person(connection, console, trusted, &exchange->call);
    exchange->body_max = exchange->call.person.role >= ROLE_OPERATOR ? EDIT_MAX : BODY_MAX;
    if (strtoull(header(connection, "Content-Length"), NULL, 10) > exchange->body_max)
        answer_error(answer, ANSWER_TOO_BIG, "the body is too long; %zu bytes are taken", exchange->body_max);
}

/* False: the connection is to be closed. */
static bool take_body(struct exchange *exchange, const char *data, size_t size) {
    struct request *request = &exchange->call.request;

    exchange->body_size += size;
    if (exchange->body_size > exchange->body_max) return false;
    if (strcmp(exchange->call.method, "POST") != 0 || exchange->answer.status) return true;
    if (!exchange->reader) {
        exchange->reader = cli_must(json_tokener_new());
        json_tokener_set_flags(exchange->reader, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    }
    if (request->body) { /* behind its end */
        answer_error(&exchange->answer, ANSWER_BAD, "the body must be one JSON object");
        return true;
    }
    request->body = json_tokener_parse_ex(exchange->reader, data, (int)size);
    if (request->body ? !json_object_is_type(request->body, json_type_object)
                      : json_tokener_get_error(exchange->reader) != json_tokener_continue)
        answer_error(&exchange->answer, ANSWER_BAD, "the body must be one JSON object");
    return true;
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
    if (!exchange->answer.status) api_answer(console, &exchange->call, &exchange->answer);
    return send_answer(connection, &exchange->answer);
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
        return exchange->answer.status ? send_answer(connection, &exchange->answer) : MHD_YES;
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
    if (exchange->reader) json_tokener_free(exchange->reader);
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
                     MHD_USE_ERROR_LOG | (address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);

    http->console = console;
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)(console->behind_proxy ? CONNECTIONS_MAX : PER_ADDRESS_MAX), MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE, MHD_OPTION_NOTIFY_COMPLETED, done, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
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
