"""Writes manual pages: blocks of markdown.py as man(7). Tables become lists, which every terminal can show."""
import re

import markdown


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def prose(text):
    """As escape, but a hyphen of a word stays one."""
    return re.sub(r"(?<=\w)\\-(?=\w)", "-", escape(text))


def breakable(text):
    """What is longer than half a line may be broken behind its commas."""
    return text.replace(",", ",\\:") if len(text) > 40 else text


def inline(parts):
    out = []
    for kind, part, target in parts:
        if kind == "text":
            out.append(prose(part).replace("\\&", "") if out else prose(part))
        elif kind == "code":
            out.append(f"\\fB{breakable(escape(part))}\\fR")
        elif kind == "link":
            out.append(inline(part) + page_of(target))
        else:
            mark = "B" if kind == "strong" else "I"
            out.append(f"\\f{mark}" + re.sub(r"\\f[BIR]", "", inline(part)) + "\\fR")
    return "".join(out)


def page_of(target):
    """Of a link what a reader of manual pages can follow."""
    return f" ({prose(target)})" if target.startswith("http") else ""


def line(text):
    """A line of the page; what stands first in it is no macro."""
    text = inline(markdown.inline(text))
    return "\\&" + text if text.startswith((".", "'")) else text


def code(text):
    return [".PP", ".in +4n", ".EX", *(row if not row.startswith((".", "'")) else "\\&" + row
                                       for row in escape(text).replace("\\&", "").split("\n")), ".EE", ".in"]


def table(head, rows):
    """The first column is the term; further ones are named by the head when there are more than two."""
    out = []
    for row in rows:
        rest = [(name, cell) for name, cell in zip(head[1:], row[1:]) if cell]
        out += [".TP", line(row[0]) or "\\&"]
        texts = [line(f"{name}: {cell}" if len(head) > 2 and name else cell) for name, cell in rest]
        out += ["\n.br\n".join(texts) or "\\&"]
    return out


def items(ordered, found):
    out = []
    for number, blocks in enumerate(found, 1):
        out.append(f".IP {number}. 4" if ordered else ".IP \\(bu 3")
        for place, block in enumerate(blocks):
            lines = render([block])
            if place == 0 and lines[0] == ".PP":
                lines = lines[1:]
            elif place > 0:
                lines = [".IP", *lines[1:]] if lines[0] == ".PP" and block[0] == "paragraph" else [".RS", *lines, ".RE"]
            out += lines
    return out


def heading(level, text):
    name = re.sub(r"\\f[BIR]", "", line(text))
    return [".SH " + name.upper().replace('"', "")] if level <= 2 else [".SS " + name]


def render(blocks):
    out = []
    for block in blocks:
        if block[0] == "heading":
            out += heading(block[1], block[2])
        elif block[0] == "paragraph":
            out += [".PP", line(block[1])]
        elif block[0] == "code":
            out += code(block[2])
        elif block[0] == "table":
            out += table(block[1], block[2])
        elif block[0] == "list":
            out += items(block[1], block[2])
    return out


def tidy(lines):
    """No paragraph is empty: a macro that begins one right after a heading, or before another, is left out."""
    out = []
    for number, text in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ".SH"
        if text == ".PP" and (out[-1:] and out[-1].startswith((".SH", ".SS")) or after.startswith((".SH", ".SS", ".PP", ".TP", ".IP"))):
            continue
        out.append(text)
    return out


def page(name, section, title, version, date, lines):
    """The text of a page; title: one line about it."""
    head = [f'.TH {name.upper()} {section} {date} "taskpool {version}" "taskpool manual"', ".ad l", ".nh", ".SH NAME", f"{escape(title)}"]
    return "\n".join(tidy(head + lines)) + "\n"
