#!/usr/bin/env -S python3 -B
"""Writes the pages as a site of plain HTML with a search: no server, no request to anybody else. Ends with 1 when a link leads nowhere.
usage: site.py FOLDER   (in the folder of the sources)"""
import glob
import html
import json
import os
import posixpath
import re
import shutil
import sys

import markdown
import webpage

STYLE = """body{margin:0 auto;max-width:50rem;padding:0 1rem 3rem;font:1rem/1.5 sans-serif;color:#222;background:#fff;overflow-wrap:break-word}
nav{padding:.6rem 0;border-bottom:1px solid #ccc;display:flex;gap:1rem;flex-wrap:wrap}nav input{flex:1 1 12rem;font:inherit;padding:.2rem .5rem}
#found{list-style:none;padding:0}#found a{font-weight:bold}pre{background:#f4f4f4;padding:.7rem;overflow-x:auto}code{font-size:.92em}
.wide{overflow-x:auto}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}
img{max-width:100%;background:#fff}@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#262626}a{color:#8ab4f8}}"""
SEARCH = """const box=document.getElementById('q'),list=document.getElementById('found');
box.addEventListener('input',()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(w=>w);list.textContent='';if(!words.length)return;
const hits=PARTS.map(p=>{const t=p.h.toLowerCase(),b=p.t.toLowerCase();if(!words.every(w=>t.includes(w)||b.includes(w)))return null;
return{p,s:words.reduce((s,w)=>s+(t.includes(w)?10:0)+Math.min(5,b.split(w).length-1),0)}}).filter(x=>x).sort((a,b)=>b.s-a.s).slice(0,12);
for(const{p}of hits){const li=document.createElement('li'),a=document.createElement('a');a.href=ROOT+p.u;a.textContent=p.h;li.append(a,p.p===p.h?' ':' ('+p.p+') ');
const hit=p.t.toLowerCase().indexOf(words[0]),at=hit>40?p.t.indexOf(' ',hit-40)+1:0;
li.append((at?'\u2026 ':'')+p.t.slice(at,at+140).replace(/\s\S*$/,'')+' \u2026');list.append(li)}
if(!hits.length)list.textContent='nothing found'});"""
PATTERNS = ["*.md", "docs/*.md", "docs/*/*.md", "tests/README.md", "examples/*/README.md", "tools/*/README.md"]
written, anchors, wanted = set(), {}, []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def name_of(path):
    """The page of a file: text of programs gets a page, too."""
    if path == "README.md":
        return "index.html"
    if path.endswith(".md"):
        return path[:-3] + ".html"
    return path if path.endswith((".svg", ".png")) else path + ".html"


def frame(folder, path, title, body):
    root = "../" * path.count("/")
    text = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{html.escape(title)}</title><link rel="stylesheet" href="{root}style.css"></head><body>
<nav><a href="{root}index.html">taskpool</a><a href="{root}docs/cli.html">program</a><a href="{root}include/taskpool.h.html">taskpool.h</a>
<input id="q" type="search" placeholder="search" aria-label="search"></nav><ul id="found"></ul><main>
{body}
</main><script>const ROOT="{root}";</script><script src="{root}search-index.js"></script><script src="{root}search.js"></script></body></html>
"""
    put(folder, path, text)


def put(folder, path, text):
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)
    written.add(path)


def linker(path):
    """Links of a page: of files to their pages; they are noted, to be written and checked."""
    def link(target):
        if re.match(r"\w+:", target):
            return target
        file, _, heading = target.partition("#")
        full = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        if os.path.isdir(full):
            full = posixpath.join(full, "README.md")
        wanted.append((path, full, heading))
        page = posixpath.relpath(name_of(full), posixpath.dirname(name_of(path)) or ".")
        return page + ("#" + heading if heading else "")
    return link


def words_of(block):
    """What a reader of a block reads."""
    kind = block[0]
    if kind == "table":
        return " ".join(markdown.plain(cell) for row in [block[1], *block[2]] for cell in row)
    if kind == "list":
        return " ".join(words_of(part) for item in block[2] for part in item)
    return block[2] if kind == "code" else markdown.plain(block[1])


def parts_of(page, blocks):
    """For the search: each heading with the text below it."""
    title = next((markdown.plain(block[2]) for block in blocks if block[0] == "heading"), page)
    current = {"p": title, "u": page, "h": title, "t": ""}
    for block in blocks:
        if block[0] == "heading":
            if current["t"]:
                yield current
            current = {"p": title, "u": page + "#" + markdown.anchor(block[2]), "h": markdown.plain(block[2]), "t": ""}
        else:
            current["t"] = f"{current['t']} {' '.join(words_of(block).split())}".strip()
    yield current


def write_page(folder, path, index):
    blocks = markdown.read(read(path))
    anchors[path] = {markdown.anchor(block[2]) for block in blocks if block[0] == "heading"}
    title = next((markdown.plain(block[2]) for block in blocks if block[0] == "heading"), path)
    frame(folder, name_of(path), title, webpage.render(blocks, linker(path)))
    index.extend(parts_of(name_of(path), blocks))


def write_file(folder, path):
    if path.endswith((".svg", ".png")):
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        shutil.copy(path, os.path.join(folder, path))
        written.add(path)
    else:
        frame(folder, name_of(path), path, f"<h1>{path}</h1><pre><code>{html.escape(read(path), quote=False)}</code></pre>")


def main(folder):
    index, bad = [], []
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted({path for pattern in PATTERNS for path in glob.glob(pattern)}):
        write_page(folder, path, index)
    write_file(folder, "include/taskpool.h")
    for source, path, heading in wanted:
        if not os.path.exists(path):
            bad.append(f"{source}: {path} is not there")
        elif name_of(path) not in written:
            write_file(folder, path)
        if heading and path in anchors and heading not in anchors[path]:
            bad.append(f"{source}: {path} has no heading {heading}")
    put(folder, "style.css", STYLE)
    put(folder, "search.js", SEARCH)
    put(folder, "search-index.js", "const PARTS=" + json.dumps(index, separators=(",", ":")) + ";\n")
    for name in sorted(written):
        if name.endswith(".html") and re.search(r'(?:src|href)="https?://[^"]*\.(?:js|css)', read(os.path.join(folder, name))):
            bad.append(f"{name}: asks somebody else")
    print("\n".join(sorted(set(bad))) or f"{len(written)} files in {folder}, every link leads somewhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
