/* Makes the library's calls to the driver fail at chosen moments, through the hook of odbc/link.h. What is
 * sent or not sent is real: only the answer is replaced, by what the driver in use would report. Safe from
 * any thread. */
#ifndef TESTS_WORKER_FAULTS_H
#define TESTS_WORKER_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "odbc/link.h"

/* What the driver reports. */
enum faults_kind {
    FAULTS_DEAD,      /* the connection is lost */
    FAULTS_CONFLICT,  /* chosen as the victim of a deadlock */
    FAULTS_LOCKED,    /* another session's lock */
    FAULTS_NO_TABLE,  /* the table is not there */
    FAULTS_PERMANENT, /* something that asking again does not mend */
    FAULTS_REFUSED,   /* cannot connect */
    FAULTS_FULL,      /* the disk is full */
    FAULTS_DEAD_AT_COMMIT,
    FAULTS_SERIALIZATION, /* what was read has changed meanwhile */
    FAULTS_IO,            /* the disk failed */
    FAULTS_FORGOTTEN,     /* the server does not know what was prepared */
    FAULTS_KIND_COUNT
};

/* Which calls are meant, and what happens to them. NULL means any. */
struct faults_aim {
    const char *statement; /* the name of its file under sql/, or begin, commit, rollback */
    const char *after;     /* the file under sql/ that ran before it on that connection */
    const char *function;  /* NULL: the call that executes the statement */
    /* Instead of the three before; called under a lock. */
    bool (*fits)(const struct tpi_link *link, const char *function);
    int skip, times;      /* of the calls meant, so many go well first, then so many are hit */
    enum tpi_fault fault; /* may be none: the call is only met */
    enum faults_kind kind;
    void (*meet)(struct tpi_link *link, void *arg); /* called before each call that is hit */
    void *arg;
};

/* Before any other thread is there, and once. */
void faults_open(void);
/* One of the test's own connections, which never fail; at most four. */
void faults_spare(const struct tpi_link *link);
/* Does the call execute the statement, or begin or end a transaction? */
bool faults_executes(const char *statement, const char *function);
/* Forgets all that follows. */
void faults_clear(void);

/* Gives the aim's number. The second takes its fields: faults_at(.statement = "commit", .times = 1). */
size_t faults_add(struct faults_aim aim);
#define faults_at(...) faults_add((struct faults_aim){__VA_ARGS__})
/* The statement is not run and fails, times times after the first skip. */
size_t faults_refuse(const char *statement, enum faults_kind kind, int skip, int times);
size_t faults_refuse_at(struct faults_aim aim, enum faults_kind kind, int skip, int times);
/* The connection is lost in the calls aimed at, times times after the first skip. */
size_t faults_lose(struct faults_aim aim, enum tpi_fault fault, int skip, int times);
/* The statement is met only, to be counted. */
size_t faults_count(const char *statement);
/* How many calls were meant, and how many of them hit. */
int faults_seen(size_t number);
int faults_hits(size_t number);
int faults_all_hits(void);
/* Waits until so many were seen; false after 20 seconds. */
bool faults_wait_seen(size_t number, int count);

/* While down nothing reaches the database, and nobody can connect. */
void faults_down(bool down);
/* Each call that goes over the wire loses its connection with this chance of 1000, half of them after it
 * was made. */
void faults_noise(unsigned per_mille);
/* The n-th execution of the statement, counted over all connections, loses its connection n/2 calls later,
 * for an even n before that call, for an odd n after it; n goes up to twice calls. An execution that follows
 * on one that was hit is spared. */
void faults_sweep(const char *statement, int calls);
int faults_sweep_hits(void);

#endif
