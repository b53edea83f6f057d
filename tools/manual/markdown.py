"""Reads the Markdown that docs/ is written in: headings, paragraphs, lists, tables, code, pictures; in a line code, emphasis and links.
Knows nothing of what becomes of it; man.py and webpage.py write it."""
import re

FENCE = re.compile(r"^```(.*)$")
HEADING = re.compile(r"^(#+) (.*)$")
ITEM = re.compile(r"^( *)([*-]|\d+\.) +(.*)$")
PICTURE = re.compile(r"^(?:!\[([^\]]*)\]\(([^)]+)\)|<img src=\"([^\"]+)\" alt=\"([^\"]*)\"[^>]*>)$")
INLINE = re.compile(r"(`+)(?P<code>.+?)\1|\[(?P<label>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]+)\)|"
                    r"\*\*(?P<strong>.+?)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*(?!\w)|\\(?P<escaped>[|*_`\\])")


def inline(text):
    """Parts of a line: (kind, text, more); link: more is its target, its text is parts again."""
    at = 0
    for match in INLINE.finditer(text):
        if match.start() > at:
            yield "text", text[at:match.start()], None
        at = match.end()
        kind = match.lastgroup if match.lastgroup != "target" else "link"
        if kind == "link":
            yield "link", list(inline(match.group("label"))), match.group("target")
        elif kind in ("strong", "emphasis"):
            yield kind, list(inline(match.group(kind))), None
        elif kind == "escaped":
            yield "text", match.group("escaped"), None
        else:
            yield "code", match.group("code").replace("\\|", "|"), None
    if at < len(text):
        yield "text", text[at:], None


def plain(text):
    """A line without its marks."""
    def words(parts):
        return "".join(part if isinstance(part, str) else words(part) for _, part, _ in parts)
    return words(list(inline(text)))


def anchor(heading):
    """A heading's name in links, as other readers of these pages have it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|") if not line.rstrip().endswith("\\|") else line)]


class Reader:
    """Takes blocks off a list of lines, from the first on."""

    def __init__(self, lines):
        self.lines = lines
        self.at = 0

    def rest(self):
        return self.at < len(self.lines)

    def line(self):
        return self.lines[self.at]

    def code(self):
        match = FENCE.match(self.line())
        self.at += 1
        begin = self.at
        while self.rest() and not FENCE.match(self.line()):
            self.at += 1
        self.at += 1
        return "code", match.group(1), "\n".join(self.lines[begin:self.at - 1])

    def indented(self):
        begin = self.at
        while self.rest() and (self.line().startswith("    ") or not self.line().strip()):
            self.at += 1
        return "code", "", "\n".join(line[4:] for line in self.lines[begin:self.at]).rstrip()

    def table(self):
        rows = []
        while self.rest() and self.line().startswith("|"):
            rows.append(cells(self.line()))
            self.at += 1
        return "table", rows[0], [row for row in rows[2:]]

    def items(self):
        indent, ordered, found = len(ITEM.match(self.line()).group(1)), ITEM.match(self.line()).group(2)[0].isdigit(), []
        while self.rest():
            match = ITEM.match(self.line())
            if not match or len(match.group(1)) != indent:
                break
            width = len(match.group(0)) - len(match.group(3))
            lines, self.at = [match.group(3)], self.at + 1
            while self.rest() and (self.belongs(width) or self.continues()):
                lines.append(self.line()[width:] if self.line().startswith(" " * width) else self.line().strip())
                self.at += 1
            while lines and not lines[-1].strip():
                lines.pop()
            found.append(list(Reader(lines).blocks()))
        return "list", ordered, found

    def belongs(self, width):
        """Is this line part of an item whose text begins at width? An empty one is, when what follows is."""
        if self.line().strip():
            return self.line().startswith(" " * width)
        rest = next((line for line in self.lines[self.at:] if line.strip()), "")
        return rest.startswith(" " * width)

    def continues(self):
        """A paragraph goes on, though its line is not indented."""
        line = self.line()
        return bool(line.strip() and self.lines[self.at - 1].strip()) and not self.begins(line)

    @staticmethod
    def begins(line):
        return bool(line.startswith(("|", "```")) or HEADING.match(line) or ITEM.match(line))

    def paragraph(self):
        begin = self.at
        self.at += 1
        while self.rest() and self.line().strip() and not self.begins(self.line()):
            self.at += 1
        return "paragraph", " ".join(line.strip() for line in self.lines[begin:self.at])

    def blocks(self):
        while self.rest():
            line = self.line()
            if not line.strip():
                self.at += 1
            elif FENCE.match(line):
                yield self.code()
            elif HEADING.match(line):
                match = HEADING.match(line)
                self.at += 1
                yield "heading", len(match.group(1)), match.group(2)
            elif PICTURE.match(line):
                self.at += 1
                text, target, narrow, text_of_narrow = PICTURE.match(line).groups()
                yield ("picture", text or text_of_narrow, target or narrow)
            elif line.startswith("|"):
                yield self.table()
            elif line.startswith("    "):
                yield self.indented()
            elif ITEM.match(line):
                yield self.items()
            else:
                yield self.paragraph()


def read(text):
    return list(Reader(text.splitlines()).blocks())
