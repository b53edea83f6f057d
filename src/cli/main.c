/* taskpool(1): finds the command. Exit codes and the list of commands: cli.h. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "args.h"
#include "examples.h"

static const struct command {
    const char *name;
    enum cli_exit (*run)(int argc, const char **argv);
    const char *text;
} commands[] = {
#define COMMAND_ROW(name, function, text) {name, function, text},
    COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static const struct {
    int number;
    const char *text;
} exits[] = {
#define EXIT_ROW(id, number, text) {number, text},
    EXIT_LIST(EXIT_ROW)
#undef EXIT_ROW
};

static void show_overview(void) {
    out_text("taskpool: a task pool inside the database that you already have.\n\n"
             "Usage: taskpool COMMAND [OPTIONS] [ARGUMENTS]\n"
             "       taskpool COMMAND --help\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        out_text("  %-9s %s\n", commands[i].name, commands[i].text);
    out_text("\nThe database is an ODBC connection string, in the variable TASKPOOL_DSN or in a file:\n"
             "  export TASKPOOL_DSN='" EXAMPLE_DSN "'\n"
             "  taskpool schema install\n"
             "  taskpool enqueue hello '{\"name\":\"world\"}'\n"
             "  taskpool work --handler hello=/bin/cat --drain\n"
             "Keys of taskpool's own in it: Dialect= (" EXAMPLE_DIALECTS "), Prefix=tp_,\n"
             "Plan=row|batch|skip|hold|cas.\n\nExit codes:\n");
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++)
        out_text("  %3d  %s\n", exits[i].number, exits[i].text);
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static enum cli_exit refuse_command(const char *name) {
    if (name[0] == '-')
        return cli_fail(EXIT_USAGE, "the command comes first, then its options; see taskpool --help");
    /* Only a word: it could be a connection string that lost its option. */
    return cli_fail(EXIT_USAGE, "%.*s is no command; see taskpool --help", (int)strcspn(name, "=; "), name);
}

enum cli_exit help_command(int argc, const char **argv) {
    const char *ask[] = {NULL, "--help", NULL};
    const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;

    if (argc > 1 && !command) return refuse_command(argv[1]);
    if (!command || command->run == help_command) {
        show_overview();
        return EXIT_DONE;
    }
    ask[0] = command->name;
    return command->run(2, ask);
}

static enum cli_exit run_command(int argc, const char **argv) {
    const struct command *command;

    if (argc < 2) {
        (void)cli_fail(EXIT_USAGE, "a command is missing; see taskpool --help");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        out_text("taskpool %s\n", tp_version());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_command(1, argv + 1);
    command = find_command(argv[1]);
    if (command && command->run != work_command) (void)args_own_files();
    return command ? command->run(argc - 1, argv + 1) : refuse_command(argv[1]);
}

/* A process started without 0, 1 or 2 would take a database's socket for its output. What stands in for them
 * opens the wrong way round, so that using it fails and is told. */
static void open_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What other programs of the same user, handlers among them, must not read: memory, environment and open
 * files hold the connection string. There is no core file either. */
static void protect_memory(void) {
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

int main(int argc, char **argv) {
    protect_memory();
    open_standard_files();
    /* A broken pipe is an error code here: a handler that does not read, a database that went away. */
    (void)signal(SIGPIPE, SIG_IGN);
    args_hide_dsn(argc, argv);
    return (int)cli_finish(run_command(argc, (const char **)argv));
}
