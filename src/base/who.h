/* Who writes: this process, as people find it. */
#ifndef TPI_BASE_WHO_H
#define TPI_BASE_WHO_H

#include <stdbool.h>

enum { TPI_WHO_SIZE = 128, TPI_PID_SPACE_SIZE = 13 };

/* "host:pid", the host cut short if need be. Any thread, and right in a forked child too. */
void tpi_who(char out[TPI_WHO_SIZE]);
/* Twelve hexadecimal digits for where this process's number means something: this boot of this machine, and
 * this container (name space of process numbers) in it. False: the system does not say; out is as it was. */
bool tpi_who_pid_space(char out[TPI_PID_SPACE_SIZE]);

#endif
