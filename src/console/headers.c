/* See headers.h. */
#include "headers.h"

#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

const char *headers_value(struct MHD_Connection *connection, const char *name) {
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value ? value : "";
}

/* The lines that have the same name. */
struct lines {
    const char *name, *last;
    int count;
};

static enum MHD_Result see_line(void *arg, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct lines *lines = arg;

    (void)kind;
    if (strcasecmp(name, lines->name) != 0) return MHD_YES;
    lines->count++;
    lines->last = value ? value : "";
    return MHD_YES;
}

static struct lines lines_of(struct MHD_Connection *connection, const char *name) {
    struct lines lines = {name, "", 0};

    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, see_line, &lines);
    return lines;
}

const char *headers_wrong(struct MHD_Connection *connection, const struct console *console) {
    const char *const once[] = {"Host",         "Content-Length", "Content-Type",      "Origin",
                                "X-CSRF-Token", "Cookie",         console->user_header};
    struct lines length = lines_of(connection, "Content-Length");

    if (lines_of(connection, "Transfer-Encoding").count)
        return "a body is taken with Content-Length, not with Transfer-Encoding";
    if (length.count && (!*length.last || length.last[strspn(length.last, "0123456789")]))
        return "Content-Length is no number";
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++)
        if (once[i] && lines_of(connection, once[i]).count > 1) return "a header is there twice";
    return NULL;
}

/* How long the name in HOST or HOST:PORT is. */
static size_t host_length(const char *host) {
    return *host == '[' ? strcspn(host, "]") + (strchr(host, ']') != NULL) : strcspn(host, ":");
}

bool headers_name_us(struct MHD_Connection *connection, const struct console *console) {
    const char *host = headers_value(connection, "Host");
    size_t length = host_length(host);

    for (const char *const *one = console->hosts; *one; one++)
        if (strlen(*one) == length && strncasecmp(*one, host, length) == 0) return true;
    return false;
}

bool headers_come_from_us(struct MHD_Connection *connection) {
    const char *origin = headers_value(connection, "Origin");
    const char *site = headers_value(connection, "Sec-Fetch-Site");
    const char *host = strstr(origin, "://");

    if (*site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) return false;
    return !*origin || (host && strcasecmp(host + 3, headers_value(connection, "Host")) == 0);
}

/* A proxy adds the address at the end: to the line that a client sent, or as a line of its own. */
void headers_address(struct MHD_Connection *connection, const struct console *console,
                     char address[HEADERS_ADDRESS_SIZE], bool *trusted) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const char *line = lines_of(connection, "X-Forwarded-For").last, *forwarded = strrchr(line, ',');
    socklen_t size;

    snprintf(address, HEADERS_ADDRESS_SIZE, "?");
    *trusted = false;
    if (!info || !info->client_addr) return;
    size =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    (void)getnameinfo(info->client_addr, size, address, HEADERS_ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST);
    *trusted = console->trust_proxy && strcmp(console->trust_proxy, address) == 0;
    forwarded = forwarded ? forwarded + 1 : line;
    forwarded += strspn(forwarded, " ");
    if (*trusted && *forwarded) snprintf(address, HEADERS_ADDRESS_SIZE, "%s", forwarded);
}
