/* Tells the service manager that started this process, systemd or one that speaks its protocol
 * (sd_notify(3)), how the worker is: ready, what it does, that it is alive, that it stops. Without such a
 * manager nothing is told. */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "taskpool.h"

/* Takes the manager's variables out of the environment. Before the first thread. */
void service_begin(void);
/* The worker has started: from now on a thread says how it is, until service_end. */
void service_ready(tp_worker *worker);
/* Safe in a signal handler. */
void service_stopping(void);
/* Before the worker is closed. */
void service_end(void);

#endif
