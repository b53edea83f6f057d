"""Manual pages of section 3, out of the public headers, whose comments are the manual: a page for each of their sections, and for each
function one that leads to its section's."""
import re

import man

SECTION = re.compile(r"^/\* -{4} (.*?) -+ \*/$", re.M)
FUNCTION = re.compile(r"^TP_API\b[^;]*?\b(\w+)\s*\([^;]*;", re.M)
TYPE = re.compile(r"^(?:typedef (?:struct|enum) (\w+)|} (\w+);)", re.M)
CHUNK = re.compile(r"^/\*.*?\*/\n?", re.M | re.S)


def split(text):
    """(title, text) of each section; the first is what stands before all of them."""
    found = list(SECTION.finditer(text))
    yield "", text[:found[0].start()] if found else text
    for match, after in zip(found, found[1:] + [None]):
        yield match.group(1), text[match.end():after.start() if after else len(text)]


def functions(text):
    return [match.group(1) for match in FUNCTION.finditer(text)]


def comment_lines(comment):
    """Paragraphs; what is indented in the comment stays as it is."""
    rows = [re.sub(r"^ ?\* ?", "", row) for row in comment.strip().removeprefix("/*").removesuffix("*/").split("\n")]
    out, joined = [], []

    def flush():
        nonlocal joined
        if joined:
            out.extend([".PP", man.prose(" ".join(joined))])
        joined = []
    for row in [row.rstrip() for row in rows]:
        if row.startswith("   ") or (row.startswith("  ") and out[-1:] == [".EE"]):
            flush()
            if out[-1:] == [".EE"]:
                out.pop()
            else:
                out += [".PP", ".EX"]
            out += [man.escape(row), ".EE"]
        elif row.strip():
            joined.append(row.strip())
        else:
            flush()
    flush()
    return out


def body(text):
    out, at = [], 0
    text = re.sub(r'(?s)#ifdef __cplusplus.*?#endif\n', "", text)
    text = re.sub(r"^#(?:ifndef|endif|include|define TASKPOOL\w*_H).*\n", "", text, flags=re.M)
    for match in CHUNK.finditer(text):
        out += code(text[at:match.start()]) + comment_lines(match.group())
        at = match.end()
    return out + code(text[at:])


def code(text):
    text = text.strip("\n")
    return man.code(text) if text.strip() else []


def page(header, title, text, version, date):
    """(names, page): the first name is the page's own."""
    names = functions(text)
    if title:
        first = names or [n for pair in TYPE.findall(text) for n in pair if n][-1:]
        about = f"{title.lower()} of taskpool's library"
    else:
        first, about = [header, *names], "a task pool inside the database that an application already has"
    listed = ", ".join(first) + " - " + about
    lines = [".SH SYNOPSIS", ".nf", f"#include <{header}>", ".fi", ".PP", "\\fBcc\\fR \\fIfile.c\\fR $(pkg\\-config \\-\\-cflags \\-\\-libs taskpool)",
             ".SH DESCRIPTION", *body(text), ".SH SEE ALSO", ".BR taskpool.h (3),", ".BR taskpool (1),", ".BR taskpool-guarantees (7)"]
    return first, man.page(first[0], 3, listed, version, date, lines)


def pages(header, text, version, date):
    """{file name: text}"""
    out = {}
    for title, part in split(text):
        if title and not functions(part) and not TYPE.search(part):
            continue
        names, made = page(header, title, part, version, date)
        out[f"{names[0]}.3"] = made
        for name in names[1:]:
            out[f"{name}.3"] = f".so man3/{names[0]}.3\n"
    return out
