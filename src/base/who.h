/* Who writes: this process, as people find it. */
#ifndef TPI_BASE_WHO_H
#define TPI_BASE_WHO_H

enum { TPI_WHO_SIZE = 128 };

/* "host:pid", the host cut short if need be. Any thread, and right in a forked child too. */
void tpi_who(char out[TPI_WHO_SIZE]);

#endif
