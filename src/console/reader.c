/* See reader.h. One lock guards all that more than one thread sees; it is never held while the database is
 * asked. */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/background.h"
#include "common/clocks.h"
#include "common/messages.h"
#include "enqueued.h"
#include "overview.h"
#include "polling_interval.h"

enum {
    EVERY_MS = 2000,
    IDLE_MS = 10000,      /* while nobody looks */
    LOOKED_MS = 30000,    /* so long after somebody did */
    MEASURED_MS = 300000, /* the same, of figures */
    BRIEF_MS = 5000,      /* what is lately, where more than MANY tasks a minute come or go */
    MANY = 5000,
    FIGURES_WAIT_MS = 5000,
    SILENT_MS = 10000, /* a database that does not answer for so long is away */
    OLD_MS = 5000,
    STOP_MS = 2000,
    DIALECT_SIZE = 32,
};

struct reader {
    tp_env *env;
    /* Of the thread alone. */
    tp_conn *conn;
    struct figures tasks; /* counted more rarely than the rest is read */
    int64_t count_at;     /* when they are to be counted again, of clock_ms */
    int64_t count_ms;     /* how long it took this time; 0: they were not counted */
    int64_t whole_minute; /* since 1970, in which a whole minute was counted last */
    bool many;            /* tasks came or went in it */
    struct background background;
    /* Under its lock. */
    char *overview;
    struct figures figures;
    struct enqueued enqueued;
    uint64_t serial;
    char error[READER_ERROR_SIZE]; /* why the last try failed; "": it did not */
    int64_t read_at, asking_since; /* of clock_ms; 0: never, not now */
    int64_t looked_at, measured_at;
    bool held;                  /* figures have what is held */
    char dialect[DIALECT_SIZE]; /* does not change once it is known */
    bool now;                   /* it is to be read at once */
};

/* ---- The thread ---------------------------------------------------------------------------------------- */

/* The database has answered: what it is asked next is another question. */
static tp_status heard(struct reader *reader, tp_status status) {
    pthread_mutex_lock(&reader->background.lock);
    reader->asking_since = clock_ms();
    pthread_mutex_unlock(&reader->background.lock);
    return status;
}

static tp_status connect(struct reader *reader, bool lost) {
    tp_status status;

    if (!reader->conn)
        status = tp_conn_open(reader->env, &reader->conn);
    else if (lost)
        status = tp_conn_reopen(reader->conn);
    else
        return TP_OK;
    if (status == TP_OK && tp_schema_check(reader->conn) == TP_SCHEMA) status = TP_SCHEMA;
    return status;
}

static void publish(struct reader *reader, tp_status status, struct figures *figures, char *overview) {
    if (status == TP_OK) {
        if (!*reader->dialect)
            snprintf(reader->dialect, sizeof reader->dialect, "%s", tp_conn_about(reader->conn)->dialect);
        free(reader->overview);
        figures_free(&reader->figures);
        reader->overview = overview;
        reader->figures = *figures;
        if (figures->window_ms == FIGURES_WINDOW_MS)
            enqueued_note(&reader->enqueued, reader->tasks.now, figures_sum(figures).enqueued);
        reader->read_at = clock_ms();
        *reader->error = '\0';
    } else {
        figures_free(figures);
        snprintf(reader->error, sizeof reader->error, "%s", tp_last_error()->text);
        if (!*reader->error) snprintf(reader->error, sizeof reader->error, "%s", tp_status_text(status));
    }
    reader->serial++;
    reader->asking_since = 0;
    background_wake(&reader->background);
}

/* What is not counted is read a tenth of the time at most. */
static void rest(struct reader *reader, int64_t took_ms) {
    int64_t now = clock_ms();

    while (!reader->background.stop && !reader->now) {
        bool looked = reader->looked_at && clock_ms() - reader->looked_at < LOOKED_MS;
        int64_t pause = looked || *reader->error ? EVERY_MS : IDLE_MS;

        if (took_ms * 9 > pause) pause = took_ms * 9;
        if (clock_ms() >= now + pause) return;
        (void)background_wait(&reader->background, now + pause);
    }
}

/* A whole minute of many tasks is counted once a minute, for those who look back; in between less. */
static tp_status count_window(struct reader *reader) {
    int64_t now = 0;
    tp_status status = heard(reader, tp_now(reader->conn, &now));
    bool brief = reader->many && now / FIGURES_WINDOW_MS == reader->whole_minute;
    struct handler_figures sum;

    if (status == TP_OK)
        status = figures_read_tasks(reader->conn, &reader->tasks, NULL, brief ? BRIEF_MS : FIGURES_WINDOW_MS);
    if (status != TP_OK || brief) return status;
    sum = figures_sum(&reader->tasks);
    reader->many = sum.enqueued + sum.finished + sum.gave_up > MANY;
    reader->whole_minute = reader->tasks.now / FIGURES_WINDOW_MS;
    return TP_OK;
}

/* What is held, and what waits at gates, is for those who measure, not for those who look. */
static tp_status count_tasks(struct reader *reader, bool held) {
    int64_t begun = clock_ms();
    tp_status status;

    figures_free(&reader->tasks);
    status = heard(reader, count_window(reader));
    if (status == TP_OK && held) status = heard(reader, figures_held(reader->conn, &reader->tasks));
    if (status == TP_OK && held) status = figures_gates(reader->conn, &reader->tasks);
    reader->count_ms = clock_ms() - begun;
    reader->count_at = clock_ms() + polling_interval_ms(reader->count_ms, EVERY_MS);
    return status;
}

static tp_status read_all(struct reader *reader, bool lost, bool held, struct figures *figures,
                          char **overview) {
    tp_status status = heard(reader, connect(reader, lost));

    reader->count_ms = 0;
    if (status == TP_OK && (lost || clock_ms() >= reader->count_at))
        status = heard(reader, count_tasks(reader, held));
    if (status == TP_OK) {
        *figures = figures_copy(&reader->tasks);
        status = heard(reader, tp_now(reader->conn, &figures->now));
    }
    if (status == TP_OK) status = heard(reader, figures_read_rest(reader->conn, figures));
    if (status == TP_OK) status = overview_read(reader->conn, figures, overview);
    return status;
}

static void run(void *arg) {
    struct reader *reader = arg;
    bool lost = false;

    while (!reader->background.stop) {
        int64_t begun = clock_ms();
        bool held = reader->measured_at && begun - reader->measured_at < MEASURED_MS;
        struct figures figures = {0};
        char *overview = NULL;
        tp_status status;

        if (held && !reader->held) reader->count_at = 0;
        reader->asking_since = begun;
        reader->now = false;
        pthread_mutex_unlock(&reader->background.lock);
        status = read_all(reader, lost, held, &figures, &overview);
        lost = status != TP_OK;
        pthread_mutex_lock(&reader->background.lock);
        publish(reader, status, &figures, overview);
        reader->held = held && !lost;
        rest(reader, lost ? 0 : clock_ms() - begun - reader->count_ms);
    }
}

/* ---- For who looks ------------------------------------------------------------------------------------- */

struct reader *reader_start(tp_env *env) {
    struct reader *reader = cli_must(calloc(1, sizeof *reader));

    reader->env = env;
    background_start(&reader->background, run, reader);
    return reader;
}

/* Called with the lock held. */
static bool is_away(const struct reader *reader, char error[READER_ERROR_SIZE]) {
    int64_t silent = reader->asking_since ? clock_ms() - reader->asking_since : 0;

    *error = '\0';
    if (silent >= SILENT_MS)
        snprintf(error, READER_ERROR_SIZE, "the database has not answered for %lld s",
                 (long long)(silent / 1000));
    else if (*reader->error)
        snprintf(error, READER_ERROR_SIZE, "%s", reader->error);
    return *error != '\0';
}

bool reader_away(struct reader *reader, char error[READER_ERROR_SIZE]) {
    bool away;

    pthread_mutex_lock(&reader->background.lock);
    away = is_away(reader, error);
    pthread_mutex_unlock(&reader->background.lock);
    return away;
}

/* Called with the lock held. */
static void look(struct reader *reader) {
    if (!reader->looked_at || clock_ms() - reader->looked_at > LOOKED_MS)
        background_wake(&reader->background);
    reader->looked_at = clock_ms();
}

void reader_look(struct reader *reader, bool now) {
    pthread_mutex_lock(&reader->background.lock);
    look(reader);
    if (now && !*reader->error) {
        reader->now = true;
        background_wake(&reader->background);
    }
    pthread_mutex_unlock(&reader->background.lock);
}

char *reader_overview(struct reader *reader, uint64_t *serial, int64_t wait_ms,
                      char error[READER_ERROR_SIZE]) {
    int64_t until = clock_ms() + wait_ms;
    bool any = *serial == 0; /* rather that of before than none */
    char *copy = NULL;

    pthread_mutex_lock(&reader->background.lock);
    look(reader);
    if (any && !is_away(reader, error) && clock_ms() - reader->read_at > OLD_MS) *serial = reader->serial;
    while (!reader->background.stop && reader->serial == *serial && clock_ms() < until)
        (void)background_wait(&reader->background, until);
    if (!is_away(reader, error) && reader->overview && (any || reader->serial != *serial))
        copy = cli_must(strdup(reader->overview));
    *serial = reader->serial;
    pthread_mutex_unlock(&reader->background.lock);
    return copy;
}

const char *reader_dialect(struct reader *reader) {
    bool known;

    pthread_mutex_lock(&reader->background.lock);
    known = *reader->dialect != '\0';
    pthread_mutex_unlock(&reader->background.lock);
    return known ? reader->dialect : "";
}

bool reader_retries(struct reader *reader) {
    struct handler_figures sum;
    bool fresh;

    pthread_mutex_lock(&reader->background.lock);
    fresh = reader->read_at && clock_ms() - reader->read_at < POLLING_MAX_MS;
    sum = figures_sum(&reader->figures);
    pthread_mutex_unlock(&reader->background.lock);
    return !fresh || sum.retrying || figures_open(&sum) < MANY;
}

void reader_enqueued(struct reader *reader, const int64_t *ends, size_t count, int64_t *sums) {
    pthread_mutex_lock(&reader->background.lock);
    for (size_t i = 0; i < count; i++)
        sums[i] = enqueued_sum(&reader->enqueued, ends[i], ends[i + 1]);
    pthread_mutex_unlock(&reader->background.lock);
}

struct figures reader_figures(struct reader *reader) {
    int64_t until = clock_ms() + FIGURES_WAIT_MS;
    char error[READER_ERROR_SIZE];
    struct figures copy = {0};

    pthread_mutex_lock(&reader->background.lock);
    reader->measured_at = clock_ms();
    if (!reader->held && !is_away(reader, error)) {
        reader->now = true;
        background_wake(&reader->background);
        while (!reader->held && !reader->background.stop && !is_away(reader, error) && clock_ms() < until)
            (void)background_wait(&reader->background, until);
    }
    if (reader->read_at && clock_ms() - reader->read_at < 3 * IDLE_MS) copy = figures_copy(&reader->figures);
    pthread_mutex_unlock(&reader->background.lock);
    return copy;
}

void reader_hurry(struct reader *reader) {
    background_hurry(&reader->background);
}

bool reader_stop(struct reader *reader) {
    if (!background_stop(&reader->background, STOP_MS)) return false;
    tp_conn_close(reader->conn);
    free(reader->overview);
    figures_free(&reader->figures);
    figures_free(&reader->tasks);
    free(reader);
    return true;
}
