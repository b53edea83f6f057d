"""Writes blocks of markdown.py as HTML. What a link leads to is the caller's to say."""
import html

import markdown


def inline(parts, link):
    out = []
    for kind, part, target in parts:
        if kind == "text":
            out.append(html.escape(part, quote=False))
        elif kind == "code":
            out.append(f"<code>{html.escape(part, quote=False)}</code>")
        elif kind == "link":
            out.append(f'<a href="{html.escape(link(target))}">{inline(part, link)}</a>')
        else:
            tag = {"strong": "strong", "emphasis": "em"}[kind]
            out.append(f"<{tag}>{inline(part, link)}</{tag}>")
    return "".join(out)


def line(text, link):
    return inline(markdown.inline(text), link)


def table(head, rows, link):
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{line(cell, link)}</{tag}>" for cell in cells) + "</tr>"
    top = row(head, "th") if any(head) else ""
    return f'<div class="wide"><table><thead>{top}</thead><tbody>{"".join(row(cells, "td") for cells in rows)}</tbody></table></div>'


def block(found, link):
    kind = found[0]
    if kind == "heading":
        name = markdown.anchor(found[2])
        return f'<h{found[1]} id="{html.escape(name)}">{line(found[2], link)}</h{found[1]}>'
    if kind == "paragraph":
        return f"<p>{line(found[1], link)}</p>"
    if kind == "code":
        return f"<pre><code>{html.escape(found[2], quote=False)}</code></pre>"
    if kind == "picture":
        return f'<p class="wide"><img src="{html.escape(link(found[2]))}" alt="{html.escape(found[1])}"></p>'
    if kind == "table":
        return table(found[1], found[2], link)
    tag = "ol" if found[1] else "ul"
    return f"<{tag}>" + "".join(f"<li>{render(item, link)}</li>" for item in found[2]) + f"</{tag}>"


def render(blocks, link):
    return "\n".join(block(found, link) for found in blocks)
