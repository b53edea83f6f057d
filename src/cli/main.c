/* taskpool(1): finds the command. The list of commands: cli.h. Exit codes: common/messages.h. */
#include "cli.h"

#include <json-c/json.h>
#include <string.h>

#include "common/args.h"
#include "common/examples.h"
#include "common/nearest.h"
#include "config.h"

static const struct command {
    const char *name;
    const struct usage *usage;
    enum cli_exit (*run)(const char **args);
    const char *text;
} commands[] = {
#define COMMAND_ROW(name, word, text) {name, &word##_usage, word##_command, text},
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

/* For what makes manual pages and completions. */
static void print_overview(void) {
    struct json_object *list = cli_must(json_object_new_array());
    struct json_object *codes = cli_must(json_object_new_array());

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        struct json_object *object = json_new();

        json_add(object,
                 MEMBERS(MEMBER_TEXT("name", commands[i].name), MEMBER_TEXT("text", commands[i].text)));
        json_object_array_add(list, object);
    }
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++) {
        struct json_object *object = json_new();

        json_add(object, MEMBERS(MEMBER_NUMBER("code", exits[i].number), MEMBER_TEXT("text", exits[i].text)));
        json_object_array_add(codes, object);
    }
    out_members(MEMBERS(MEMBER_JSON("commands", list), MEMBER_JSON("exit_codes", codes)));
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

NO_RETURN static void refuse_unknown(const char *name) {
    char word[80];
    struct nearest nearest = {.word = word};

    if (name[0] == '-')
        cli_end(cli_fail(EXIT_USAGE, "the command comes first, then its options; see taskpool --help"));
    /* Only a word: it could be a connection string that lost its option. */
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "=; "), name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        nearest_try(&nearest, commands[i].name);
    if (nearest.found)
        cli_end(cli_fail(EXIT_USAGE, "%s is no command; did you mean %s? See taskpool --help", word,
                         nearest.found));
    cli_end(cli_fail(EXIT_USAGE, "%s is no command; see taskpool --help", word));
}

/* One without options of its own gets its command line as it is. */
static enum cli_exit run_command(const struct command *command, int argc, const char **argv) {
    return command->run(command->usage->options ? args_read(command->usage, argc, argv) : argv);
}

const struct usage help_usage = {.options = NULL};

enum cli_exit help_command(const char **args) {
    const char *ask[] = {args[1], "--help", NULL};
    const struct command *command = args[1] ? find_command(args[1]) : NULL;

    if (args[1] && !command) refuse_unknown(args[1]);
    if (command && command->run != help_command) return run_command(command, 2, ask);
    show_overview();
    return EXIT_DONE;
}

static enum cli_exit run(int argc, const char **argv) {
    static const char *none[] = {"help", NULL};
    const struct command *command;

    if (argc < 2) return cli_fail(EXIT_USAGE, "a command is missing; see taskpool --help");
    if (strcmp(argv[1], "--version") == 0) {
        out_text("taskpool %s\n", tp_version());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 && argc == 3 && strcmp(argv[2], "--json") == 0) {
        print_overview();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_command(none);
    command = find_command(argv[1]);
    if (!command) refuse_unknown(argv[1]);
    argc--, argv++;
    if (command->run == work_command)
        argv = config_expand(&argc, argv);
    else
        (void)args_own_files();
    return run_command(command, argc, argv);
}

int main(int argc, char **argv) {
    cli_begin();
    args_hide_dsn(argc, argv);
    cli_end(run(argc, (const char **)argv));
}
