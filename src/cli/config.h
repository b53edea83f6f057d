/* taskpool work --config FILE: options that stand in a file. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

/* Puts what the files of --config say before the options of the command line, which so are stronger. argv
 * begins with the command; what is given back lives until the program ends. A mistake ends the program. */
const char **config_expand(int *argc, const char **argv);

#endif
