#!/usr/bin/env -S python3 -B
"""The drawings of docs/architecture are those of their texts: each .svg carries the sum of the .txt that it was made from."""
import hashlib

import checklib

FOLDER = "docs/architecture"
MARK = "<!-- drawn by tools/draw.py from the text with sum %s -->"


def texts(root):
    return checklib.walk(root, [FOLDER], (".txt",))


def drawing_of(text_path):
    return text_path.removesuffix(".txt") + ".svg"


def sum_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check(root):
    drawn, problems = checklib.walk(root, [FOLDER], (".svg",)), []
    for path in texts(root):
        svg = checklib.read(root, drawing_of(path)) if drawing_of(path) in drawn else ""
        if MARK % sum_of(checklib.read(root, path)) not in svg:
            problems.append(f"{path}:1: {drawing_of(path)} is not the drawing of this text; run tools/draw.py (it needs Graphviz)")
    return problems


CASES = [
    ("drawn", {FOLDER + "/a.txt": "a -> b\n", FOLDER + "/a.svg": "<svg>" + MARK % sum_of("a -> b\n") + "</svg>"}, None),
    ("changed since", {FOLDER + "/a.txt": "a -> c\n", FOLDER + "/a.svg": MARK % sum_of("a -> b\n")}, "not the drawing"),
    ("never drawn", {FOLDER + "/a.txt": "a -> c\n"}, "not the drawing"),
]

if __name__ == "__main__":
    checklib.main(check, CASES)
