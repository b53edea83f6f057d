/* Speaks HTTP: what of a request the rest of the console sees, and what goes with every answer. Read next:
 * api.h, events.h. */
#ifndef CONSOLE_HTTP_H
#define CONSOLE_HTTP_H

#include "console.h"

struct http;
struct sockaddr;

/* A thread for each connection, of which there are no more than a number. NULL: reported. */
struct http *http_start(struct console *console, const struct sockaddr *address);
/* Where it listens. */
int http_port(const struct http *http);
/* Waits until all connections are closed; the pools must have been told to hurry. */
void http_stop(struct http *http);

#endif
