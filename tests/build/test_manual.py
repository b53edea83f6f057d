#!/usr/bin/env -S python3 -B
"""What the program says of itself, its manual pages, its completions and docs/cli.md name the same options; the pages have no mistakes
that man or mandoc know of, docs/schema.md has every column, and no page names a command or option of the program that is not there. Checkers that are not here are skipped, loudly.
usage: test_manual.py PATH_TO_TASKPOOL FOLDER_OF_THE_MANUAL"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/manual"))
import commands  # noqa: E402
import completion  # noqa: E402
import markdown  # noqa: E402

PROGRAM, MANUAL = sys.argv[1:3]
CONSOLE = PROGRAM + "-console"
passed = failed = skipped = 0


def check(name, good, what=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED: {name}: {what}", file=sys.stderr)


def skip(what):
    global skipped
    skipped += 1
    print(f"SKIPPED: {what}", file=sys.stderr)
    if os.environ.get("TASKPOOL_TEST_REQUIRE"):
        check(what, False, "TASKPOOL_TEST_REQUIRE is set")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout + done.stderr


def options_in(text):
    return set(re.findall(r"(?<![\w-])--([a-z][a-z-]*[a-z])", text))


def same_options(called, name, about, blocks, everywhere, where="docs/cli.md"):
    """Of one command: its help for people, for programs, its page NAME(1) and its section of docs/cli.md."""
    own = {option["name"] for option in about["options"] if not option["common"]}
    every = {option["name"] for option in about["options"]}
    shown = options_in(output(*called, "--help")[1].split("Usage:")[1].split("Examples:")[0])
    check(f"{name} --help", shown == every, shown ^ every)
    page = read(MANUAL, "man1", f"{name}.1").replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
    listed = set(re.findall(r"^(?:-\w, )?--([a-z][a-z-]*)", page.split(".SH OPTIONS", 1)[1].split(".SH DETAILS")[0], re.M))
    check(f"{name}(1)", listed == every, listed ^ every)
    told = commands.named_options(blocks)
    check(f"{where} does not tell all options of {name}", own <= told, own - told)
    check(f"{where} tells an option that {name} has not", told <= every | everywhere, told - every - everywhere)


def all_options(known, abouts):
    by_command = commands.sections(read(ROOT, "docs/cli.md"), abouts)[1]
    everywhere = {"help", "version"} | {option["name"] for about in abouts.values() for option in about["options"]}
    for name, about in abouts.items():
        check(f"docs/cli.md has a section about {name}", by_command[name])
        same_options([PROGRAM, name], f"taskpool-{name}", about, by_command[name], everywhere)
    console = commands.ask(CONSOLE)
    same_options([CONSOLE], "taskpool-console", console, markdown.read(read(ROOT, "docs/console.md")),
                 everywhere | {"console"}, "docs/console.md")
    check("a page for each command", {os.path.basename(path) for path in glob.glob(f"{MANUAL}/man1/*")} ==
          {"taskpool.1", "taskpool-console.1"} | {f"taskpool-{name}.1" for name in abouts})
    codes = dict(re.findall(r"^\| (\d+) \| (.*) \|$", read(ROOT, "docs/cli.md").split("## Exit codes")[1].split("\n## ")[0], re.M))
    check("exit codes", {str(entry["code"]) for entry in known["exit_codes"]} == set(codes))


def all_functions():
    names = set(read(ROOT, "tools/checks/exports.txt").split())
    pages = {os.path.basename(path)[:-2] for path in glob.glob(f"{MANUAL}/man3/*.3")}
    check("a page for each function", names <= pages, names - pages)
    for path in glob.glob(f"{MANUAL}/man3/*.3"):
        other = re.match(r"\.so (.*)", read(path))
        if other:
            check(path, os.path.exists(os.path.join(MANUAL, other.group(1))), "leads nowhere")


def columns_told():
    """Every column of every table, in the section of that table."""
    text = "".join(read(path) for path in sorted(glob.glob(f"{ROOT}/sql/postgres/schema/*.sql")))
    told = re.split(r"^## ", read(ROOT, "docs/schema.md"), flags=re.M)
    for table, body in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+) \((.*?)^\)", text, re.M | re.S):
        part = "".join(section for section in told if re.search(rf"\b{table}\b", section.split("\n")[0]))
        for column in re.findall(r"^  (\w+) ", body, re.M):
            if column not in ("CONSTRAINT", "PRIMARY"):
                check(f"docs/schema.md: {table}.{column}", f"`{column}`" in part)


def commands_of_pages(abouts):
    """What a page has between backticks or indented, as `taskpool list --pool failed`, names a command and options that are there."""
    for path in ["README.md", *(os.path.relpath(path, ROOT) for path in sorted(glob.glob(f"{ROOT}/docs/**/*.md", recursive=True)))]:
        text = re.sub(r"^```.*?^```$", "", read(ROOT, path), flags=re.M | re.S)
        code = re.findall(r"`([^`]+)`", re.sub(r"^    .*$", "", text, flags=re.M)) + re.findall(r"^    (.*)$", text, re.M)
        lines = "\n".join(" ".join(part.split()) for part in code)
        for name, rest in re.findall(r"(?:^|[^\w/.-])taskpool ([a-z][a-z-]*)([^|;&#>`\n]*)", lines):
            known = name in abouts or name in ("help", "command")
            check(f"{path}: taskpool {name}", known, "no such command")
            every = {option["name"] for option in abouts[name]["options"]} if name in abouts else options_in(rest)
            check(f"{path}: taskpool {name}{rest}", options_in(rest) <= every, options_in(rest) - every)


def linted():
    pages = [path for path in glob.glob(f"{MANUAL}/man*/*") if not read(path).startswith(".so")]
    if shutil.which("mandoc"):
        code, said = output("mandoc", "-T", "lint", "-W", "warning", *sorted(pages))
        check("mandoc -T lint", code == 0 and not said, said[:2000])
    else:
        skip("mandoc is not here")
    if shutil.which("man"):
        settings = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
        for path in sorted(pages):
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path], capture_output=True, text=True,
                                  env=settings, check=False)
            # A line with one long word has no spaces to be stretched; only later versions of groff say so.
            said = "\n".join(line for line in done.stderr.splitlines() if "cannot adjust line" not in line)
            check(f"man {path}", done.returncode == 0 and not said, said[:500])
    else:
        skip("man is not here")


def offered_by_bash(line):
    words, name = line.split(" "), line.split(" ")[0]
    script = f"""source {MANUAL}/{name}.bash
COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _{name.replace('-', '_')}; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return set(output("bash", "-c", script)[1].split())


def offered_by_fish(line):
    script = f"source {MANUAL}/{line.split(' ')[0]}.fish; complete --do-complete '{line}'"
    return {row.split("\t")[0] for row in output("fish", "--no-config", "-c", script)[1].splitlines()}


def offered_by_zsh(line):
    """A zsh on a terminal of its own is asked for its list."""
    script = f"""zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1= ; unset zle_bracketed_paste; fpath=({MANUAL}/zsh \\$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w z "zstyle ':completion:*' list-prompt ''; LISTMAX=1000; COLUMNS=200; LINES=200; bindkey '^X' list-choices; echo rea''dy"
zpty -r -m z got '*ready*'
zpty -w -n z "{line}"$'\\x18'"; echo do''ne"$'\\n'
zpty -r -m z got '*done*'
print -r -- "$got" """
    os.makedirs(f"{MANUAL}/zsh", exist_ok=True)
    for path in glob.glob(f"{MANUAL}/*.zsh"):
        shutil.copy(path, f"{MANUAL}/zsh/_{os.path.basename(path)[:-4]}")
    return set(output("zsh", "-f", "-c", script, env={**os.environ, "TERM": "dumb"}, timeout=120)[1].split())


OFFERS = {"bash": offered_by_bash, "fish": offered_by_fish, "zsh": offered_by_zsh}
LINES = [("taskpool wo", {"work", "workers"}, {"stats"}), ("taskpool work --th", {"--threads", "--threads-max"}, {"--pool"}),
         ("taskpool work --pace r", {"rate"}, {"delay"}), ("taskpool schema ", {"install", "check", "print"}, {"work"}),
         ("taskpool-console --us", {"--users", "--user-header"}, {"--listen"}), ("taskpool-console u", {"user"}, {"list"}),
         ("taskpool-bench --pl", {"--plan"}, {"--tasks"})]


def completions(abouts):
    programs = {"taskpool": abouts.values(), "taskpool-bench": [abouts["bench"]], "taskpool-console": [commands.ask(CONSOLE)]}
    for shell, offered in OFFERS.items():
        for name, options in programs.items():
            text = read(MANUAL, f"{name}.{shell}")
            missing = [o["name"] for about in options for o in about["options"] if not re.search(rf"(--|-l ){o['name']}\b", text)]
            check(f"completion for {shell}: {name}", not missing, missing)
        if not shutil.which(shell):
            skip(f"{shell} is not here")
            continue
        for line, wanted, absent in LINES:
            said = offered(line)
            check(f"{shell} completes {line!r}", wanted <= said and not absent & said, said)
    check("words of a value", completion.choices({"value": "run|put-back"}) == ["run", "put-back"])


def main():
    known = commands.overview(PROGRAM)
    abouts = {entry["name"]: commands.command_help(PROGRAM, entry["name"]) for entry in known["commands"] if entry["name"] != "help"}
    all_options(known, abouts)
    all_functions()
    columns_told()
    commands_of_pages(abouts)
    linted()
    completions(abouts)
    print(f"{passed} passed, {skipped} skipped, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
