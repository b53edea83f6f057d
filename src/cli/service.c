/* See service.h. The manager's watchdog is fed only while the worker answers and none of its threads has
 * waited for the database longer than the watchdog's time: a worker whose lock is never freed, or whose
 * driver never comes back, is started again. A database that is away is no such case; it is waited for. */
#include "service.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clocks.h"
#include "common/messages.h"
#include "common/values.h"

#define TICK_MS 5000

static struct {
    int fd;
    socklen_t length; /* of address; 0: nobody is told */
    struct sockaddr_un address;
    int64_t watchdog_ms; /* 0: none */
    int64_t tick_ms;
    tp_worker *worker;
    atomic_bool stopping;

    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* guards over */
    pthread_cond_t changed;
    bool over;
} service = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* What cannot be sent is not: nobody is to wait for the manager. */
static void tell(const char *text) {
    int error = errno;

    if (service.length)
        (void)sendto(service.fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                     (const struct sockaddr *)&service.address, service.length);
    errno = error;
}

/* A path, or a name that begins with @ (Linux): a NUL stands there then. */
static bool read_address(const char *name) {
    size_t length = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || length >= sizeof service.address.sun_path) return false;
    service.address.sun_family = AF_UNIX;
    memcpy(service.address.sun_path, name, length);
    if (name[0] == '@') service.address.sun_path[0] = '\0';
    service.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/'));
    return true;
}

/* The watchdog of this process, in ms; one that is meant for another process is none. */
static int64_t read_watchdog(void) {
    const char *pid = getenv("WATCHDOG_PID"), *time = getenv("WATCHDOG_USEC");
    int64_t us = 0, whose = 0;

    if (!time || !value_integer(time, 1, INT64_MAX, &us)) return 0;
    if (pid && (!value_integer(pid, 1, INT32_MAX, &whose) || whose != getpid())) return 0;
    return us < 3000 ? 1 : us / 1000;
}

void service_begin(void) {
    const char *name = getenv("NOTIFY_SOCKET");

    if (name && *name && read_address(name)) {
        service.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (service.fd < 0) service.length = 0;
        service.watchdog_ms = read_watchdog();
    }
    service.tick_ms = TICK_MS;
    if (service.watchdog_ms && service.watchdog_ms / 4 < TICK_MS)
        service.tick_ms = service.watchdog_ms / 4 + 1;
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
}

/* Hangs when the worker does, which is then seen by the manager. */
static void report(void) {
    tp_worker_info info = TP_WORKER_INFO_INIT;
    char text[512];
    bool alive = tp_worker_about(service.worker, &info) == TP_OK;

    if (!alive) return;
    snprintf(text, sizeof text, "STATUS=%s: %zu running, %zu queued, %llu done, %llu failed\n", info.state,
             info.running, info.queued, (unsigned long long)info.done, (unsigned long long)info.failed);
    tell(text);
    if (service.watchdog_ms && info.waiting_ms < service.watchdog_ms) tell("WATCHDOG=1\n");
    /* The stop waits for programs as long as it takes, and may: it is a minute more each time. */
    if (service.stopping) tell("EXTEND_TIMEOUT_USEC=60000000\n");
}

/* False: it is over. */
static bool pause_tick(void) {
    int64_t until = clock_ms() + service.tick_ms;
    bool over;

    pthread_mutex_lock(&service.lock);
    while (!service.over && clock_cond_wait(&service.changed, &service.lock, until))
        continue;
    over = service.over;
    pthread_mutex_unlock(&service.lock);
    return !over;
}

static void *report_on(void *arg) {
    (void)arg;
    do
        report();
    while (pause_tick());
    return NULL;
}

void service_ready(tp_worker *worker) {
    if (!service.length) return;
    service.worker = worker;
    tell("READY=1\n");
    service.started =
        clock_cond_init(&service.changed) && pthread_create(&service.thread, NULL, report_on, NULL) == 0;
    if (!service.started) cli_warn("the system gives no thread that could feed the service's watchdog");
}

void service_stopping(void) {
    if (atomic_exchange(&service.stopping, true)) return;
    tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=60000000\n");
}

void service_end(void) {
    if (!service.started) return;
    pthread_mutex_lock(&service.lock);
    service.over = true;
    (void)pthread_cond_signal(&service.changed);
    pthread_mutex_unlock(&service.lock);
    (void)pthread_join(service.thread, NULL);
    service.started = false;
}
