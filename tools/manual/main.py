#!/usr/bin/env -S python3 -B
"""Writes all manual pages and completions; of the console, too, where it lies beside the program. Run in the folder of the sources.
usage: main.py PATH_TO_TASKPOOL FOLDER"""
import os
import re
import sys
import time

import commands
import completion
import functions
import man
import markdown

PAGES_7 = [("schema", "docs/schema.md", "tables and columns of a pool"),
           ("guarantees", "docs/guarantees.md", "what taskpool promises, on which conditions, and the limits")]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def version():
    return re.search(r'^#define TP_VERSION\s+"(.*)"', read("include/taskpool.h"), re.M).group(1)


def date():
    """Of SOURCE_DATE_EPOCH, so that the same sources give the same pages."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or os.path.getmtime("CHANGELOG.md"))
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def page_7(name, path, title):
    blocks = [block for block in markdown.read(read(path)) if block[:2] != ("heading", 1)]
    lines = [".SH DESCRIPTION", *man.render(blocks), ".SH SEE ALSO", ".BR taskpool (1),", ".BR taskpool.h (3)"]
    return man.page(f"taskpool-{name}", 7, f"taskpool-{name} - {title}", version(), date(), lines)


def write_console(program, folder):
    """The page of taskpool-console(1); gives what the program says of itself."""
    about = commands.ask(program)
    blocks = [block for block in markdown.read(read("docs/console.md")) if block[:2] != ("heading", 1)]
    write(folder, "man1/taskpool-console.1",
          commands.command_page("pools in a web page, for operators", about, [("heading", 2, "Console"), *blocks], version(), date()))
    return about


def main(program, folder):
    known = commands.overview(program)
    about = {command["name"]: commands.command_help(program, command["name"]) for command in known["commands"] if command["name"] != "help"}
    general, by_command = commands.sections(read("docs/cli.md"), about)
    write(folder, "man1/taskpool.1", commands.main_page(known, general, version(), date()))
    for command in known["commands"]:
        name = command["name"]
        if name in about:
            write(folder, f"man1/taskpool-{name}.1", commands.command_page(command["text"], about[name], by_command[name], version(), date()))
    for header in ("taskpool.h", "taskpool_odbc.h"):
        for name, text in functions.pages(header, read(f"include/{header}"), version(), date()).items():
            write(folder, f"man3/{name}", text)
    for name, path, title in PAGES_7:
        write(folder, f"man7/taskpool-{name}.7", page_7(name, path, title))
    programs = {"taskpool-bench": about["bench"]}
    if os.path.exists(program + "-console"):
        programs["taskpool-console"] = write_console(program + "-console", folder)
    for shell in ("bash", "zsh", "fish"):
        write(folder, f"taskpool.{shell}", getattr(completion, shell)(known["commands"], about))
        for name, options in programs.items():
            write(folder, f"{name}.{shell}", getattr(completion, shell + "_program")(name, options))
    write(folder, "made", "")


if __name__ == "__main__":
    main(*sys.argv[1:])
