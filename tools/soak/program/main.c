/* soak setup | producer | worker | close: see soak.h. The database is the connection string in TASKPOOL_DSN.
 */
#include "soak.h"

#include <execinfo.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t soak_stopping;

static const char help[] =
    "Usage: soak setup|producer|worker|close [OPTIONS]; run by tools/soak.sh\n"
    "  --name TEXT --records FILE --pause-ms N --seed N --quick --groupless  producer\n"
    "  --plan NAME --lease-ms N --outside FILE --apart       worker\n";

static const struct option options[] = {{"name", required_argument, NULL, 'n'},
                                        {"records", required_argument, NULL, 'r'},
                                        {"pause-ms", required_argument, NULL, 'p'},
                                        {"seed", required_argument, NULL, 's'},
                                        {"plan", required_argument, NULL, 'P'},
                                        {"lease-ms", required_argument, NULL, 'l'},
                                        {"outside", required_argument, NULL, 'o'},
                                        {"apart", no_argument, NULL, 'a'},
                                        {"quick", no_argument, NULL, 'q'},
                                        {"groupless", no_argument, NULL, 'g'},
                                        {NULL, 0, NULL, 0}};

static bool read_options(int argc, char **argv, struct soak *soak) {
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'n':
            soak->name = optarg;
            break;
        case 'r':
            soak->records = optarg;
            break;
        case 'p':
            soak->pause_ms = strtoll(optarg, NULL, 10);
            break;
        case 's':
            soak->seed = strtoull(optarg, NULL, 10);
            break;
        case 'P':
            soak->plan = optarg;
            break;
        case 'l':
            soak->lease_ms = strtoll(optarg, NULL, 10);
            break;
        case 'o':
            soak->outside = optarg;
            break;
        case 'a':
            soak->apart = true;
            break;
        case 'q':
            soak->quick = true;
            break;
        case 'g':
            soak->groupless = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc - 1;
}

/* splitmix64 */
uint64_t soak_random(uint64_t *state, uint64_t bound) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % bound;
}

void soak_sleep_ms(int64_t ms) {
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    nanosleep(&pause, NULL);
}

/* What failed for good is in nobody's way. */
static bool set_gates(tp_conn *conn) {
    tp_gate_options to = TP_GATE_INIT;

    to.width = 3;
    to.tokens = 30;
    to.period_ms = 1000;
    to.on_failure = TP_GATE_PASS;
    return tp_gate_set(conn, "=", 1, TP_GATE_PASS, NULL) >= TP_OK &&
           tp_gate_set_with(conn, "soak-*", &to, NULL) >= TP_OK;
}

/* Without any unique key: what happened twice must be seen. */
bool soak_set_up(tp_env *env) {
    static const char *const tables[] = {
        "CREATE TABLE soak_ledger (kind VARCHAR(8), task_id VARCHAR(36), biz VARCHAR(64))",
        "CREATE TABLE soak_order (task_id VARCHAR(36), biz VARCHAR(64))",
        "CREATE TABLE soak_early (task_id VARCHAR(36), biz VARCHAR(64))",
    };
    char error[DB_TEXT] = "";
    tp_conn *conn = NULL;
    bool ok = tp_conn_open(env, &conn) == TP_OK && tp_schema_install(conn) == TP_OK && set_gates(conn);

    if (!ok) fprintf(stderr, "soak: %s\n", tp_last_error()->text);
    for (size_t i = 0; ok && i < sizeof tables / sizeof tables[0]; i++) {
        ok = db_exec(conn, tables[i], error);
        if (!ok) fprintf(stderr, "soak: %s\n", error);
    }
    tp_conn_close(conn);
    return ok;
}

/* Tells where it was, so that a crash of a driver can be told from one of ours (tools/soak/process.py). */
static void on_crash(int number) {
    static const char text[] = "soak: crashed in\n";
    void *frames[40];
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);

    if (written > 0) backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void catch_crashes(void) {
    void *frame;

    (void)backtrace(&frame, 1); /* loads what it needs while that is safe */
    (void)signal(SIGSEGV, on_crash);
    (void)signal(SIGBUS, on_crash);
    (void)signal(SIGABRT, on_crash);
}

static bool play(const char *role, tp_env *env, const struct soak *soak) {
    if (strcmp(role, "setup") == 0) return soak_set_up(env);
    if (strcmp(role, "close") == 0) return soak_close_groups(env);
    if (strcmp(role, "producer") == 0 && soak->records) return soak_produce(env, soak);
    if (strcmp(role, "worker") == 0 && soak->outside) return soak_work(env, soak);
    fputs(help, stderr);
    return false;
}

int main(int argc, char **argv) {
    struct soak soak = {"p", NULL, NULL, NULL, 2500, 100, 1, false, false, false};
    tp_env *env = NULL;
    bool ok;

    /* Nobody is left behind, not even stopped ones, when the run is killed. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    catch_crashes();
    if (!read_options(argc, argv, &soak)) {
        fputs(help, stderr);
        return 2;
    }
    if (tp_env_open(getenv("TASKPOOL_DSN"), &env) != TP_OK) {
        fprintf(stderr, "soak: %s\n", tp_last_error()->text);
        return 2;
    }
    ok = play(argv[optind], env, &soak);
    tp_env_close(env);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
