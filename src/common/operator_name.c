/* The name of the user who runs a command, from the password file and the host name. See operator_name.h. */
#include "operator_name.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

const char *operator_name(const char *given) {
    static char text[256];
    char host[128] = "";
    char room[1024];
    struct passwd entry;
    struct passwd *user = NULL;

    if (given && *given) return given;
    (void)getpwuid_r(geteuid(), &entry, room, sizeof room, &user); /* NULL: has no name, or a very long one */
    if (gethostname(host, sizeof host - 1) != 0 || !*host) snprintf(host, sizeof host, "unknown");
    if (user && user->pw_name && *user->pw_name)
        snprintf(text, sizeof text, "%.100s@%s", user->pw_name, host);
    else
        snprintf(text, sizeof text, "%ld@%s", (long)geteuid(), host);
    return text;
}

void operator_acts(tp_conn *conn, const char *who, const char *why) {
    tp_actor actor = TP_ACTOR_INIT;

    actor.who = operator_name(who);
    actor.why = why;
    if (tp_conn_actor(conn, &actor) != TP_OK) cli_end(cli_fail_tp(tp_last_error()->status));
}
