"""Manual pages of section 1: taskpool(1) and one a command, out of the program's own tables of options and the sections of docs/cli.md."""
import json
import re
import subprocess

import man
import markdown


def ask(program, *args):
    """What the program says of itself."""
    return json.loads(subprocess.run([program, *args, "--help", "--json"], capture_output=True, text=True, check=True).stdout)


def overview(program):
    return ask(program)


def command_help(program, name):
    """The help of a command; NAME help has none."""
    return ask(program, name) if name != "help" else None


def sections(text, names):
    """docs/cli.md by command: (the blocks of no command, {command: blocks}). A heading begins with the commands that it is about."""
    general, by_command, current = [], {name: [] for name in names}, []
    for block in markdown.read(text):
        if block[0] == "heading" and block[1] <= 2:
            parts = [part.split()[0] for part in block[2].split(", ")]
            current = [name for name in parts if name in names] if block[1] == 2 else []
        if not current and block[:2] != ("heading", 1):
            general.append(block)
        for name in current:
            by_command[name].append(block)
    return general, by_command


def named_options(blocks):
    """The options that pages speak of."""
    return set(re.findall(r"(?<![\w-])--([a-z][a-z-]*[a-z])", json.dumps(blocks)))


def option_lines(options):
    out = []
    for option in options:
        value = "" if not option["value"] else f" \\fI{man.escape(option['value'])}\\fR"
        letter = f"\\fB\\-{option['letter']}\\fR, " if option["letter"] else ""
        out += [".TP", f"{letter}\\fB\\-\\-{man.escape(option['name'])}\\fR{value}", man.prose(option["text"])]
    return out


def about_lines(text):
    """Running text is joined; a line that is aligned stays as it is."""
    out, joined = [], []
    for row in text.splitlines():
        if re.match(r"^[ \t]|^\S+  ", row):
            out += ([".PP", man.prose(" ".join(joined))] if joined else []) + \
                   ([] if out[-1:] == [".EE"] else [".PP", ".EX"])
            if out[-1] == ".EE":
                out.pop()
            out += [man.escape(row.expandtabs(8)), ".EE"]
            joined = []
        else:
            joined.append(row)
    return out + ([".PP", man.prose(" ".join(joined))] if joined else [])


def demoted(blocks):
    """What is a section of cli.md is part of one here."""
    return [("heading", 3, block[2]) if block[0] == "heading" else block for block in blocks]


def command_page(text, about, blocks, version, date):
    name = about["command"] if about["command"].startswith("taskpool-") else f"taskpool-{about['command']}"
    called = name if name == about["command"] else f"taskpool {about['command']}"
    own = [option for option in about["options"] if not option["common"]]
    common = [option for option in about["options"] if option["common"]]
    lines = [".SH SYNOPSIS", f"\\fB{man.escape(called)}\\fR [\\fIOPTIONS\\fR] {man.escape(about['arguments'] or '')}".rstrip(),
             ".SH DESCRIPTION", *about_lines(about["about"])]
    lines += [".SH OPTIONS", *option_lines(own)] if own else []
    lines += [".SH OPTIONS OF ALL COMMANDS", *option_lines(common)] if common else []
    lines += [".SH DETAILS", *man.render(demoted(blocks)[1:] if len(blocks) and blocks[0][0] == "heading" else blocks)]
    lines += [".SH EXAMPLES", *man.code("\n".join(row.removeprefix("  ") for row in about["examples"].rstrip().splitlines()))]
    lines += [".SH EXIT STATUS", "As listed in", ".BR taskpool (1).", ".SH SEE ALSO", ".BR taskpool (1),", ".BR taskpool-guarantees (7),",
              ".BR taskpool-schema (7)"]
    return man.page(name, 1, f"{name} - {text}", version, date, lines)


def main_page(about, general, version, date):
    lines = [".SH SYNOPSIS", "\\fBtaskpool\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]", ".SH DESCRIPTION",
             *man.render([b for b in general])]
    lines += [".SH COMMANDS"]
    for command in about["commands"]:
        page = command["name"]
        name = f".BR taskpool\\-{page} (1)" if page != "help" else ".B taskpool help"
        lines += [".TP", name, man.prose(command["text"])]
    lines += [".SH FILES", ".TP", ".I /etc/taskpool/NAME.conf", "Options of the service taskpool@NAME, which",
              ".BR systemctl (1)", "starts.", ".SH SEE ALSO", ".BR taskpool.h (3),", ".BR taskpool-guarantees (7),",
              ".BR taskpool-schema (7)"]
    return man.page("taskpool", 1, "taskpool - tasks in the database that you already have", version, date, lines)
