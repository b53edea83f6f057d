/* See api.h. */
#include "api.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "assets.h"
#include "common/pool_metrics.h"
#include "looks.h"

enum { OVERVIEW_WAIT_MS = 5000, PASSWORD_MAX = 256 };

static struct pool *find_pool(const struct console *console, const char *name) {
    for (size_t i = 0; i < console->pool_count; i++)
        if (strcmp(pool_name(console->pools[i]), name) == 0) return console->pools[i];
    return NULL;
}

static bool may(const struct console *console, const struct person *person, enum role least,
                struct answer *answer) {
    if (person->role >= least) return true;
    if (*person->name || !console->users)
        answer_error(answer, ANSWER_FORBIDDEN, "%s",
                     console->users
                         ? "your role does not allow this; an administrator of the console gives roles"
                         : "no users are set up, so nothing can be changed here; see --users");
    else
        answer_error(answer, ANSWER_SIGN_IN, "sign in first");
    return false;
}

/* ---- Session ------------------------------------------------------------------------------------------- */

static void answer_session(const struct console *console, const struct person *person,
                           struct answer *answer) {
    answer_members(answer,
                   MEMBERS(MEMBER_TEXT("user", person->name), MEMBER_TEXT("role", role_name(person->role)),
                           MEMBER_YES_NO("params", person->params), MEMBER_TEXT("csrf", person->csrf),
                           MEMBER_YES_NO("sign_in", console->users && !console->user_header)));
}

static void set_cookie(const struct console *console, const char *token, struct answer *answer) {
    snprintf(answer->cookie, sizeof answer->cookie,
             "%s=%s; Path=/; HttpOnly; SameSite=Strict%s; Max-Age=%lld",
             console->secure ? "__Host-taskpool" : "taskpool", token, console->secure ? "; Secure" : "",
             *token ? (long long)(console->life_ms / 1000) : 0LL);
}

static const char *text_of(json_object *body, const char *key) {
    json_object *value;

    if (!body || !json_object_object_get_ex(body, key, &value) ||
        !json_object_is_type(value, json_type_string))
        return NULL;
    return json_object_get_string(value);
}

static void try_to_sign_in(struct console *console, struct call *call, struct answer *answer) {
    const char *name = text_of(call->request.body, "user");
    const char *password = text_of(call->request.body, "password");
    char token[TOKEN_SIZE];

    if (!console->users || console->user_header)
        answer_error(answer, ANSWER_NOT_FOUND, "nobody signs in here: %s",
                     console->users ? "the proxy in front says who you are" : "no users are set up");
    else if (!name || !password || strlen(password) > PASSWORD_MAX || strlen(name) >= PERSON_NAME_SIZE)
        answer_error(answer, ANSWER_BAD, "user and password must be texts");
    else if (!sessions_may_try(console->sessions, name, call->address))
        answer_error(answer, ANSWER_TOO_MANY, "too many tries; wait five minutes");
    else if (!users_check(console->users, name, password, &call->person))
        answer_error(answer, ANSWER_SIGN_IN, "the name or the password is wrong");
    else {
        sessions_forgive(console->sessions, name, call->address);
        sessions_end(console->sessions, call->session);
        sessions_add(console->sessions, &call->person, token);
        answer_session(console, &call->person, answer);
        set_cookie(console, token, answer);
    }
}

/* A name that is not known is not told: it may be a password in the wrong field. */
static void sign_in(struct console *console, struct call *call, struct answer *answer) {
    const char *name = text_of(call->request.body, "user");
    struct person person;

    try_to_sign_in(console, call, answer);
    if (answer->status == ANSWER_SIGN_IN || answer->status == ANSWER_TOO_MANY)
        cli_warn("%s could not sign in as %s: %s", call->address,
                 users_find(console->users, name, &person) ? name : "somebody unknown",
                 answer->status == ANSWER_TOO_MANY ? "too many tries" : "wrong name or password");
}

static void sign_out(struct console *console, struct call *call, struct answer *answer) {
    struct person nobody = {.role = console->users ? ROLE_NOBODY : ROLE_VIEWER};

    if (!token_is_equal(call->csrf, call->person.csrf)) {
        answer_error(answer, ANSWER_FORBIDDEN, "the header X-CSRF-Token is missing or wrong");
        return;
    }
    sessions_end(console->sessions, call->session);
    answer_session(console, &nobody, answer);
    set_cookie(console, "", answer);
}

static void do_session(struct console *console, struct call *call, struct answer *answer) {
    if (strcmp(call->method, "GET") == 0)
        answer_session(console, &call->person, answer);
    else if (strcmp(call->method, "POST") == 0)
        sign_in(console, call, answer);
    else
        sign_out(console, call, answer);
}

/* ---- Pools --------------------------------------------------------------------------------------------- */

static void answer_pools(const struct console *console, struct answer *answer) {
    json_object *list = cli_must(json_object_new_array());

    for (size_t i = 0; i < console->pool_count; i++) {
        struct reader *reader = pool_reader(console->pools[i]);
        char error[READER_ERROR_SIZE];
        bool away = reader_away(reader, error);
        json_object *object = json_new();

        reader_look(reader, false);
        json_add(object, MEMBERS(MEMBER_TEXT("name", pool_name(console->pools[i])),
                                 MEMBER_TEXT("dialect", reader_dialect(reader)), MEMBER_YES_NO("away", away),
                                 MEMBER_TEXT("error", error)));
        json_object_array_add(list, object);
    }
    answer_members(answer, MEMBERS(MEMBER_JSON("pools", list)));
}

static void answer_overview(struct pool *pool, struct answer *answer) {
    char error[READER_ERROR_SIZE];
    uint64_t serial = 0;
    char *text = reader_overview(pool_reader(pool), &serial, OVERVIEW_WAIT_MS, error);

    if (text)
        answer->status = ANSWER_OK;
    else
        answer_error(answer, ANSWER_AWAY, "%s",
                     *error ? error : "the pool is still being read; ask again in a moment");
    if (text) answer->text = text;
}

static void look(struct pool *pool, const char *what, struct call *call, struct answer *answer) {
    static const struct {
        const char *name;
        ask_fn ask;
        bool selects;
        const char *parameters[5];
    } looks[] = {
#define LOOK_ROW(name, function, selects, ...) {name, function, selects, {__VA_ARGS__}},
        LOOK_LIST(LOOK_ROW)
#undef LOOK_ROW
    };
    static const char *const none[] = {NULL};
    bool one = call->request.id != NULL;

    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        if (strcmp(looks[i].name, what) != 0 || (one && looks[i].ask != look_tasks)) continue;
        if (request_knows(&call->request, one ? none : looks[i].parameters, !one && looks[i].selects, answer))
            pool_look(pool, what, one ? look_task : looks[i].ask, &call->request, answer);
        return;
    }
    if (strcmp(what, "overview") == 0 && !one)
        answer_overview(pool, answer);
    else
        answer_error(answer, ANSWER_NOT_FOUND, "there is nothing at this address");
}

static void act(struct pool *pool, struct call *call, struct answer *answer) {
    ask_fn ask = action_find(call->request.id);

    if (!ask)
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such action");
    else if (!token_is_equal(call->csrf, call->person.csrf))
        answer_error(answer, ANSWER_FORBIDDEN, "the header X-CSRF-Token is missing or wrong");
    else if (!call->request.body)
        answer_error(answer, ANSWER_BAD, "the body must be a JSON object");
    else
        pool_act(pool, call->person.role, ask, &call->request, answer);
}

/* The parts of pools/POOL/WHAT[/ID]; false: it is not like that. */
static bool split(struct console *console, struct call *call, struct pool **pool, char what[20]) {
    char name[PERSON_NAME_SIZE], id[200] = "";
    int count = sscanf(call->path, "pools/%64[^/]/%19[^/]/%199[^/]", name, what, id);
    size_t length = count < 2 ? 0 : strlen("pools/") + strlen(name) + 1 + strlen(what);

    if (!length || strlen(call->path) != length + (count == 3 ? strlen(id) + 1 : 0)) return false;
    *pool = find_pool(console, name);
    if (count == 3) call->request.id = cli_must(strdup(id));
    return *pool != NULL;
}

struct pool *api_events(struct console *console, const struct call *call, struct answer *answer) {
    struct call copy = *call;
    struct pool *pool = NULL;
    char what[20];

    if (!split(console, &copy, &pool, what) || strcmp(what, "events") != 0 || copy.request.id) pool = NULL;
    free(copy.request.id);
    return pool && may(console, &call->person, ROLE_VIEWER, answer) ? pool : NULL;
}

static void do_pool(struct console *console, struct call *call, struct answer *answer) {
    bool posts = strcmp(call->method, "POST") == 0;
    struct pool *pool = NULL;
    char what[20];

    if (!may(console, &call->person, posts ? ROLE_OPERATOR : ROLE_VIEWER, answer)) return;
    if (!split(console, call, &pool, what)) {
        answer_error(answer, ANSWER_NOT_FOUND, "there is no such pool, or nothing at this address");
        return;
    }
    snprintf(call->request.who, sizeof call->request.who, "%s", call->person.name);
    call->request.params = call->person.params;
    call->request.approves = call->person.role >= ROLE_APPROVER;
    call->request.masks = console->masks;
    call->request.reader = pool_reader(pool);
    if (strcmp(what, "actions") == 0 && call->request.id && posts) {
        if (may(console, &call->person, action_role(call->request.id), answer)) act(pool, call, answer);
    } else if (posts || strcmp(call->method, "GET") != 0)
        answer_error(answer, ANSWER_NOT_ALLOWED, "this can only be looked at");
    else
        look(pool, what, call, answer);
}

/* ---- For machines -------------------------------------------------------------------------------------- */

static void answer_metrics(const struct console *console, struct answer *answer) {
    struct pool_metrics *pools = cli_must(calloc(console->pool_count + 1, sizeof *pools));
    struct figures *figures = cli_must(calloc(console->pool_count + 1, sizeof *figures));
    size_t count = 0, length;
    FILE *to = cli_must(open_memstream(&answer->text, &length));

    for (size_t i = 0; i < console->pool_count; i++) {
        figures[i] = reader_figures(pool_reader(console->pools[i]));
        if (figures[i].now) pools[count++] = (struct pool_metrics){pool_name(console->pools[i]), &figures[i]};
    }
    pool_metrics_put(to, pools, false);
    cli_must(fclose(to) == 0 ? answer->text : NULL);
    for (size_t i = 0; i < console->pool_count; i++)
        figures_free(&figures[i]);
    free(figures);
    free(pools);
    answer->status = ANSWER_OK;
    answer->type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

static void answer_ready(const struct console *console, struct answer *answer) {
    char error[READER_ERROR_SIZE];
    int away = 0;

    for (size_t i = 0; i < console->pool_count; i++)
        away += reader_away(pool_reader(console->pools[i]), error) ||
                !*reader_dialect(pool_reader(console->pools[i]));
    answer_members(answer, MEMBERS(MEMBER_YES_NO("ready", away == 0), MEMBER_NUMBER("away", away)));
    if (away) answer->status = ANSWER_AWAY;
}

static void answer_description(struct answer *answer) {
    const struct asset *asset = tpi_asset_find("openapi.json");

    if (!asset) {
        answer_error(answer, ANSWER_NOT_FOUND, "the description was not built in");
        return;
    }
    answer->text = cli_must(strndup((const char *)asset->bytes, asset->size));
    answer->status = ANSWER_OK;
}

void api_answer(struct console *console, struct call *call, struct answer *answer) {
    const char *path = call->path;
    bool gets = strcmp(call->method, "GET") == 0, metrics = strcmp(path, "/metrics") == 0;

    if (strcmp(path, "session") == 0)
        do_session(console, call, answer);
    else if (strncmp(path, "pools/", 6) == 0)
        do_pool(console, call, answer);
    else if (!gets)
        answer_error(answer, ANSWER_NOT_ALLOWED, "this can only be looked at");
    else if (strcmp(path, "/healthz") == 0)
        answer_members(answer, MEMBERS(MEMBER_YES_NO("ok", 1)));
    else if (strcmp(path, "/readyz") == 0)
        answer_ready(console, answer);
    else if (strcmp(path, "openapi.json") == 0)
        answer_description(answer);
    else if (strcmp(path, "pools") != 0 && !metrics)
        answer_error(answer, ANSWER_NOT_FOUND, "there is nothing at this address");
    else if (!(metrics && console->open_metrics) && !may(console, &call->person, ROLE_VIEWER, answer))
        return;
    else if (metrics)
        answer_metrics(console, answer);
    else
        answer_pools(console, answer);
}
