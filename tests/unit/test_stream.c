/* A worker's standard output: of a thread that stands still while somebody reads, and of a reader that does
 * not. The clock is moved; a process has one such output, so each is tried in a child. */
#include "common/stream.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clocks.h"
#include "support/test.h"

enum { LINE = 1000, LINES = 600, NOT_READ_MS = 4000 }; /* together more than half of the buffer */

static int64_t stands_at; /* the clock, but for what it is moved */
static atomic_llong ahead_ms;
static atomic_bool held; /* the thread stands still before it writes, until somebody asks for the file */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);
ssize_t __real_write(int fd, const void *text, size_t length);
ssize_t __wrap_write(int fd, const void *text, size_t length);
int __real_poll(struct pollfd *files, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout);

int64_t __wrap_clock_ms(void) {
    return stands_at + atomic_load(&ahead_ms);
}

ssize_t __wrap_write(int fd, const void *text, size_t length) {
    pthread_mutex_lock(&lock);
    while (fd == STDOUT_FILENO && atomic_load(&held))
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return __real_write(fd, text, length);
}

static bool goes_on_when_asked;

int __wrap_poll(struct pollfd *files, nfds_t count, int timeout) {
    int found = __real_poll(files, count, timeout);
    pthread_mutex_lock(&lock);
    if (goes_on_when_asked) atomic_store(&held, false);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return found;
}

/* Standard output is a pipe, into which that many lines go. Its other end. */
static int put_lines(void) {
    static char line[LINE + 1];
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0 || close(ends[1]) != 0) _exit(2);
    if (!streams_start(NULL)) _exit(3);
    memset(line, 'x', LINE - 1);
    line[LINE - 1] = '\n';
    for (int i = 0; i < LINES; i++)
        (void)stream_put(STDOUT_FILENO, line, LINE);
    return ends[0];
}

static void *read_all(void *arg) {
    static char text[65536];
    int *end = arg, lines = 0;
    for (ssize_t got; lines < LINES && (got = read(*end, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            lines += text[i] == '\n';
    *end = lines;
    return NULL;
}

/* 0, or the number of what is not so. */
static int try_late_thread(void) {
    pthread_t reader;
    int error;
    atomic_store(&held, true);
    int end = put_lines();
    atomic_fetch_add(&ahead_ms, NOT_READ_MS);
    if (stream_takes(STDOUT_FILENO)) return 10; /* what comes would be thrown away */
    if (pthread_create(&reader, NULL, read_all, &end) != 0) return 11;
    goes_on_when_asked = true;
    if (stream_end(STDOUT_FILENO, &error) != 0 || error) return 12;
    (void)pthread_join(reader, NULL);
    return end == LINES ? 0 : 13;
}

static int try_no_reader(void) {
    struct pollfd file = {STDOUT_FILENO, POLLOUT, 0};
    int error;
    (void)put_lines();
    while (__real_poll(&file, 1, 0) != 0)
        (void)sched_yield();
    if (stream_takes(STDOUT_FILENO)) return 20;
    /* The thread may be between its last write and its look at the clock. */
    bool takes = false;
    for (int i = 0; i < 30000 && !takes; i++) {
        atomic_fetch_add(&ahead_ms, NOT_READ_MS);
        takes = stream_takes(STDOUT_FILENO);
        if (!takes) (void)__real_poll(NULL, 0, 10);
    }
    if (!takes) return 21;
    return stream_end(STDOUT_FILENO, &error) > LINES / 2 && !error ? 0 : 22;
}

/* The same of a file that would take more, when its thread stands in a write for ever. */
static int try_no_file(void) {
    int error;
    atomic_store(&held, true);
    (void)put_lines();
    atomic_fetch_add(&ahead_ms, 20 * NOT_READ_MS);
    if (!stream_takes(STDOUT_FILENO)) return 30;
    return stream_end(STDOUT_FILENO, &error) == LINES && !error ? 0 : 31;
}

static void check_in_child(int (*try)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        stands_at = __real_clock_ms();
        _exit(try());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST_AS(test_stream__whose_thread_stands_still_loses_no_line, check_in_child(try_late_thread))
TEST_AS(test_stream__that_nobody_reads_holds_nobody_up, check_in_child(try_no_reader))
TEST_AS(test_stream__that_is_not_written_for_ever_holds_nobody_up, check_in_child(try_no_file))
