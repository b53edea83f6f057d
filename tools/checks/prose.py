#!/usr/bin/env -S python3 -B
"""Nothing that git keeps names one machine: no path into somebody's home or work folder, no package
registry's host. The patterns are written so that they do not find themselves."""
import re

import checklib

PATH = re.compile(r"(?<![\w.$}/-])/(?:home|work|root|Users)/[\w.]")
HOST = re.compile(r"(?:registry\.npmjs\.[o]rg|pypi\.[o]rg|files\.pythonhosted\.[o]rg|crates\.[i]o|"
                  r"proxy\.golang\.[o]rg|repo\.maven\.apache\.[o]rg|deb\.debian\.[o]rg|[\w.-]+\.debian\.[n]et)")


def check(root):
    allow, problems = checklib.Allow("prose", root), []
    for path in checklib.tracked(root):
        text = checklib.read(root, path)
        if "\0" in text:
            continue
        for pattern, advice in ((PATH, "make it relative to the repository"),
                                (HOST, "leave the registry to the client's settings")):
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                if path not in allow:
                    problems.append(f"{path}:{line}: {match.group()!r}; {advice}")
    return problems + allow.stale()


CASES = [
    ("good tree", {"a.md": "see src/work/x.c, $HOME/work/x, ../home/x and /var/tmp\n"}, None),
    ("home", {"docs/a.md": "\nrun /ho" + "me/ann/x\n"}, "docs/a.md:2:"),
    ("work", {"a.sh": "cd /wo" + "rk/main\n"}, "a.sh:1:"),
    ("registry", {"package-lock.json": "https://registry.npmjs." + "org/x\n"}, "registry"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
