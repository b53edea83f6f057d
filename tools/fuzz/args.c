/* Command lines: a connection string given by an option is struck out of the arguments that the process list
 * shows, the option still has its value, and nothing that is said has the password in it. */
#include "fuzz_cli.h"

#include <setjmp.h>

#include "fuzz.h"

/* Its context is the test's to free. */
#include "common/args.c"

#define PASSWORD "Qx7zJw9k"
enum { ARGS_MAX = 12 };

/* popt forgets the first value of an option that is given twice. Seen by the sanitizer's library, so not
 * hidden. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void) {
    return "leak:poptGetNextOpt";
}

static char *why, *limit;
static struct poptOption options[] = {
    OPTION_TEXT("why", '\0', &why, "TEXT", "recorded as the reason"),
    OPTION_TEXT("limit", 'n', &limit, "NUMBER", "at most so many"),
    COMMON_OPTIONS,
    POPT_TABLEEND,
};
static const struct usage usage = {"[HANDLER]", "About.", "  example\n", options, 0, 2};

static void forget_text(char **text) {
    free(*text);
    *text = NULL;
}

/* Where the program would end. */
static jmp_buf ended;
static enum cli_exit ended_with;

void cli_end(enum cli_exit code) {
    ended_with = code;
    longjmp(ended, 1);
}

/* As the command does; then what the option said must be what was given. */
static void read_options(int argc, char **argv) {
    fflush(stdout);
    if (setjmp(ended) == 0) {
        int64_t number = 1, ms = 0;
        (void)args_read(&usage, argc, (const char **)argv);
        args_integer("--limit", limit, 1, 1000, &number);
        require(number >= 1 && number <= 1000);
        args_duration("--limit", limit, &ms);
        require(ms >= 0 && ms <= TP_DURATION_MAX);
    } else {
        require(ended_with == EXIT_USAGE && *fuzz_said);
    }
    /* --why may be given anything; what else is said has no password. */
    require(!strstr(fuzz_said, PASSWORD));
    poptFreeContext(context);
    context = NULL;
    forget_text(&why);
    forget_text(&limit);
    forget_text(&common.dsn);
    forget_text(&common.dsn_file);
    common = (struct common_options){0};
}

/* Given to --dsn, the password is nowhere in the original bytes, and popt reads it. */
static void check(char *const *given, int argc) {
    char *argv[ARGS_MAX + 1] = {NULL}, *original[ARGS_MAX] = {NULL};
    for (int i = 0; i < argc; i++)
        argv[i] = original[i] = strdup(given[i]);
    args_hide_dsn(argc, argv);
    for (int i = 1; i < argc && strcmp(given[i], "--") != 0; i++) {
        size_t own = strncmp(given[i], "--dsn=", 6) == 0 ? 6 : 0;
        if (own) require(strspn(original[i] + own, "x") == strlen(given[i] + own));
        bool is_value = i > 1 && strcmp(given[i - 1], "--dsn") == 0 && strncmp(given[i], "--dsn", 5) != 0;
        bool of_a_file = i > 2 && strcmp(given[i - 2], "--dsn-file") == 0; /* which has that strange name */
        if (is_value && !of_a_file)
            require(strcmp(given[i - 1], original[i - 1]) != 0 ||
                    strspn(original[i], "x") == strlen(given[i]));
    }
    for (int i = 0; i < argc; i++)
        require(strcmp(argv[i], given[i]) == 0);
    *fuzz_said = '\0';
    char *first = argv[0];
    read_options(argc, argv);
    argv[0] = first; /* args_read put its own there */
    for (int i = 0; i < argc; i++) {
        if (argv[i] != original[i]) free(argv[i]);
        free(original[i]);
    }
}

/* In a connection string the password has its key. */
static bool is_telling(const char *arg) {
    const char *password = strstr(arg, PASSWORD);
    return password && (password - arg < 4 || memcmp(password - 4, "PWD=", 4) != 0);
}

/* --help is shown by popt itself, on standard output. */
static bool is_help(const char *arg) {
    return strcmp(arg, "--help") == 0 || (arg[0] == '-' && arg[1] != '-' && strchr(arg, 'h'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    char *given[ARGS_MAX + 1] = {NULL};
    bool skip = false;
    int argc = 0;
    given[argc++] = strdup("list");
    while (fuzz.left && argc < ARGS_MAX) {
        given[argc] = fuzz_text(&fuzz, '\n');
        skip = skip || is_help(given[argc]) || is_telling(given[argc]);
        argc++;
    }
    if (!skip) check(given, argc);
    for (int i = 0; i < argc; i++)
        free(given[i]);
    return 0;
}
