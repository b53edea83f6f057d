/* The thread that extends leases; see lease_renewer.c. */
#ifndef TPI_WORKER_LEASE_RENEWER_H
#define TPI_WORKER_LEASE_RENEWER_H

#include "worker/job.h"
#include "worker/record.h"
#include "worker/session.h"

struct tpi_lease_renewer {
    struct tpi_sessions *sessions;
    struct tpi_jobs *jobs;
    struct tpi_record *record;
    int64_t lease_ms;
};

/* The thread; arg is the lease renewer. */
void *tpi_lease_renewer_main(void *arg);

#endif
