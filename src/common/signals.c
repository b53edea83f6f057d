/* Installs handlers for the signals by which a user ends a command. See signals.h. */
#include "signals.h"

#include <string.h>

void signals_catch(int number, void (*fn)(int number), int flags) {
    struct sigaction action;

    if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = fn;
    action.sa_flags = SA_RESTART | flags;
    (void)sigaction(number, &action, NULL);
}

void signals_end(int number) {
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}
