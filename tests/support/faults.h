/* Makes calls fail at chosen moments: calls to the driver through the hook of odbc/link.h, and allocations
 * where a program is linked with faults/alloc.c. An aim says which calls are meant, which of them fail, and
 * how. Calls are really sent or really not sent: only the answer is replaced, by one that the driver in use
 * could give. Safe from any thread. */
#ifndef TESTS_SUPPORT_FAULTS_H
#define TESTS_SUPPORT_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odbc/link.h"

/* What the driver reports. */
enum faults_kind {
    FAULTS_DEAD,      /* the connection is lost, or, when it is being made, refused */
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

/* What else a driver may report. */
struct faults_saying {
    const char *state;
    int32_t native;
    const char *text;
};

/* NULL and 0 mean any. Of several aims that hit a call, the last one added says what happens. */
struct faults_aim {
    /* Which calls are meant. */
    const char *statement; /* the name of its file under sql/, or begin, commit, rollback */
    const char *after;     /* the file under sql/ that ran before it on that connection */
    const char *function;  /* NULL: the call that executes the statement */
    /* Instead of the three before; called under a lock. */
    bool (*fits)(const struct tpi_link *link, const char *function);
    /* Which of them are hit. */
    int skip, times; /* so many go well first, then so many are hit */
    unsigned one_in; /* each of those by this chance */
    /* Instead: the n-th call that is meant, counted over all connections, is the first of a pass. Up to n = 2
     * * passes the connection is lost n/2 calls later, for an even n before that call, for an odd n after it.
     * A pass that follows on one that was hit is spared. */
    int passes;
    /* What happens. */
    enum tpi_fault fault; /* may be none: the call is only met */
    enum faults_kind kind;
    const struct faults_saying *says;               /* instead of the kind */
    void (*meet)(struct tpi_link *link, void *arg); /* called before each call that is hit */
    void *arg;
};
/* The function of an aim at what the system gives: memory, files, threads. Such a call has no connection and
 * is met by nobody. */
#define FAULTS_ALLOCATION "an allocation"

/* Before any other thread is there, and once. */
void faults_open(void);
/* One of the test's own connections, which never fail; at most four. */
void faults_spare(const struct tpi_link *link);
/* Does the call execute the statement, or begin or end a transaction? */
bool faults_executes(const char *statement, const char *function);
/* Forgets all that follows. */
void faults_clear(void);

/* Gives the aim's number: 0 is the first after faults_clear. */
size_t faults_add(struct faults_aim aim);
/* Takes the aim's fields: faults_at(.statement = "commit", .times = 1). */
#define faults_at(...) faults_add((struct faults_aim){__VA_ARGS__})
/* The statement, or the call aimed at, is not run and fails, times times after the first skip. */
size_t faults_refuse(const char *statement, enum faults_kind kind, int skip, int times);
size_t faults_refuse_at(struct faults_aim aim, enum faults_kind kind, int skip, int times);
/* The connection is lost in the calls aimed at. */
size_t faults_lose(struct faults_aim aim, enum tpi_fault fault, int skip, int times);
/* The statement is met only, to be counted. */
size_t faults_count(const char *statement);
/* How many calls were meant, and how many of them hit. */
int faults_seen(size_t number);
int faults_hits(size_t number);
int faults_all_hits(void);
/* The call that was hit last, for people; "no call". */
const char *faults_where(size_t number);
/* Waits until so many were seen; false after minutes. */
bool faults_wait_seen(size_t number, int count);
/* From here on chance repeats. */
void faults_seed(uint64_t seed);

/* Aims that are wanted often. While down nothing reaches the database, and nobody can connect. */
void faults_down(bool down);
/* Each call that goes over the wire loses its connection with this chance of 1000, half of them after it
 * was made. */
void faults_noise(unsigned per_mille);

/* A call that is not the library's own comes now. What is to become of it. */
enum tpi_fault faults_ask(struct tpi_link *link, const char *function);
/* The same of an allocation. True: it fails. */
bool faults_ask_allocation(void);

#endif
