/* Signals by which a user ends a command. What they mean is the command's to decide. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <signal.h>

/* From now on fn is called, and a call of the driver that waits goes on; unless the signal is ignored, as by
 * nohup. flags: of sigaction, besides. */
void signals_catch(int number, void (*fn)(int number), int flags);
/* As if nobody had caught it: in fn, to end at once after all. */
void signals_end(int number);

#endif
