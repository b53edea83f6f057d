/* See board.h. The library reports each failed call to tpi_link_failed, which this program wraps (see
 * tools/CMakeLists.txt): so failures are counted too that a plan passes over by itself. */
#include "crowd/board.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "odbc/link.h"
#include "support/check.h"

const char *board_end_name(enum board_end end) {
    static const char *const names[] = {
#define BOARD_END_NAME(id, name) name,
        BOARD_END_LIST(BOARD_END_NAME)
#undef BOARD_END_NAME
    };
    return names[end];
}

/* ---- The file ------------------------------------------------------------------------------------------ */

static struct board *map_file(int file, size_t size) {
    void *board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return board == MAP_FAILED ? NULL : board;
}

/* The file has holes: what is not written takes no space. */
struct board *board_make(size_t tasks, char path[64]) {
    size_t room = tasks * 3 + 1000;
    size_t size = sizeof(struct board) + room * sizeof(struct board_entry);
    snprintf(path, 64, "%s", "/tmp/taskpool-crowd.XXXXXX");
    int file = mkstemp(path);
    sure(file >= 0 && ftruncate(file, (off_t)size) == 0, "no file for the board");
    struct board *board = map_file(file, size);
    sure(board, "the board cannot be mapped");
    board->tasks = tasks;
    board->room = room;
    return board;
}

void board_drop(struct board *board, const char *path) {
    munmap(board, sizeof(struct board) + board->room * sizeof(struct board_entry));
    unlink(path);
}

static struct board *mine;
static int my_process;

struct board *board_map(const char *path, int process) {
    struct stat about;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) return NULL;
    my_process = process;
    mine = map_file(file, (size_t)about.st_size);
    return mine;
}

/* ---- Claims -------------------------------------------------------------------------------------------- */

int64_t board_now_us(void) {
    return tpi_clock_mono_us();
}

bool board_over(const struct board *board) {
    return atomic_load(&board->stop) || atomic_load(&board->settled) >= board->tasks;
}

struct board_entry *board_enter(struct board *board, const tp_task *task, int thread) {
    size_t at = atomic_fetch_add(&board->used, 1);
    if (at >= board->room) {
        atomic_store(&board->stop, 1);
        return NULL;
    }
    struct board_entry *entry = &board->entries[at];
    snprintf(entry->id, sizeof entry->id, "%s", task->id);
    snprintf(entry->token, sizeof entry->token, "%s", task->owner);
    entry->failures = task->failures;
    entry->process = my_process;
    entry->thread = thread;
    entry->from_us = board_now_us();
    return entry;
}

void board_end(struct board *board, struct board_entry *entry, enum board_end end, int64_t to_us) {
    entry->to_us = to_us;
    entry->end = end;
    if (end == BOARD_DONE || end == BOARD_SKIPPED || end == BOARD_GAVE_UP)
        atomic_fetch_add(&board->settled, 1);
}

/* With the time 0, so that they are sorted before the claims. */
void board_notice(struct board *board, const tp_task *task, enum board_end what) {
    struct board_entry *entry = board_enter(board, task, 0);
    if (!entry) return;
    entry->from_us = 0;
    entry->end = what;
    atomic_fetch_add(&board->notices, 1);
}

/* ---- Troubles ------------------------------------------------------------------------------------------ */

static pthread_mutex_t troubles_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_of(const struct board_trouble *trouble, const char *statement, const char *state,
                  int32_t native) {
    return trouble->native == native && strcmp(trouble->state, state) == 0 &&
           strncmp(trouble->statement, statement, sizeof trouble->statement - 1) == 0;
}

void board_trouble_by(const char *statement, const char *state, int32_t native, int class, const char *text) {
    int i = 0;
    if (!mine) return;
    pthread_mutex_lock(&troubles_lock);
    struct board_trouble *troubles = mine->troubles[my_process];
    while (i < BOARD_TROUBLES - 1 && troubles[i].count && !is_of(&troubles[i], statement, state, native))
        i++;
    if (troubles[i].count++ == 0) {
        snprintf(troubles[i].statement, sizeof troubles[i].statement, "%s", statement);
        snprintf(troubles[i].state, sizeof troubles[i].state, "%.5s", state);
        snprintf(troubles[i].text, sizeof troubles[i].text, "%.180s", text);
        troubles[i].native = native;
        troubles[i].class = class;
    }
    pthread_mutex_unlock(&troubles_lock);
}

WRAPPED(tp_status, tpi_link_failed, struct tpi_link *link, SQLSMALLINT type, SQLHANDLE handle) {
    tp_status status = __real_tpi_link_failed(link, type, handle);
    /* A probe on SQLite is a BEGIN that is meant to be refused. */
    if (!tpi_link_failed_as(TPI_CLASS_IN_TX))
        board_trouble_by(link->statement ? link->statement : "", link->diag.state, link->diag.native,
                         tpi_error_class(), link->diag.text);
    return status;
}
