/* taskpool metrics: the pool's figures for Prometheus, to standard output or into a file that is there whole
 * or as it was. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/args.h"
#include "common/pool_metrics.h"

static char *output;

static struct poptOption options[] = {
    OPTION_TEXT("output", 'o', &output, "FILE",
                "write FILE anew, for the node exporter's textfile collector (a name in .prom)"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};

const struct usage metrics_usage = {
    "",
    "Prints what goes on in the pool as OpenMetrics text: open, due and failed tasks and the longest wait "
    "by\n"
    "handler, the workers, gates and groups, and what workers did: counters and histograms that begin anew\n"
    "every six hours.\n"
    "Reads no history.\n"
    "--output makes another file beside FILE and renames it, so that no reader sees a part; everybody may\n"
    "read it. The collector reads the older text format, so counters are described by its rules there. If\n"
    "the figures cannot be had, FILE stays as it was.\n",
    "  taskpool metrics\n"
    "  taskpool metrics --output /var/lib/prometheus/node-exporter/taskpool.prom\n",
    options,
    0,
    0,
};

/* ---- Where it goes ------------------------------------------------------------------------------------- */

static enum cli_exit fail_to_write(const char *path) {
    return cli_fail(EXIT_IO, "cannot write %s: %s", path, strerror(errno));
}

static bool write_and_sync(int fd, const char *text, size_t length) {
    while (length) {
        ssize_t done = write(fd, text, length);

        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text += done;
        length -= (size_t)done;
    }
    return fchmod(fd, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) == 0 && fsync(fd) == 0;
}

/* The collector takes only names in .prom: not that of the file that is not whole yet. */
static enum cli_exit write_file(const char *path, const char *text, size_t length) {
    size_t size = strlen(path) + sizeof ".XXXXXX";
    char *other = cli_must(malloc(size));
    enum cli_exit code = EXIT_DONE;
    bool good;
    int fd;

    snprintf(other, size, "%s.XXXXXX", path);
    fd = mkstemp(other);
    if (fd < 0) {
        code = fail_to_write(path);
        free(other);
        return code;
    }
    good = write_and_sync(fd, text, length);
    if (!good) code = fail_to_write(path);
    if (close(fd) != 0 && good) good = false, code = fail_to_write(path);
    if (good && rename(other, path) != 0) good = false, code = fail_to_write(path);
    if (!good) (void)unlink(other);
    free(other);
    return code;
}

enum cli_exit metrics_command(const char **args) {
    struct figures figures = {0};
    enum cli_exit code = EXIT_DONE;
    char *text = NULL;
    size_t length = 0;
    tp_status status;
    tp_conn *conn;
    FILE *to;

    (void)args;
    if (common.json) args_fail("metrics are OpenMetrics text; leave --json out");
    conn = args_connect();
    status = figures_read(conn, &figures, NULL);
    if (status == TP_OK) status = figures_count(conn, &figures);
    if (status == TP_OK) status = figures_held(conn, &figures);
    if (status == TP_OK) status = figures_gates(conn, &figures);
    if (status != TP_OK) {
        figures_free(&figures);
        return cli_fail_tp(status);
    }
    to = cli_must(open_memstream(&text, &length));
    pool_metrics_put(to, (const struct pool_metrics[]){{NULL, &figures}, {NULL, NULL}}, output != NULL);
    cli_must(fclose(to) == 0 ? text : NULL);
    if (output)
        code = write_file(output, text, length);
    else
        out_bytes(text, length);
    free(text);
    figures_free(&figures);
    return code;
}
