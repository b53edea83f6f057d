#!/usr/bin/env -S python3 -B
"""Draws the pictures of docs/architecture.md from the texts beside them: docs/architecture/NAME.txt becomes NAME.svg. Needs
Graphviz (dot). tools/checks/drawings.py says when a drawing is older than its text.

layers.txt has a format of its own, which tools/checks/layers.py reads too. Every other text is Graphviz's language, without
colours and fonts, which come from here: class="thread" and class="outside" choose the kind of a box."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools", "checks"))
import checklib  # noqa: E402
import drawings  # noqa: E402

LOOK = """
  graph [fontname="Helvetica" fontsize=12 nodesep=0.3 ranksep=0.45]
  node [shape=box style=rounded fontname="Helvetica" fontsize=12 margin="0.14,0.07"]
  edge [fontname="Helvetica" fontsize=11 arrowsize=0.7]
"""
# Colours that can be told apart on a light and on a dark page; the page's own background is not relied on.
STYLE = """<style>
  svg { color: #1f2328; background: #ffffff }
  .graph > .paper { fill: #ffffff; stroke: none }
  text { fill: currentColor; font-family: Helvetica, Arial, sans-serif }
  path, polygon, polyline, ellipse { stroke: #57606a; fill: none }
  .node path, .node polygon { fill: #eef1f4 }
  .thread path, .thread polygon { fill: #ddf0e3 }
  .outside path, .outside polygon { fill: #fbefd9 }
  .edge polygon { fill: #57606a }
  .cluster path, .cluster polygon { stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    svg { color: #e6edf3; background: #0d1117 }
    .graph > .paper { fill: #0d1117 }
    path, polygon, polyline, ellipse { stroke: #9aa4af }
    .node path, .node polygon { fill: #212830 }
    .thread path, .thread polygon { fill: #173a26 }
    .outside path, .outside polygon { fill: #43341a }
    .edge polygon { fill: #9aa4af }
  }
</style>"""


def reached(includes, start):
    """Every layer that start includes, or that those include, and so on."""
    found, todo = set(), list(includes[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += includes[name]
    return found


def layers_as_dot():
    """An arrow to each layer that is included and not reached by way of another. Arrows up to taskpool.h are left out: all have it."""
    layers = checklib.layers(ROOT)
    name = {layer.folder.rsplit("/", 1)[-1]: layer.folder for layer in layers}
    place = {layer.folder: at for at, layer in enumerate(layers)}

    def below(layer):
        found = [name[entry.split("/")[0]] for entry in layer.includes]
        return [folder for folder in found if place[folder] > place[layer.folder]]

    includes = {layer.folder: below(layer) for layer in layers}
    lines = []
    for layer in layers:
        kind = ' class="outside"' if layer.folder in ("include", "sql") else ""
        lines.append(f'"{layer.folder}" [label="{layer.folder}\\n{layer.what}"{kind}]')
        direct = includes[layer.folder]
        further = set().union(*(reached(includes, folder) for folder in direct))
        lines += [f'"{layer.folder}" -> "{folder}"' for folder in direct if folder not in further]
        lines += [f'"{layer.folder}" -> "{name[entry]}" [style=dashed]' for entry in layer.needs]
    return "digraph layers {\n" + "\n".join(lines) + "\n}\n"


def finish(svg, text_sum):
    """dot's colours and fonts out, classes in, and the sum of the text that it was made from."""
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.S)
    svg = re.sub(r"<title>[^<]*</title>\n?", "", svg)
    svg = re.sub(r' (?:font-family|fill|stroke)="[^"]*"', "", svg)
    svg = re.sub(r'<polygon points', '<polygon class="paper" points', svg, count=1)
    svg = re.sub(r'(<svg [^>]*>)', lambda match: match.group(1) + "\n" + drawings.MARK % text_sum + "\n" + STYLE, svg, count=1)
    return svg[svg.index("<svg"):]


def draw(text_path):
    text = layers_as_dot() if text_path == checklib.LAYERS else checklib.read(ROOT, text_path)
    text = text.replace("{\n", "{" + LOOK, 1)
    svg = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
    path = os.path.join(ROOT, drawings.drawing_of(text_path))
    with open(path, "w", encoding="utf-8") as file:
        file.write(finish(svg, drawings.sum_of(checklib.read(ROOT, text_path))))
    print(os.path.relpath(path))


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    try:
        for text_path in drawings.texts(ROOT):
            draw(text_path)
    except FileNotFoundError:
        sys.exit("draw.py: dot is not installed (Debian: graphviz); the drawings stay as they are")
    except subprocess.CalledProcessError as error:
        sys.exit(f"draw.py: dot: {error.stderr.strip()}")


if __name__ == "__main__":
    main()
