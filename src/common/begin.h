/* What a program does before anything else. */
#ifndef COMMON_BEGIN_H
#define COMMON_BEGIN_H

/* Protects its memory, has its standard files open, ignores broken pipes, and hides the connection string. */
void cli_begin(int argc, char **argv);

#endif
