/* See processes.h. Numbers of processes are read and used within milliseconds, so that none can be another's
 * by then. */
#include "processes.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Reading ----------------------------------------------------------------------------------------- */

static FILE *open_about(const char *pid, const char *what) {
    char path[300];

    snprintf(path, sizeof path, "/proc/%s/%s", pid, what);
    return fopen(path, "re");
}

/* Where the n-th field of stat begins, as proc(5) counts them; state: where the third does. */
static const char *find_field(const char *state, int n) {
    const char *at = state;

    for (int i = 3; i < n && *at; i++)
        at += strcspn(at + 1, " ") + 1;
    return at;
}

static long read_number(const char *state, int n) {
    return strtol(find_field(state, n), NULL, 10);
}

/* The second field, a name in parentheses, may hold anything. */
static bool read_one(const char *pid, struct process *process) {
    FILE *file = open_about(pid, "stat");
    char text[1024] = "";
    const char *state;

    if (!file) return false;
    (void)fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    state = strrchr(text, ')');
    if (!state || state[1] != ' ') return false;
    state += 2;
    process->pid = (pid_t)strtol(pid, NULL, 10);
    process->state = *state;
    process->parent = (pid_t)read_number(state, 4);
    process->group = (pid_t)read_number(state, 5);
    process->start = strtoull(find_field(state, 22), NULL, 10);
    process->ours = false;
    return true;
}

static bool add(struct processes *all, const struct process *process) {
    struct process *more = realloc(all->list, (all->count + 1) * sizeof *more);

    if (!more) return false;
    all->list = more;
    all->list[all->count++] = *process;
    return true;
}

void processes_read(struct processes *all) {
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    struct process process;

    memset(all, 0, sizeof *all);
    /* cppcheck-suppress readdirCalled; the stream is this call's own */
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_one(entry->d_name, &process))
            if (!add(all, &process)) break;
    if (folder) (void)closedir(folder);
}

void processes_free(struct processes *all) {
    free(all->list);
    memset(all, 0, sizeof *all);
}

/* ---- What comes from a program ----------------------------------------------------------------------- */

static bool has_variable(FILE *file, const char *name, const char *value) {
    size_t length = strlen(name);
    size_t size = 0;
    char *variable = NULL;
    bool found = false;

    rewind(file);
    while (!found && getdelim(&variable, &size, '\0', file) > 0)
        found = strncmp(variable, name, length) == 0 && strcmp(variable + length, value) == 0;
    free(variable);
    return found;
}

/* The claim's token alone may be that of many tasks, the id that of an earlier run. */
static bool carries(const struct process *process, const tp_task *task) {
    char pid[32];
    FILE *file;
    bool both;

    snprintf(pid, sizeof pid, "%ld", (long)process->pid);
    file = open_about(pid, "environ");
    if (!file) return false;
    both = has_variable(file, "TASKPOOL_ID=", task->id) && has_variable(file, "TASKPOOL_TOKEN=", task->owner);
    (void)fclose(file);
    return both;
}

static bool was_found(const struct processes *found, const struct process *process) {
    for (size_t i = 0; i < found->count; i++)
        if (found->list[i].pid == process->pid && found->list[i].start == process->start) return true;
    return false;
}

/* True: some that were not known to be. */
static bool mark_children(struct processes *all, pid_t parent) {
    bool some = false;

    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].parent != parent || all->list[i].ours) continue;
        all->list[i].ours = some = true;
    }
    return some;
}

static void mark_descendants(struct processes *all, pid_t program) {
    bool some = true;

    (void)mark_children(all, program);
    while (some) {
        some = false;
        for (size_t i = 0; i < all->count; i++)
            if (all->list[i].ours) some = mark_children(all, all->list[i].pid) || some;
    }
}

static bool lives(const struct process *process) {
    return process->state != 'Z' && process->state != 'X';
}

void processes_find(struct processes *found, pid_t program, const tp_task *task) {
    struct processes all;
    size_t count = 0;

    processes_read(&all);
    for (size_t i = 0; i < all.count; i++) {
        struct process *process = &all.list[i];
        bool orphan = process->parent == getpid() && process->pid != program;

        process->ours = was_found(found, process) || (orphan && carries(process, task));
    }
    mark_descendants(&all, program);
    for (size_t i = 0; i < all.count; i++)
        if (all.list[i].ours && lives(&all.list[i])) all.list[count++] = all.list[i];
    all.count = count;
    processes_free(found);
    *found = all;
}

void processes_signal(const struct processes *found, pid_t group, int number) {
    for (size_t i = 0; i < found->count; i++)
        if (found->list[i].group != group) (void)kill(found->list[i].pid, number);
}
