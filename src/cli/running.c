/* See running.h. */
#include "running.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

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

int running_start(const char *path, const tp_task *task, struct started *started) {
    int error;

    (void)pthread_rwlock_rdlock(&changing);
    error = program_start(path, task, started);
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

void running_reap_stranger(pid_t pid) {
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
