/* See orphans.h. Orphans come to a container's first process by themselves, to others by a subreaper's right
 * (Linux). A driver may have children of its own, and wait for them: what is reaped here was there a look
 * earlier. */
#include "cli.h"

#include "orphans.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "common/clocks.h"
#include "processes.h"
#include "running.h"

#define LOOK_MS  1000
#define DEAD_MAX 1000 /* in one look; the others wait */

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
    for (;; clock_sleep(LOOK_MS)) {
        now.count = 0;
        if (any_dead()) find_dead(&now);
        for (size_t i = 0; i < now.count; i++)
            if (has(&before, now.list[i])) running_reap_stranger(now.list[i]);
        before = now;
    }
    return NULL;
}

void orphans_adopt(void) {
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
