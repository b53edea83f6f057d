/* Bytes of a connection to the console's HTTP server, which has no pool and no users. Of any input: it is
 * answered or the connection ends, never by an internal error, each answer of ours has the headers that all
 * have, and the server goes on. */
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "console/http.h"
#include "fuzz.h"

enum { ANSWER_MAX = 1 << 20, TRIES = 6000, PAUSE_MS = 10 };

static struct http *server;
static struct sockaddr_in where = {.sin_family = AF_INET};

static void start(void) {
    static struct console console = {.hosts = {"localhost", NULL}};

    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server = http_start(&console, (const struct sockaddr *)(const void *)&where);
    require(server != NULL);
    where.sin_port = htons((uint16_t)http_port(server));
}

/* All that comes until the server ends the connection. */
static char *ask(const uint8_t *data, size_t size) {
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *answer = calloc(1, ANSWER_MAX + 1);
    size_t used = 0;
    ssize_t got = 1;

    require(sock >= 0 && answer);
    require(connect(sock, (const struct sockaddr *)(const void *)&where, sizeof where) == 0);
    (void)send(sock, data, size, MSG_NOSIGNAL);
    (void)shutdown(sock, SHUT_WR);
    while (got > 0 && used < ANSWER_MAX) {
        got = recv(sock, answer + used, ANSWER_MAX - used, 0);
        if (got > 0) used += (size_t)got;
    }
    (void)close(sock);
    return answer;
}

/* Where as many connections as one address may have are still being ended, another gets no answer: their
 * threads get a minute for it, on a machine that is busy, too. */
static bool goes_on(void) {
    static const char health[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    bool fine = false, answered = false;

    for (int tries = 0; tries < TRIES && !answered; tries++) {
        char *answer = ask((const uint8_t *)health, sizeof health - 1);

        answered = *answer != '\0';
        fine = strncmp(answer, "HTTP/1.1 200", 12) == 0;
        if (answered && !fine) fprintf(stderr, "/healthz, try %d: '%.300s'\n", tries, answer);
        free(answer);
        if (!answered) (void)poll(NULL, 0, PAUSE_MS);
    }
    return fine;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *answer;

    if (!server) start();
    answer = ask(data, size);
    require(!*answer || strncmp(answer, "HTTP/1.", 7) == 0);
    require(!strstr(answer, "HTTP/1.1 500") && !strstr(answer, "HTTP/1.1 502"));
    require(!strstr(answer, "\r\n\r\n{\"error\"") ||
            strstr(answer, "Content-Security-Policy: default-src 'self'"));
    require(goes_on());
    free(answer);
    return 0;
}
