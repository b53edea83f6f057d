/* The options of taskpool bench: their table, and their values as settings. Read next: bench.c. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common/args.h"

static struct {
    char *measures, *plans, *tasks, *singles, *samples, *put, *batch, *group, *threads, *processes, *payload;
    char *rounds, *queue, *hot, *poll, *idle, *pause, *idle_time;
    int transactions, clean;
} options;

#define TEXT(name, slot, arg, text) OPTION_TEXT(name, '\0', &options.slot, arg, text)

static struct poptOption table[] = {
    TEXT("measure", measures, "LIST", "only these, with commas between (all but idle)"),
    TEXT("plan", plans, "LIST", "these ways to claim: row, batch, skip, hold, cas (the leased one and hold)"),
    TEXT("tasks", tasks, "N", "tasks of a measure (10000)"),
    TEXT("singles", singles, "N", "tasks of enqueue-one (1000)"),
    TEXT("samples", samples, "N", "tasks of a latency (200, or as many as 10s allow)"),
    TEXT("rounds", rounds, "N", "how many times everything is measured; the medians count (3)"),
    TEXT("put", put, "N", "tasks put in together (1000)"),
    TEXT("batch", batch, "N", "tasks in one claim (1000)"),
    TEXT("group", group, "N", "completions written together; 1: each its own transaction (100)"),
    TEXT("threads", threads, "N", "handler threads of a worker (4)"),
    TEXT("processes", processes, "N", "workers of life, each in a process of its own (1, in this process)"),
    TEXT("payload", payload, "BYTES", "length of the parameters (32)"),
    OPTION_FLAG("transactions", '\0', &options.transactions,
                "handlers ask for their task's connection, so that each task is a transaction"),
    TEXT("queue", queue, "N", "claimed tasks that wait for a thread, at most (the worker's own)"),
    TEXT("hot", hot, "TIME", "a worker's pause between claims while tasks come (the worker's own)"),
    TEXT("poll", poll, "TIME", "its fixed pause; with --hot the longest (the worker's own)"),
    TEXT("idle", idle, "TIME", "up to which a fixed pause grows (the worker's own)"),
    TEXT("pause", pause, "TIME", "between two samples of a latency, half of it to twice at random (5ms)"),
    TEXT("idle-time", idle_time, "TIME", "how long idle is measured (5s)"),
    OPTION_FLAG(
        "clean", '\0', &options.clean,
        "only take out what runs left that were killed: of one HANDLER, or of all; not while one runs"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

static const struct usage usage = {
    "[--clean [HANDLER]]",
    "Measures taskpool on this database, in this pool: puts in tasks of a handler that no worker has, does "
    "them,\n"
    "and takes them out again, also after a failure or Ctrl-C. What stays is one event in the history, which "
    "says\n"
    "so, and for a day the workers in the table of workers. Other tasks are not touched, but the database "
    "is kept\n"
    "busy. The measures:\n"
#define MEASURE_HELP(id, name, text) "  " name "\t" text "\n"
    BENCH_MEASURE_LIST(MEASURE_HELP)
#undef MEASURE_HELP
        "Client CPU is user and system time of taskpool's processes; a database that is a library is in "
        "it.\n",
    "  taskpool bench\n"
    "  taskpool bench --measure enqueue-many,life --plan skip,hold --tasks 100000 --threads 8\n"
    "  taskpool bench --json | jq '.medians[] | {name, plan, tasks_per_second}'\n"
    "  taskpool bench --clean\n",
    table,
    0,
    1,
};

static const char *const names[BENCH_MEASURES] = {
#define MEASURE_NAME(id, name, text) name,
    BENCH_MEASURE_LIST(MEASURE_NAME)
#undef MEASURE_NAME
};

const char *bench_measure_name(enum bench_measure measure) {
    return names[measure];
}

/* Cuts the next word off a list with commas; NULL: it is over. */
static const char *next_word(char **list) {
    char *word = *list;

    if (!word) return NULL;
    *list = strchr(word, ',');
    if (*list) *(*list)++ = '\0';
    return word;
}

static void read_measures(struct bench_settings *set) {
    char *list = options.measures;
    const char *word;

    for (int i = 0; i < BENCH_MEASURES && !list; i++)
        set->wanted[i] = i != BENCH_IDLE;
    while ((word = next_word(&list)) != NULL) {
        int i = 0;

        while (i < BENCH_MEASURES && strcmp(names[i], word) != 0)
            i++;
        if (i == BENCH_MEASURES)
            args_fail("--measure: \"%.*s\" is none of the measures", args_shown(word), word);
        set->wanted[i] = true;
    }
}

/* Which there are the library knows, once there is a connection. */
static void read_plans(struct bench_settings *set) {
    char *list = options.plans;
    const char *word;

    while ((word = next_word(&list)) != NULL) {
        if (set->plan_count == BENCH_PLANS_MAX) args_fail("--plan takes at most %d plans", BENCH_PLANS_MAX);
        set->plans[set->plan_count++] = word;
    }
}

static void read_numbers(struct bench_settings *set) {
    args_integer("--tasks", options.tasks, 1, 100000000, &set->tasks);
    args_integer("--singles", options.singles, 1, 100000000, &set->singles);
    args_integer("--samples", options.samples, 1, 1000000, &set->samples);
    args_integer("--rounds", options.rounds, 1, 1000, &set->rounds);
    args_integer("--put", options.put, 1, 100000, &set->put);
    args_integer("--batch", options.batch, 1, TP_CLAIM_MAX, &set->batch);
    args_integer("--group", options.group, 1, TP_CLAIM_MAX, &set->group);
    args_integer("--threads", options.threads, 1, 1000, &set->threads);
    args_integer("--processes", options.processes, 1, BENCH_PROCESSES_MAX, &set->processes);
    args_integer("--payload", options.payload, 0, TP_PARAMS_MAX, &set->payload);
    args_integer("--queue", options.queue, 1, 1000000, &set->queue);
    args_duration("--hot", options.hot, &set->hot_ms);
    args_duration("--poll", options.poll, &set->poll_ms);
    args_duration("--idle", options.idle, &set->idle_ms);
    args_duration("--pause", options.pause, &set->pause_ms);
    args_duration("--idle-time", options.idle_time, &set->idle_time_ms);
    if (set->idle_time_ms <= 0) args_fail("--idle-time must be more than 0");
}

static const struct bench_settings defaults = {.tasks = 10000,
                                               .singles = 1000,
                                               .samples = 200,
                                               .rounds = 3,
                                               .put = 1000,
                                               .batch = 1000,
                                               .group = 100,
                                               .threads = 4,
                                               .processes = 1,
                                               .payload = 32,
                                               .pause_ms = 5,
                                               .idle_time_ms = 5000,
                                               .samples_ms = 10000};

bool bench_read_options(int argc, const char **argv, struct bench_settings *set, const char **handler) {
    const char **args = args_read(&usage, argc, argv);

    *set = defaults;
    set->transactions = options.transactions != 0;
    if (options.samples) set->samples_ms = 0;
    read_measures(set);
    read_plans(set);
    read_numbers(set);
    *handler = args[0];
    if (args[0] && !options.clean) args_fail("only --clean takes a HANDLER");
    if (args[0] && strncmp(args[0], BENCH_PREFIX, strlen(BENCH_PREFIX)) != 0)
        args_fail("--clean takes out tasks of handlers %s... only", BENCH_PREFIX);
    return options.clean != 0;
}
