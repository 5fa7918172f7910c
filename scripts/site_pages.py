"""MkDocs hooks of mkdocs.yml: pages of the repository that lie outside docs, and links as the site has them.

README.md becomes index.md; CONTRIBUTING.md, CHANGELOG.md and SECURITY.md become pages, too. A link to a source file leads to the
repository where GITHUB_SERVER_URL and GITHUB_REPOSITORY name it, as in a workflow; otherwise its text stays and the link goes. A link
to a file that does not exist is an error.
"""

import os
import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}


def source_of(page):
    """Where the text of a page lies in the repository."""
    for source, name in OUTSIDE.items():
        if name == page:
            return source
    return f"docs/{page}"


def page_of(source):
    if source in OUTSIDE:
        return OUTSIDE[source]
    return source[len("docs/") :] if source.startswith("docs/") else None


def on_files(files, config):
    for source, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    return files


def link(match, page):
    text, target = match[1], match[2]
    if re.match(r"\w+:|#|/", target):
        return match[0]
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), path))
    if not (ROOT / path).exists():
        raise PluginError(f"{source_of(page)}: a link to {target}, which does not exist")
    anchor = "#" + anchor if anchor else ""
    if (ROOT / path).is_file() and (inside := page_of(path)):
        return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{anchor})"
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"[{text}]({server}/{repository}/blob/main/{path}{anchor})" if server and repository else text


def linked(text, page):
    """Prose, a paragraph or several, with its links as the site has them."""
    # in code spans, and before parameters, `](` begins no link
    spans = [m[0] for m in re.finditer(r"(`+)[^`]+?\1", text) if "](" in m[0]]
    for i, span in enumerate(spans):
        text = text.replace(span, f"\0{i}\0")
    text = re.sub(r"\]\((?=[^()]*\s|\))", r"]\(", text)
    text = LINK.sub(lambda m: link(m, page), text)
    for i, span in enumerate(spans):
        text = text.replace(f"\0{i}\0", span)
    return text


def on_page_markdown(markdown, page, config, files):
    # fences of code: their words no-run and the like are for the tests
    parts = re.split(r"^(```.*?^```$)", markdown, flags=re.S | re.M)
    return "".join(re.sub(r"^```(\w+) .*", r"```\1", part) if part.startswith("```") else linked(part, page.file.src_uri) for part in parts)


LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^()\s]+)\)")
