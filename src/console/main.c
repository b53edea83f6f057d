/* taskpool-console(1): shows pools in a web page, and lets operators act on them. Reads the options, starts
 * the parts (console.h), and ends them. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/args.h"
#include "common/examples.h"
#include "console.h"
#include "http.h"

enum { WAIT_MS = 10000, IDLE_MS = 1800000, LIFE_MS = 36000000, PORT_SIZE = 8, ADDRESS_SIZE = 64 };

static struct {
    char *listen, **pools, **hosts, *users, *role, *user_header, *trust_proxy, *wait, *idle, *life;
    int params, behind_proxy, open_metrics;
} options;

static struct poptOption table[] = {
    OPTION_TEXT("listen", 'l', &options.listen, "ADDRESS:PORT",
                "where to listen (127.0.0.1:8080); also [::1]:8080"),
    {"pool", 'p', POPT_ARG_ARGV, &options.pools, 0,
     "a pool, and the file with its ODBC connection string; may be repeated", "NAME=DSN-FILE"},
    OPTION_TEXT("dsn-file", '\0', &common.dsn_file, "FILE", "of the only pool, without --pool"),
    OPTION_TEXT("dsn", '\0', &common.dsn, "STRING",
                "the connection string itself; better in a file, or in the variable TASKPOOL_DSN"),
    OPTION_TEXT("users", 'u', &options.users, "FILE",
                "who may sign in; without it everybody who reaches the page may look, and nobody may act"),
    OPTION_TEXT("role", '\0', &options.role, "ROLE",
                "user add: viewer (default), operator, approver or administrator"),
    OPTION_FLAG("params", '\0', &options.params, "user add: may see the parameters of tasks"),
    {"host", '\0', POPT_ARG_ARGV, &options.hosts, 0,
     "a name by which browsers call the console; may be repeated", "NAME"},
    OPTION_FLAG("behind-proxy", '\0', &options.behind_proxy,
                "a proxy in front speaks TLS; cookies are for TLS alone"),
    OPTION_TEXT("user-header", '\0', &options.user_header, "NAME",
                "the proxy says who asks, in this header; nobody signs in here"),
    OPTION_TEXT("trust-proxy", '\0', &options.trust_proxy, "ADDRESS",
                "the proxy's address: from there --user-header and X-Forwarded-For are believed"),
    OPTION_FLAG("open-metrics", '\0', &options.open_metrics, "everybody may read /metrics"),
    OPTION_TEXT("idle", '\0', &options.idle, "DURATION",
                "a session ends when it was not used for so long (30m)"),
    OPTION_TEXT("life", '\0', &options.life, "DURATION", "a session ends after this time (10h)"),
    OPTION_TEXT("wait", '\0', &options.wait, "DURATION", "how long a request waits for the database (10s)"),
    OPTION_FLAG("json", '\0', &common.json, "with --help: the options for programs"),
    OPTION_FLAG("help", 'h', &common.help, "this text"),
    POPT_TABLEEND,
};

static const struct usage usage = {
    "[user add NAME | user remove NAME | user list]",
    "Shows pools in a web page: what waits, fails and runs, tasks with their lives, workers, schedules, "
    "history.\n"
    "With --users, people sign in, and operators may retry, skip, release, pause, resume, drain, fire and "
    "edit;\n"
    "what they do is recorded in the pool's history with their name. Without --pool it shows the one pool "
    "of\n"
    "TASKPOOL_DSN. It speaks HTTP and listens for this machine only; a proxy in front makes TLS of it.\n"
    "user add reads the password from the terminal or from standard input.\n",
    "  taskpool-console\n"
    "  taskpool-console user add ann --role operator --users /etc/taskpool/console.users\n"
    "  taskpool-console --pool pay=/etc/taskpool/pay.dsn --pool mail=/etc/taskpool/mail.dsn --users "
    "/etc/taskpool/console.users\n",
    table,
    0,
    3,
};

/* ---- Where it listens ---------------------------------------------------------------------------------- */

struct place {
    char address[ADDRESS_SIZE], port[PORT_SIZE];
    struct sockaddr_storage at;
    bool loopback;
};

/* ADDRESS:PORT or [ADDRESS]:PORT. */
static void read_place(const char *text, struct place *place) {
    struct addrinfo want = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(text, ':');
    bool brackets = *text == '[' && colon && colon > text && colon[-1] == ']';
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&place->at;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&place->at;

    if (colon && !(memchr(text, ':', (size_t)(colon - text)) && !brackets)) {
        snprintf(place->address, sizeof place->address, "%.*s", (int)(colon - text) - 2 * brackets,
                 text + brackets);
        snprintf(place->port, sizeof place->port, "%s", colon + 1);
    }
    if (!*place->port || getaddrinfo(place->address, place->port, &want, &found) != 0)
        args_fail("--listen must be like 127.0.0.1:8080 or [::1]:8080, not \"%s\"", text);
    memcpy(&place->at, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    place->loopback = place->at.ss_family == AF_INET ? (ntohl(v4->sin_addr.s_addr) >> 24) == 127
                                                     : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0;
}

static void check_safe(const struct place *place) {
    if (!place->loopback && (!options.users || !options.behind_proxy))
        args_fail("--listen %s is for other machines, too: set users up with --users, and say --behind-proxy "
                  "when a proxy with TLS is in front",
                  place->address);
    if (options.user_header && (!options.trust_proxy || !options.users))
        args_fail("--user-header needs --trust-proxy and --users");
    if (options.role || options.params) args_fail("--role and --params are for user add");
}

/* By which names browsers may call: DNS can make any other lead here. */
static void add_hosts(struct console *console, const struct place *place) {
    static char address[ADDRESS_SIZE + 2];
    size_t count = 0;

    snprintf(address, sizeof address, place->at.ss_family == AF_INET6 ? "[%s]" : "%s", place->address);
    console->hosts[count++] = address;
    if (place->loopback) console->hosts[count++] = "localhost";
    for (char **host = options.hosts; host && *host; host++) {
        if (count == HOSTS_MAX - 1) args_fail("too many --host");
        console->hosts[count++] = *host;
    }
}

/* ---- Pools --------------------------------------------------------------------------------------------- */

static enum cli_exit open_pool(struct console *console, char *text, int64_t wait_ms) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    char *equals = text ? strchr(text, '=') : NULL;
    const char *name = "pool";
    enum cli_exit code;
    tp_env *env = NULL;

    if (text) {
        if (!equals) args_fail("--pool takes NAME=DSN-FILE");
        *equals = '\0';
        name = text;
        if (!*name || strlen(name) >= PERSON_NAME_SIZE || name[strspn(name, allowed)])
            args_fail("--pool: a name has letters, digits and . _ -, 64 at most");
        if (console_pool(console, name)) args_fail("--pool %s was given twice", name);
    }
    if (console->pool_count == POOLS_MAX) args_fail("more than %d pools", POOLS_MAX);
    code = text ? args_open_env_of(equals + 1, &env) : args_open_env(&env);
    if (code == EXIT_DONE) console->pools[console->pool_count++] = pool_open(name, env, wait_ms);
    return code;
}

static enum cli_exit open_pools(struct console *console) {
    enum cli_exit code = EXIT_DONE;
    int64_t wait_ms = WAIT_MS;

    args_duration("--wait", options.wait, &wait_ms);
    if (options.pools && (common.dsn || common.dsn_file)) args_fail("give --pool, or --dsn-file, not both");
    if (!options.pools) return open_pool(console, NULL, wait_ms);
    for (char **pool = options.pools; *pool && code == EXIT_DONE; pool++)
        code = open_pool(console, *pool, wait_ms);
    return code;
}

/* A driver that does not come back cannot be ended: then the process ends as it is. */
static void close_all(struct console *console, enum cli_exit code) {
    bool all = true;

    for (size_t i = 0; i < console->pool_count; i++)
        all &= pool_close(console->pools[i]);
    if (!all) {
        (void)cli_finish(code);
        _exit((int)code);
    }
    sessions_close(console->sessions);
    users_close(console->users);
}

/* ---- The program --------------------------------------------------------------------------------------- */

/* These signals are for the main thread, which waits for them. */
static void block_signals(sigset_t *stops) {
    (void)sigemptyset(stops);
    (void)sigaddset(stops, SIGTERM);
    (void)sigaddset(stops, SIGINT);
    (void)sigaddset(stops, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, stops, NULL);
}

static enum cli_exit serve(struct console *console, const struct place *place, const sigset_t *stops) {
    struct http *http = http_start(console, (const struct sockaddr *)(const void *)&place->at);
    int stopped_by;

    if (!http) return cli_fail(EXIT_IO, "cannot listen on %s: %s", place->address, strerror(errno));
    out_text("taskpool-console: http://%s:%d/\n", console->hosts[0], http_port(http));
    (void)out_flush();
    (void)sigwait(stops, &stopped_by);
    for (size_t i = 0; i < console->pool_count; i++)
        pool_hurry(console->pools[i]);
    http_stop(http);
    return EXIT_DONE;
}

static enum cli_exit run(void) {
    struct console console = {.behind_proxy = options.behind_proxy,
                              .open_metrics = options.open_metrics,
                              .user_header = options.user_header,
                              .trust_proxy = options.trust_proxy,
                              .life_ms = LIFE_MS};
    struct place place = {.port = ""};
    int64_t idle_ms = IDLE_MS;
    enum cli_exit code = EXIT_DONE;
    sigset_t stops;

    read_place(options.listen ? options.listen : "127.0.0.1:8080", &place);
    check_safe(&place);
    args_duration("--idle", options.idle, &idle_ms);
    args_duration("--life", options.life, &console.life_ms);
    add_hosts(&console, &place);
    if (options.users) console.users = users_open(options.users, &code);
    if (options.users && !console.users) return code;
    block_signals(&stops);
    console.sessions = sessions_open(idle_ms, console.life_ms);
    code = open_pools(&console);
    if (code == EXIT_DONE) code = serve(&console, &place, &stops);
    close_all(&console, code);
    return code;
}

int main(int argc, char **argv) {
    static char name[] = "taskpool-console";
    const char **args;

    cli_begin();
    args_hide_dsn(argc, argv);
    (void)args_own_files();
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        out_text("taskpool-console %s\n", tp_version());
        cli_end(EXIT_DONE);
    }
    if (argc > 0) argv[0] = name;
    args = args_read(&usage, argc, (const char **)argv);
    if (!args[0]) cli_end(run());
    if (strcmp(args[0], "user") != 0) args_fail("it takes user, and no %.*s", args_shown(args[0]), args[0]);
    cli_end(user_command(args + 1, &(struct user_options){options.users, options.role, options.params}));
}
