/* What goes on in a pool, read once: by handler what is open, due, failed and paused, what came and went
 * lately; and the workers. It reads no history: the finished pool only where tasks were put in lately. Must
 * not print; for check, metrics and top. */
#ifndef COMMON_FIGURES_H
#define COMMON_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taskpool.h"

enum {
    FIGURES_NAME_SIZE = 4 * TP_HANDLER_MAX + 1, /* plain SQL may put in any characters */
    FIGURES_TEXT_SIZE = 129,
    FIGURES_GATES_MAX = 100,
    FIGURES_SILENT_MS = 60000,    /* a worker that is silent for so long does not live */
    FIGURES_WINDOW_MS = 60000,    /* what is lately */
    FIGURES_ACTIVITY_MS = 600000, /* of what workers did: they write it down once a minute */
};

/* The task that is held longest by a lease that did not lapse; since 0: none is. */
struct held_figures {
    char task[TP_ID_SIZE], worker[2 * FIGURES_TEXT_SIZE];
    int64_t since; /* when it was claimed */
};

struct handler_figures {
    char name[FIGURES_NAME_SIZE];
    int64_t pending, handling, retrying; /* open, by state; retrying: failed, and waits for the next try */
    int64_t due;                         /* of these, claimable now */
    int64_t due_since;                   /* the longest of those; 0: none is due */
    int64_t paused_due;                  /* of all handlers together: due, and of a paused one */
    int64_t lapsed;                      /* of those in hand, whose lease lapsed */
    int64_t failed;                      /* in the failed pool */
    int64_t enqueued, finished, gave_up; /* lately; see tp_recent_each */
    tp_histogram wait, run;              /* of the tasks that workers handled in the last ten minutes */
    tp_activity counted;                 /* what workers did since counted_since; only its figures */
    int64_t paused_since;                /* 0: it is not */
    char paused_by[FIGURES_TEXT_SIZE];
    struct held_figures held; /* by figures_held only; of the thousand tasks that were claimed first */
    int workers;              /* that live and take its tasks */
    int maybe_workers;        /* that live, and whose rows have no room for all their handlers */
};

struct worker_figures {
    char id[TP_ID_SIZE];
    char name[FIGURES_TEXT_SIZE], host[FIGURES_TEXT_SIZE];
    char state[9];      /* as in its row; one that is silent: "silent" */
    bool lives, takes;  /* takes: it claims tasks */
    bool more_handlers; /* than its row has room for */
    int pid, threads, running;
    int64_t claimed, done, failed, started_at, seen_ago_ms;
};

/* A gate that people made, or a pattern: with all that is behind the gates that it made. */
struct gate_figures {
    char name[FIGURES_NAME_SIZE];
    int64_t waiting, through; /* let through and not ended */
    int64_t width, tokens, tokens_left;
};

struct figures {
    int64_t now;           /* the database's clock */
    int64_t window_ms;     /* what is lately */
    int64_t counted_since; /* 0: nothing was counted */
    int64_t at_gates;      /* of those that are pending, how many wait at a gate; by figures_gates only */
    int64_t after_groups;  /* and how many for the end of a group; likewise */
    int64_t groups;        /* that have not ended; likewise */
    struct gate_figures
        *gates; /* likewise: the first FIGURES_GATES_MAX; more than these are summed up as one */
    size_t gate_count;
    struct handler_figures *handlers;
    size_t handler_count;
    struct worker_figures *workers;
    size_t worker_count;
    int64_t requests;       /* that wait for a second person */
    int64_t oldest_request; /* since when the oldest of them does; 0: none does */
};

/* Fills figures, which was empty; to be freed also after a failure. names (or NULL): handlers, then NULL,
 * that are in it also when there is nothing of them. */
tp_status figures_read(tp_conn *conn, struct figures *figures, char *const *names);
/* Its two parts: what counts tasks, which takes long in a large pool, and sets now; then all else. */
tp_status figures_read_tasks(tp_conn *conn, struct figures *figures, char *const *names, int64_t window_ms);
tp_status figures_read_rest(tp_conn *conn, struct figures *figures);
/* Also fills what is counted: see counters.h. */
tp_status figures_count(tp_conn *conn, struct figures *figures);
/* Also fills at_gates, after_groups, groups and gates. */
tp_status figures_gates(tp_conn *conn, struct figures *figures);
/* Also fills held. */
tp_status figures_held(tp_conn *conn, struct figures *figures);
void figures_free(struct figures *figures);
struct figures figures_copy(const struct figures *figures);

/* All handlers together. Due is what workers may take: tasks of paused handlers are in paused_due instead. */
struct handler_figures figures_sum(const struct figures *figures);
void figures_add_times(tp_histogram *sum, const tp_histogram *times);
int64_t figures_open(const struct handler_figures *handler);
/* Of those in hand, whose lease did not lapse. */
int64_t figures_in_progress(const struct handler_figures *handler);
int64_t figures_timed(const tp_histogram *times);
/* This part (0.5: half) of the times was at most so many ms: the end of a bucket, or the longest time;
 * -1: there are none. */
int64_t figures_quantile(const tp_histogram *times, double part);
/* For how long held is held; 0: nothing is. */
int64_t figures_held_age(const struct figures *figures, const struct handler_figures *handler);
/* How long the longest of them has been due; 0: none is. */
int64_t figures_age(const struct figures *figures, const struct handler_figures *handler);

/* How long the oldest request has waited for a second person; 0: none does. */
int64_t figures_request_age(const struct figures *figures);

#endif
