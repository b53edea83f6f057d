/* See help_json.h. The keys are told in docs/cli.md. */
#include "help_json.h"

#include <json-c/json.h>

#include "args.h"
#include "json.h"

/* How often an option is taken, and whether it has a value, follow from how popt reads it. */
static struct json_object *option_object(const struct poptOption *option, bool common_one) {
    unsigned kind = option->argInfo & POPT_ARG_MASK;
    char letter[2] = {option->shortName, '\0'};
    struct json_object *object = json_new();

    json_add(object, MEMBERS(MEMBER_TEXT("name", option->longName), MEMBER_TEXT("letter", letter),
                             MEMBER_TEXT("value", kind == POPT_ARG_NONE ? NULL : option->argDescrip),
                             MEMBER_YES_NO("many", kind == POPT_ARG_ARGV),
                             MEMBER_YES_NO("common", common_one), MEMBER_TEXT("text", option->descrip)));
    return object;
}

static void add_options(struct json_object *list, const struct poptOption *option, bool common_ones) {
    for (; option->longName || option->arg; option++) {
        if ((option->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            add_options(list, option->arg, true);
        else
            json_object_array_add(list, option_object(option, common_ones));
    }
}

void help_json(const char *command, const struct usage *usage) {
    struct json_object *options = cli_must(json_object_new_array());

    add_options(options, usage->options, false);
    out_members(MEMBERS(MEMBER_TEXT("command", command), MEMBER_TEXT("arguments", usage->arguments),
                        MEMBER_TEXT("about", usage->about), MEMBER_TEXT("examples", usage->examples),
                        MEMBER_JSON("options", options)));
}
