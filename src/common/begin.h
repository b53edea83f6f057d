/* What a program does before anything else. */
#ifndef COMMON_BEGIN_H
#define COMMON_BEGIN_H

/* Protects its memory, has its standard files open, and ignores broken pipes. */
void cli_begin(void);

#endif
