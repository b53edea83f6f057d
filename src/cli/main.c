/* taskpool(1): finds the command. The list of commands: cli.h. Exit codes: common/messages.h. */
#include "cli.h"

#include <string.h>

#include "common/args.h"
#include "common/begin.h"
#include "common/examples.h"

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

int main(int argc, char **argv) {
    enum cli_exit code;

    cli_begin();
    args_hide_dsn(argc, argv);
    code = run_command(argc, (const char **)argv);
    args_disconnect();
    return (int)cli_finish(code);
}
