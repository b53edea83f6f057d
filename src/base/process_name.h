/* The name of this process in the rows that it writes (history, pauses, workers): host and process number.
 * Must not know those rows. For the name of the user who runs a command see common/operator_name.h. */
#ifndef TPI_BASE_PROCESS_NAME_H
#define TPI_BASE_PROCESS_NAME_H

#include <stdbool.h>

enum { TPI_PROCESS_NAME_SIZE = 128, TPI_PID_SPACE_SIZE = 13 };

/* "host:pid", the host cut short if need be. Any thread, and right in a forked child too. */
void tpi_process_name(char out[TPI_PROCESS_NAME_SIZE]);
/* Twelve hexadecimal digits for where this process's number means something: this boot of this machine, and
 * this container (name space of process numbers) in it. False: the system does not say; out is as it was. */
bool tpi_process_pid_space(char out[TPI_PID_SPACE_SIZE]);

#endif
