#!/usr/bin/env -S python3 -B
"""needed_targets.py BUILD LABEL [--objects]: prints what of a build the tests of a label need, a target a line: everything that is
linked, but of the programs for tests (in tests, tools and fuzz) only those that one of these tests runs. --objects: and every
object, so that the compiler has seen all sources."""
import re
import subprocess
import sys
from pathlib import Path


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def named(build, label):
    """What the commands of the tests name below the build. ctest itself tells no command whose program is not there yet."""
    prefix, commands, chosen = f"{Path(build).resolve()}/", {}, set()
    for file in Path(build).glob("**/CTestTestfile.cmake"):
        for what, test, rest in re.findall(r"^(add_test|set_tests_properties)\(\[=\[(.*?)\]=\] (.*)\)$", file.read_text(), re.M):
            if what == "add_test":
                commands[test] = re.findall(r'[^\s"]+', rest)
            elif label in ";".join(re.findall(r'LABELS "(.*?)"', rest)).split(";"):
                chosen.add(test)
    return {word[len(prefix):] for test in chosen for word in commands[test] if word.startswith(prefix)}


def needed(build, label, objects):
    """The targets, of all that ninja knows with its rule."""
    wanted = named(build, label)
    if not wanted:
        raise SystemExit(f"needed_targets.py: no test has the label {label}")
    for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines():
        target, _, rule = line.rpartition(": ")
        if "_COMPILER__" in rule and objects:
            yield target
        if "_LINKER__" in rule and (target in wanted or "_EXECUTABLE_" not in rule or not re.match("(tests|tools|fuzz)/", target)):
            yield target


def main(arguments):
    """As above."""
    print(*needed(arguments[0], arguments[1], "--objects" in arguments[2:]), sep="\n")


main(sys.argv[1:])
