/* See work_options.h. The table of the options, and their values. */
#include "work_options.h"

#include <string.h>

#include "common/values.h"
#include "running.h"

#define DELAYS_MAX 64

struct work_options work_options;

#define TEXT(name, slot, arg, text) OPTION_TEXT(name, '\0', &work_options.slot, arg, text)

struct poptOption work_table[] = {
    {"handler", '\0', POPT_ARG_ARGV, &work_options.handlers, 0,
     "run PROGRAM on the tasks of NAME; may be given many times", "NAME=PROGRAM"},
    TEXT("threads", threads, "N", "programs at the same time (4)"),
    TEXT("threads-max", threads_max, "N", "up to so many while tasks wait (as --threads)"),
    TEXT("keep-alive", keep_alive, "TIME", "threads above --threads end when idle for so long (60s)"),
    TEXT("queue", queue, "N", "claimed tasks that wait for a thread, at most (1000)"),
    TEXT("batch", batch, "N", "tasks in one claim (1000)"),
    TEXT("when-full", when_full, "run|put-back",
         "what is done when more than half of the queue is taken: one thread more runs tasks (run), or claim "
         "on and put back what finds no room"),
    TEXT("lease", lease, "TIME",
         "how long a claim holds without sign of life (60s); it is extended while a program runs"),
    TEXT("hot", hot, "TIME",
         "the pause right after tasks came; it grows while none come (1ms, but with --poll: no such pause)"),
    TEXT("poll", poll, "TIME", "fixed pause between claims; with --hot the longest pause (500ms)"),
    TEXT("pace", pace, "delay|rate", "--poll counts from the end of a claim (delay), or is a fixed rate"),
    TEXT("idle", idle, "TIME", "while nothing is found, the pause grows up to this (as --poll)"),
    TEXT("start-after", start_after, "TIME", "pause before the first claim (none)"),
    {"shard", '\0', POPT_ARG_ARGV, &work_options.shards, 0,
     "only tasks of this shard; may be given many times", "N"},
    OPTION_FLAG("in-order", '\0', &work_options.in_order,
                "handlers in the order given, each before the next; else all together by priority"),
    TEXT("plan", plan, "NAME", "how to claim: row, batch, skip, hold or cas (as in the connection string)"),
    TEXT("settle-count", settle_count, "N", "completions written together at most (100); 1: each its own"),
    TEXT("settle-time", settle_time, "TIME", "how long a completion may wait for others (5ms)"),
    TEXT("retry", retry, "LIST", "pauses after failures (1m,5m,20m), or none"),
    TEXT("on-crash", on_crash, "retry|fail|skip", "what a lease that lapsed means for the task (retry)"),
    TEXT("deadline", deadline, "TIME",
         "skip tasks that have been due for so long, and end programs that have them (none)"),
    TEXT("timeout", timeout, "TIME", "end a program that runs longer; a failure (no limit)"),
    TEXT("later", later, "TIME", "when a task is due again after exit code 75 (30s)"),
    TEXT("alert", alert, "PROGRAM", "run PROGRAM on each task that reaches the failed pool"),
    TEXT("alert-group", alert_group, "TIME",
         "collect them for so long, and run it once for all of them (each by itself)"),
    TEXT("stop-after", stop_after, "TIME", "end programs that still run so long after the stop (no limit)"),
    OPTION_FLAG("schedules", '\0', &work_options.schedules, "fire schedules too"),
    OPTION_FLAG("drain", '\0', &work_options.drain, "end when no task of these handlers and shards is open"),
    TEXT("name", name, "TEXT", "how people see this worker (host:pid)"),
    TEXT("log-format", log_format, "text|json", "of what is written to standard error (text)"),
    TEXT("config", config, "FILE",
         "read options from FILE, each a line NAME = VALUE; those given here are stronger"),
    OPTION_FLAG("verbose", 'v', &work_options.verbose, "report every task, done ones too"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

/* 1m,5m,20m or none. */
static void read_retry(const char *text, tp_retry *retry) {
    static int64_t delays[DELAYS_MAX];
    char part[32];
    size_t length;

    retry->delays_ms = delays;
    retry->count = 0;
    if (strcmp(text, "none") == 0) return;
    for (;; text += length + 1) {
        length = strcspn(text, ",");
        if (length >= sizeof part || retry->count == DELAYS_MAX) break;
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        if (!value_duration(part, &delays[retry->count])) break;
        retry->count++;
        if (text[length] == '\0') return;
    }
    args_fail("--retry must be a list like 1m,5m,20m (%d pauses at most, each up to 36525d), or none",
              DELAYS_MAX);
}

/* The index of text among words, which end with NULL. NULL text is the first. */
static int read_word(const char *option, const char *text, const char *const *words) {
    int i = 0;

    while (text && words[i] && strcmp(words[i], text) != 0)
        i++;
    if (!words[i])
        args_fail("%s must be %s or %s%s%s, not \"%.*s\"", option, words[0], words[1], words[2] ? " or " : "",
                  words[2] ? words[2] : "", args_shown(text), text);
    return i;
}

static void read_shards(tp_worker_options *worker) {
    static int32_t shards[TP_CLAIM_SHARDS_MAX];
    size_t count = 0;

    for (; work_options.shards && work_options.shards[count]; count++) {
        int64_t shard = 0;

        if (count == TP_CLAIM_SHARDS_MAX) args_fail("at most %d times --shard", TP_CLAIM_SHARDS_MAX);
        args_integer("--shard", work_options.shards[count], INT32_MIN, INT32_MAX, &shard);
        shards[count] = (int32_t)shard;
    }
    worker->shards = count ? shards : NULL;
    worker->shard_count = count;
}

static void read_numbers(tp_worker_options *worker) {
    int64_t threads = 0, most = 0, queue = 0, batch = 0, settle = 0;

    args_integer("--threads", work_options.threads, 1, CHILDREN_MAX - 2, &threads);
    args_integer("--threads-max", work_options.threads_max, 1, CHILDREN_MAX - 2, &most);
    args_integer("--queue", work_options.queue, 1, 1000000, &queue);
    args_integer("--batch", work_options.batch, 1, TP_CLAIM_MAX, &batch);
    args_integer("--settle-count", work_options.settle_count, 1, TP_CLAIM_MAX, &settle);
    worker->threads = (int)threads;
    worker->threads_max = (int)most;
    worker->queue = (size_t)queue;
    worker->batch = (size_t)batch;
    worker->settle_count = (size_t)settle;
}

static void read_durations(tp_worker_options *worker) {
    work_options.later_ms = 30000;
    args_duration("--keep-alive", work_options.keep_alive, &worker->keep_alive_ms);
    args_duration("--lease", work_options.lease, &worker->lease_ms);
    args_duration("--hot", work_options.hot, &worker->hot_ms);
    args_duration("--poll", work_options.poll, &worker->poll_ms);
    args_duration("--idle", work_options.idle, &worker->idle_ms);
    args_duration("--start-after", work_options.start_after, &worker->initial_delay_ms);
    args_duration("--settle-time", work_options.settle_time, &worker->settle_ms);
    args_duration("--stop-after", work_options.stop_after, &worker->stop_ms);
    args_duration("--alert-group", work_options.alert_group, &worker->alert_group_ms);
    args_duration("--deadline", work_options.deadline, &work_options.deadline_ms);
    args_duration("--timeout", work_options.timeout, &work_options.timeout_ms);
    args_duration("--later", work_options.later, &work_options.later_ms);
}

void work_read_options(tp_worker_options *worker, tp_retry *retry) {
    static const int64_t ladder[] = {60000, 300000, 1200000};
    static const char *const fulls[] = {"run", "put-back", NULL};
    static const char *const paces[] = {"delay", "rate", NULL};
    static const char *const lapses[] = {"retry", "fail", "skip", NULL};
    static const char *const formats[] = {"text", "json", NULL};

    retry->delays_ms = ladder;
    retry->count = sizeof ladder / sizeof ladder[0];
    if (work_options.alert_group && !work_options.alert) args_fail("--alert-group needs --alert PROGRAM");
    read_numbers(worker);
    read_durations(worker);
    worker->when_full = (tp_full)read_word("--when-full", work_options.when_full, fulls);
    worker->pace = (tp_pace)read_word("--pace", work_options.pace, paces);
    retry->on_lapse = (tp_lapse)read_word("--on-crash", work_options.on_crash, lapses);
    work_options.log_json = read_word("--log-format", work_options.log_format, formats) == 1;
    read_shards(worker);
    if (work_options.retry) read_retry(work_options.retry, retry);
    worker->plan = work_options.plan;
    worker->in_order = work_options.in_order;
    worker->schedules = work_options.schedules;
    worker->name = work_options.name;
    worker->retry = retry;
    worker->drain = work_options.drain;
}
