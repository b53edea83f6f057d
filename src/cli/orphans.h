/* Processes that handler programs leave behind come to the worker, which reaps them when they end. */
#ifndef CLI_ORPHANS_H
#define CLI_ORPHANS_H

/* From now on, until the process ends. Before the first program. */
void orphans_adopt(void);

#endif
