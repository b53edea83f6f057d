/* The public operations, one by one, as tests of failures ask them: how the pool is to be before, the call,
 * and how the pool must be once the call has answered. Each may be asked again after a failure, which is what
 * the tests do. What fails, and how often, is the tests' affair: test_memory.c. */
#ifndef TESTS_FAULTS_SCENE_H
#define TESTS_FAULTS_SCENE_H

#include "support/tasks.h"

enum { SCENE_TASKS = 60 };

/* What an operation works on, anew for each try. */
struct scene {
    tp_conn *conn;    /* the session that asks; nothing is prepared there */
    const char *plan; /* the operation's */
    bool again;       /* an earlier try has failed */
    char id[SCENE_TASKS][ID];
    size_t count;
    tp_batch *batch; /* freed at the end of the scene */
    const tp_task *task;
    const tp_task *tasks[SCENE_TASKS];
    tp_new_task new_tasks[SCENE_TASKS];
    tp_claim_request request;
    struct pool_raw raw;
    tp_env *env;
    tp_conn *other; /* closed at the end, before env */
    tp_worker *worker;
    char file[512];
    char name[64]; /* of a key, a schedule, a worker: this scene's own */
    int calls;
    int64_t number;
};

enum {
    ACT_INSIDE = 1,       /* asked inside an explicit transaction, which is committed when it went well */
    ACT_HEAVY = 2,        /* so many points that servers are spared most of them */
    ACT_SLOW = 4,         /* so much so that every database is */
    ACT_SQLITE = 8,       /* no server is asked */
    ACT_THREADS = 16,     /* other threads allocate too, so no two tries are alike */
    ACT_CALLS = 32,       /* scenes.c makes its calls to the driver fail */
    ACT_EACH = 128,       /* no call of it is left out anywhere */
    ACT_OWN_SESSIONS = 64 /* not those of scene->conn, but of sessions that it opens by itself */
};

/* One operation. */
struct act {
    const char *name;
    const char *plan; /* NULL: any; else only where that plan is possible */
    unsigned flags;
    void (*arrange)(struct scene *scene); /* may be NULL */
    /* Fails the test when a failure has changed what it hands out. */
    tp_status (*ask)(struct scene *scene);
    void (*judge)(struct scene *scene, tp_status answer); /* after an answer that is no failure */
    void (*clear)(struct scene *scene);                   /* may be NULL; whatever happened */
};

/* Ends with a NULL name. */
extern const struct act scenes_of_connections[], scenes_of_producers[], scenes_of_claims[],
    scenes_of_settles[], scenes_of_operators[], scenes_of_schedules[], scenes_of_workers[];

/* The address is nobody's: what an operation must not touch when it fails. */
#define UNTOUCHED(type) ((type *)(void *)&scene_mark)
extern char scene_mark;
/* pointer must still be the mark after a failure. */
#define expect_untouched(answer, pointer)                                                                    \
    do {                                                                                                     \
        if ((answer) < TP_OK && (const void *)(pointer) != (const void *)&scene_mark)                        \
            fail_msg("%s changed what it hands out although it failed", __func__);                           \
    } while (0)
enum { MARK = -77 };
#define expect_number_untouched(answer, number)                                                              \
    do {                                                                                                     \
        if ((answer) < TP_OK && (int64_t)(number) != MARK)                                                   \
            fail_msg("%s changed what it hands out although it failed", __func__);                           \
    } while (0)

/* Before each act: nothing of earlier ones is there. */
void scene_wipe(void);
/* Before and after each try. */
void scene_open(struct scene *scene, const struct act *act);
void scene_close(struct scene *scene, const struct act *act);
/* Takes from the session what it has kept of earlier calls, so that each try allocates all anew. */
void scene_forget(tp_conn *conn);

/* The session that asks. */
struct tpi_link *scene_link(const struct scene *scene);

/* Tasks of this scene's handler, put or put and claimed by scene->conn. */
void scene_put(struct scene *scene, size_t count, const char *params);
void scene_claim(struct scene *scene, size_t count);
/* A task in the failed pool, and one in the finished. */
void scene_fail(struct scene *scene);
void scene_finish(struct scene *scene);
/* The claimed tasks' leases have lapsed. */
void scene_lapse(struct scene *scene);

#endif
