/* How long tasks may wait and handlers may run, as tp_handler_options say; see time_limit.c. */
#ifndef TPI_WORKER_TIME_LIMIT_H
#define TPI_WORKER_TIME_LIMIT_H

#include "worker/job.h"

/* Before its handler is called: has it waited too long? Then its job has the notice. */
void tpi_time_limit_waited(struct tpi_job *job);
/* Tells handlers that run for too long, and lets go of the leases of those that were told long ago. */
void tpi_time_limit_look(struct tpi_jobs *jobs);

/* From being told to the lease's end. Only tests change it. */
extern int64_t tpi_time_limit_grace_ms;

#endif
