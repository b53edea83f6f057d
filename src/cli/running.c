/* See running.h. Orphans come to a container's first process by themselves, to others by a subreaper's right
 * (Linux). A driver may have children of its own, and wait for them: what is reaped here was a zombie one
 * scan earlier, too. */
#include "running.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "common/clocks.h"
#include "processes.h"

#define SCAN_MS  1000
#define DEAD_MAX 1000 /* in one scan; the others wait */

/* 0: free */
static atomic_int pids[CHILDREN_MAX];

/* Shared: between a start and its entry here, and between its entry's end and its own. Alone: who reaps
 * strangers. */
static pthread_rwlock_t changing = PTHREAD_RWLOCK_INITIALIZER;

static bool exchange(int from, int to) {
    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        int pid = from;

        if (atomic_compare_exchange_strong(&pids[i], &pid, to)) return true;
    }
    return false;
}

int running_start(const char *path, const tp_task *task, const char *const *more, bool reports,
                  struct started *started) {
    int error;

    (void)pthread_rwlock_rdlock(&changing);
    error = program_start(path, task, more, reports, started);
    if (!error) (void)exchange(0, (int)started->pid);
    (void)pthread_rwlock_unlock(&changing);
    return error;
}

int running_reap(pid_t pid, int *status) {
    int error = 0;

    (void)pthread_rwlock_rdlock(&changing);
    (void)exchange((int)pid, 0); /* while its number cannot be another's */
    while (waitpid(pid, status, 0) < 0 && (error = errno) == EINTR)
        error = 0;
    (void)pthread_rwlock_unlock(&changing);
    return error;
}

static void reap_stranger(pid_t pid) {
    (void)pthread_rwlock_wrlock(&changing);
    if (!exchange((int)pid, (int)pid)) (void)waitpid(pid, NULL, WNOHANG);
    (void)pthread_rwlock_unlock(&changing);
}

void running_kill_all(void) {
    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        int pid = pids[i];

        if (!pid) continue;
        (void)kill(-pid, SIGKILL);
        (void)kill(pid, SIGKILL); /* it may have left its group */
    }
}

/* ---- Orphans ------------------------------------------------------------------------------------------- */

struct dead {
    pid_t list[DEAD_MAX];
    size_t count;
};

static bool has(const struct dead *dead, pid_t pid) {
    for (size_t i = 0; i < dead->count; i++)
        if (dead->list[i] == pid) return true;
    return false;
}

static void find_dead(struct dead *dead) {
    struct processes all;

    dead->count = 0;
    processes_read(&all);
    for (size_t i = 0; i < all.count && dead->count < DEAD_MAX; i++)
        if (all.list[i].state == 'Z' && all.list[i].parent == getpid())
            dead->list[dead->count++] = all.list[i].pid;
    processes_free(&all);
}

static bool any_dead(void) {
    siginfo_t info;

    info.si_pid = 0;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static void *reap_orphans(void *arg) {
    static struct dead before, now;

    (void)arg;
    for (;; clock_sleep(SCAN_MS)) {
        now.count = 0;
        if (any_dead()) find_dead(&now);
        for (size_t i = 0; i < now.count; i++)
            if (has(&before, now.list[i])) reap_stranger(now.list[i]);
        before = now;
    }
    return NULL;
}

void running_reap_orphans(void) {
    pthread_t thread;
    sigset_t all;
    sigset_t was;

#if defined(__linux__) && defined(PR_SET_CHILD_SUBREAPER)
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &was);
    if (pthread_create(&thread, NULL, reap_orphans, NULL) == 0) (void)pthread_detach(thread);
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
}
