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
#include "tls.h"

enum { WAIT_MS = 10000, IDLE_MS = 1800000, LIFE_MS = 36000000, PORT_SIZE = 8, ADDRESS_SIZE = 64 };

static struct {
    char *listen, **pools, **hosts, **masks, *users, *role, *user_header, *trust_proxy, *wait, *idle, *life;
    char *tls_cert, *tls_key;
    int params, behind_proxy, open_metrics;
} options;

static struct poptOption table[] = {
    OPTION_TEXT("listen", 'l', &options.listen, "ADDRESS:PORT",
                "where to listen (127.0.0.1:8080); also [::1]:8080"),
    {"pool", 'p', POPT_ARG_ARGV, &options.pools, 0,
     "a pool, and the file with its ODBC connection string; may be repeated, also for a role alone, as in "
     "pay:viewer=FILE",
     "NAME[:ROLE]=DSN-FILE"},
    OPTION_TEXT("dsn-file", '\0', &common.dsn_file, "FILE", "of the only pool, without --pool"),
    OPTION_TEXT("dsn", '\0', &common.dsn, "STRING",
                "the connection string itself; better in a file, or in the variable TASKPOOL_DSN"),
    OPTION_TEXT("users", 'u', &options.users, "FILE",
                "who may sign in; without it everybody who reaches the page may look, and nobody may act"),
    OPTION_TEXT("role", '\0', &options.role, "ROLE",
                "user add: viewer (default), operator, approver or administrator"),
    OPTION_FLAG("params", '\0', &options.params, "user add: may see the parameters of tasks"),
    {"mask", '\0', POPT_ARG_ARGV, &options.masks, 0,
     "hides a part of parameters that are JSON, by a key's name or a JSON pointer; may be repeated",
     "NAME|/POINTER"},
    {"host", '\0', POPT_ARG_ARGV, &options.hosts, 0,
     "a name by which browsers call the console; may be repeated", "NAME"},
    OPTION_FLAG("behind-proxy", '\0', &options.behind_proxy,
                "a proxy in front speaks TLS; cookies are for TLS alone"),
    OPTION_TEXT("tls-cert", '\0', &options.tls_cert, "FILE",
                "speaks TLS with this certificate (PEM, with those of who signed it behind it)"),
    OPTION_TEXT("tls-key", '\0', &options.tls_key, "FILE",
                "and its key; a hang-up signal has both read anew"),
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
    "Shows pools in a web page: what waits, fails and runs, tasks with their lives, workers, schedules,\n"
    "history. With --users, people sign in, and operators may retry, cancel, skip, release, pause, resume,\n"
    "drain, fire and edit; what they do is recorded in the pool's history with their name. Without --pool\n"
    "it shows the one pool of TASKPOOL_DSN. It listens for this machine only, by HTTP; for others it speaks\n"
    "TLS, or a proxy in front does.\n"
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
    if (!options.tls_cert != !options.tls_key) args_fail("--tls-cert and --tls-key go together");
    if (options.tls_cert && options.behind_proxy) args_fail("TLS is the proxy's, or of --tls-cert, not both");
    if (!place->loopback && (!options.users || !(options.behind_proxy || options.tls_cert)))
        args_fail(
            "--listen %s is for other machines, too: set users up with --users, and TLS with --tls-cert, "
            "or say --behind-proxy when a proxy with TLS is in front",
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

/* A pool as the options name it. */
struct given {
    const char *name;
    tp_env *envs[ROLES];
};

static void check_name(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

    if (!*name || strlen(name) >= PERSON_NAME_SIZE || name[strspn(name, allowed)])
        args_fail("--pool: a name has letters, digits and . _ -, 64 at most");
}

static struct given *given_of(struct given *given, size_t *count, const char *name) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(given[i].name, name) == 0) return &given[i];
    if (*count == POOLS_MAX) args_fail("more than %d pools", POOLS_MAX);
    given[*count].name = name;
    return &given[(*count)++];
}

/* NAME=FILE, or NAME:ROLE=FILE for who has that role. */
static enum cli_exit take_pool(char *text, struct given *given, size_t *count) {
    char *equals = strchr(text, '='), *colon;
    enum role role = ROLE_OPERATOR;
    tp_env **env;

    if (!equals) args_fail("--pool takes NAME=DSN-FILE or NAME:ROLE=DSN-FILE");
    *equals = '\0';
    colon = strchr(text, ':');
    if (colon) {
        *colon = '\0';
        role = role_find(colon + 1);
        if (role == ROLES) args_fail("--pool %s: there is no role %s", text, colon + 1);
    }
    check_name(text);
    env = &given_of(given, count, text)->envs[role];
    if (*env) args_fail("--pool %s was given twice for %s", text, role_name(role));
    return args_open_env_of(equals + 1, env);
}

static enum cli_exit open_pools(struct console *console) {
    static struct given given[POOLS_MAX];
    enum cli_exit code = EXIT_DONE;
    int64_t wait_ms = WAIT_MS;
    size_t count = 0;

    args_duration("--wait", options.wait, &wait_ms);
    if (options.pools && (common.dsn || common.dsn_file)) args_fail("give --pool, or --dsn-file, not both");
    if (!options.pools) code = args_open_env(&given_of(given, &count, "pool")->envs[ROLE_OPERATOR]);
    for (char **pool = options.pools; pool && *pool && code == EXIT_DONE; pool++)
        code = take_pool(*pool, given, &count);
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        if (!given[i].envs[ROLE_OPERATOR])
            args_fail("--pool %s=DSN-FILE is missing beside that of a role", given[i].name);
        console->pools[console->pool_count++] = pool_open(given[i].name, given[i].envs, wait_ms);
    }
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
    masks_close(console->masks);
}

/* ---- The program --------------------------------------------------------------------------------------- */

/* These signals are for the main thread, which waits for them. */
static void block_signals(sigset_t *signals) {
    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGTERM);
    (void)sigaddset(signals, SIGINT);
    (void)sigaddset(signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, signals, NULL);
}

/* Until it is to end. */
static void wait_for_signals(const sigset_t *signals) {
    const char *wrong;
    int came = 0;

    while (sigwait(signals, &came) != 0 || (came == SIGHUP && options.tls_cert)) {
        wrong = tls_load(options.tls_cert, options.tls_key);
        if (wrong)
            cli_warn("%s; what was read before is still used", wrong);
        else
            cli_warn("the certificate and its key were read anew");
    }
}

static enum cli_exit serve(struct console *console, const struct place *place, const sigset_t *signals) {
    const char *wrong = console->tls ? tls_load(options.tls_cert, options.tls_key) : NULL;
    struct http *http = NULL;

    if (wrong) return cli_fail(EXIT_IO, "%s", wrong);
    http = http_start(console, (const struct sockaddr *)(const void *)&place->at);
    if (!http) return cli_fail(EXIT_IO, "cannot listen on %s: %s", place->address, strerror(errno));
    out_text("taskpool-console: http%s://%s:%d/\n", console->tls ? "s" : "", console->hosts[0],
             http_port(http));
    (void)out_flush();
    wait_for_signals(signals);
    for (size_t i = 0; i < console->pool_count; i++)
        pool_hurry(console->pools[i]);
    http_stop(http);
    tls_close();
    return EXIT_DONE;
}

static struct masks *open_masks(void) {
    const char *wrong;
    struct masks *masks = masks_open(options.masks, &wrong);

    if (masks) return masks;
    args_fail("--mask \"%s\" is neither a key's name nor a JSON pointer like /customer/iban, or one of more "
              "than %d",
              wrong, MASKS_MAX);
}

static enum cli_exit run(void) {
    struct console console = {.behind_proxy = options.behind_proxy,
                              .tls = options.tls_cert != NULL,
                              .secure = options.behind_proxy || options.tls_cert,
                              .open_metrics = options.open_metrics,
                              .user_header = options.user_header,
                              .trust_proxy = options.trust_proxy,
                              .life_ms = LIFE_MS};
    struct place place = {.port = ""};
    int64_t idle_ms = IDLE_MS;
    enum cli_exit code = EXIT_DONE;
    sigset_t signals;

    read_place(options.listen ? options.listen : "127.0.0.1:8080", &place);
    check_safe(&place);
    args_duration("--idle", options.idle, &idle_ms);
    args_duration("--life", options.life, &console.life_ms);
    add_hosts(&console, &place);
    if (options.users) console.users = users_open(options.users, &code);
    if (options.users && !console.users) return code;
    console.masks = open_masks();
    block_signals(&signals);
    console.sessions = sessions_open(idle_ms, console.life_ms);
    code = open_pools(&console);
    if (code == EXIT_DONE) code = serve(&console, &place, &signals);
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
