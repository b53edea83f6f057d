/* The tasks that are in progress in this process; see in_flight.c. */
#ifndef TPI_WORKER_IN_FLIGHT_H
#define TPI_WORKER_IN_FLIGHT_H

#include "ops/for_workers.h"

struct tpi_job;

/* ENTERED: the job's task is now in progress, and done is set when an earlier claim's handler has ended well
 * here. SUCCESSOR: it is, and the handler is being called here under an earlier claim; the job is left to
 * that call's thread. RIVAL: another has it, given with a reference. */
enum tpi_in_flight { TPI_IN_FLIGHT_ENTERED, TPI_IN_FLIGHT_SUCCESSOR, TPI_IN_FLIGHT_RIVAL };
enum tpi_in_flight tpi_in_flight_enter(struct tpi_job *job, struct tpi_job **rival);
/* For claims: what they are not to decide without a look into this table. */
enum tpi_known tpi_in_flight_known(const tp_env *env, const tp_task *task);
void tpi_in_flight_leave(struct tpi_job *job);

#endif
