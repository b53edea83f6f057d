/* The threads that write standard output and standard error of a worker, each from a ring buffer. See
 * stream.h. */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clocks.h"

#define ROOM     (1 << 20)
#define CHUNK    4096 /* a pipe that is ready takes at least so much */
#define STALL_MS 3000
#define STUCK_MS 60000 /* the same of a file that would take more */
#define AGAIN_MS 100

struct stream {
    const char *name;
    int fd;
    bool started; /* changes while no other thread writes */
    pthread_t thread;
    void (*failed)(void);

    pthread_mutex_t lock; /* guards the rest; never held while something is written */
    pthread_cond_t changed;
    size_t begin, used; /* of ring */
    int64_t moved_at;   /* when something was written last, or the first came to wait */
    long long dropped;  /* lines, since their number was last reported */
    int error;
    bool ending, ended;
    char ring[ROOM];
};

static struct stream streams[] = {
    {.name = "standard output", .fd = STDOUT_FILENO, .lock = PTHREAD_MUTEX_INITIALIZER},
    {.name = "standard error", .fd = STDERR_FILENO, .lock = PTHREAD_MUTEX_INITIALIZER}};

static struct stream *stream_of(int fd) {
    return &streams[fd == STDERR_FILENO];
}

static long long count_lines(const char *text, size_t length) {
    long long count = 0;

    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

/* ---- Putting ------------------------------------------------------------------------------------------- */

static void copy_in(struct stream *stream, const char *text, size_t length) {
    size_t end = (stream->begin + stream->used) % ROOM;
    size_t first = length < ROOM - end ? length : ROOM - end;

    memcpy(stream->ring + end, text, first);
    memcpy(stream->ring, text + first, length - first);
    if (!stream->used) stream->moved_at = clock_ms();
    stream->used += length;
    pthread_cond_broadcast(&stream->changed);
}

/* Once something was dropped all else is, until the buffer is written: nothing is missing in its middle. */
bool stream_put(int fd, const char *text, size_t length) {
    struct stream *stream = stream_of(fd);

    if (!stream->started) return false;
    pthread_mutex_lock(&stream->lock);
    if (!stream->error && (stream->dropped || length > ROOM - stream->used))
        stream->dropped += count_lines(text, length);
    else if (!stream->error)
        copy_in(stream, text, length);
    pthread_mutex_unlock(&stream->lock);
    return true;
}

/* Whether it is not read. What would take more is: only our thread is late. Called with the lock held. */
static bool is_unread(const struct stream *stream) {
    struct pollfd file = {stream->fd, POLLOUT, 0};
    int64_t late = clock_ms() - stream->moved_at;

    return late >= STUCK_MS || (late >= STALL_MS && poll(&file, 1, 0) == 0);
}

bool stream_takes(int fd) {
    struct stream *stream = stream_of(fd);
    bool takes;

    if (!stream->started) return true;
    pthread_mutex_lock(&stream->lock);
    takes = stream->error || (stream->used <= ROOM / 2 && !stream->dropped) || is_unread(stream);
    pthread_mutex_unlock(&stream->lock);
    return takes;
}

/* ---- The thread ---------------------------------------------------------------------------------------- */

/* 0 or errno. A file that somebody made not to wait is waited for all the same. */
static int write_chunk(int fd, const char *text, size_t *length) {
    for (;;) {
        struct pollfd file = {fd, POLLOUT, 0};
        ssize_t wrote = write(fd, text, *length);

        if (wrote >= 0) {
            *length = (size_t)wrote;
            return 0;
        }
        if (errno == EAGAIN)
            (void)poll(&file, 1, -1);
        else if (errno != EINTR)
            return errno;
    }
}

/* Called with the lock held; releases it while it writes. */
static void write_some(struct stream *stream) {
    size_t length = stream->used < CHUNK ? stream->used : CHUNK;
    int error;

    if (length > ROOM - stream->begin) length = ROOM - stream->begin;
    pthread_mutex_unlock(&stream->lock);
    error = write_chunk(stream->fd, stream->ring + stream->begin, &length);
    pthread_mutex_lock(&stream->lock);
    stream->error = error;
    stream->begin = (stream->begin + length) % ROOM;
    stream->used = error ? 0 : stream->used - length;
    stream->moved_at = clock_ms();
}

/* Called with the lock held; releases it while it reports. Standard error is ended last, so it is there. */
static void report_dropped(struct stream *stream) {
    char text[128];

    snprintf(text, sizeof text, "taskpool: %lld lines for %s could not be written, because nobody read it\n",
             stream->dropped, stream->name);
    stream->dropped = 0;
    pthread_mutex_unlock(&stream->lock);
    (void)stream_put(STDERR_FILENO, text, strlen(text));
    pthread_mutex_lock(&stream->lock);
}

static void *write_all(void *arg) {
    struct stream *stream = arg;
    bool fails;

    pthread_mutex_lock(&stream->lock);
    while (!stream->error) {
        if (stream->used)
            write_some(stream);
        else if (stream->dropped)
            report_dropped(stream);
        else if (stream->ending)
            break;
        else
            pthread_cond_wait(&stream->changed, &stream->lock);
    }
    fails = stream->error && !stream->ending;
    pthread_mutex_unlock(&stream->lock);
    if (fails && stream->failed) stream->failed();
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* ---- Beginning and end --------------------------------------------------------------------------------- */

static bool start(struct stream *stream, void (*failed)(void)) {
    stream->failed = failed;
    stream->started =
        clock_cond_init(&stream->changed) && pthread_create(&stream->thread, NULL, write_all, stream) == 0;
    return stream->started;
}

bool streams_start(void (*failed)(void)) {
    return start(stream_of(STDERR_FILENO), NULL) && start(stream_of(STDOUT_FILENO), failed);
}

/* Under the lock. */
static void await_end(struct stream *stream) {
    while (!stream->ended && !is_unread(stream))
        (void)clock_cond_wait(&stream->changed, &stream->lock, clock_ms() + AGAIN_MS);
}

static long long count_left(const struct stream *stream) {
    size_t first = stream->used < ROOM - stream->begin ? stream->used : ROOM - stream->begin;

    return stream->dropped + count_lines(stream->ring + stream->begin, first) +
           count_lines(stream->ring, stream->used - first);
}

long long stream_end(int fd, int *error) {
    struct stream *stream = stream_of(fd);
    long long left;
    bool ended;

    *error = 0;
    if (!stream->started) return 0;
    pthread_mutex_lock(&stream->lock);
    stream->ending = true;
    pthread_cond_broadcast(&stream->changed);
    if (!stream->used && !stream->dropped) stream->moved_at = clock_ms();
    await_end(stream);
    ended = stream->ended;
    *error = stream->error;
    left = stream->error ? 0 : count_left(stream);
    pthread_mutex_unlock(&stream->lock);
    stream->started = false;
    /* Else it waits in a write, until the process ends. */
    if (ended) (void)pthread_join(stream->thread, NULL);
    return left;
}
