/* The duties of the dispatcher besides claiming; see maintenance.c. */
#ifndef TPI_WORKER_MAINTENANCE_H
#define TPI_WORKER_MAINTENANCE_H

#include "worker/heartbeat.h"

/* Of the thread that does it. */
struct tpi_maintenance {
    struct tpi_heartbeat *heartbeat;
    struct tpi_queue *queue;
    struct tpi_session *session;
    int64_t schedule_at, clean_at, tokens_at, groups_at, forget_at; /* monotonic */
    int64_t settled; /* how many tasks when groups were looked at last */
    size_t fired, deleted;
    int64_t wait_ms;
    int64_t rolled_up[TPI_ROLLUP_LEVELS]; /* activity before these times */
    bool more;                            /* there is more to delete or to roll up */
    bool groups;                          /* there are groups that have not ended, or may be */
    bool fire_failed, clean_failed, mend_failed, tokens_failed, end_failed, forget_failed,
        sweep_failed; /* and it was reported */
};

void tpi_maintenance_init(struct tpi_maintenance *maintenance, struct tpi_heartbeat *heartbeat,
                          struct tpi_queue *queue, struct tpi_session *session, bool schedules);
/* When there is something to do, by the monotonic clock. */
int64_t tpi_maintenance_next(const struct tpi_maintenance *maintenance);
/* What is due. */
void tpi_maintenance_do(struct tpi_maintenance *maintenance);
void tpi_maintenance_fire(struct tpi_maintenance *maintenance);

#endif
