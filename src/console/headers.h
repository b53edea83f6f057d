/* What a request says in its headers, and what of it is believed. Read next: http.c. */
#ifndef CONSOLE_HEADERS_H
#define CONSOLE_HEADERS_H

#include <microhttpd.h>

#include "console.h"

enum { HEADERS_ADDRESS_SIZE = 64 };

/* "": it is not there. */
const char *headers_value(struct MHD_Connection *connection, const char *name);
/* NULL, or why two readers could take the request for different ones: then it is refused, and its connection
 * closed. */
const char *headers_wrong(struct MHD_Connection *connection, const struct console *console);
/* A page of somebody else whose name was made to lead here calls by that name. */
bool headers_name_us(struct MHD_Connection *connection, const struct console *console);
/* What a page of another place sends is not wanted, whatever cookies go with it. */
bool headers_come_from_us(struct MHD_Connection *connection);
/* Of who asks, as a trusted proxy says; trusted: it comes from that proxy. */
void headers_address(struct MHD_Connection *connection, const struct console *console,
                     char address[HEADERS_ADDRESS_SIZE], bool *trusted);

#endif
