# SPDX-License-Identifier: MIT
"""prepare.py ROOT WORK: writes what Doxygen reads into WORK.

The headers come without their internals and without the inline namespace, each in the group that
site.toml names. The pages come with the anchors of GitHub, and with links that work on the site.
"""

import html
import re
import shutil
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "checks"))
from doc_links import ELSEWHERE, HEADING, anchor_of  # noqa: E402

HERE = Path(__file__).parent
INCLUDE = "include/sessionq"
NAMESPACE = re.compile(r"namespace sessionq::inline v1(::\w+)? \{$")
INTERNAL = re.compile(r"namespace sessionq::detail\b.*\{$")
HEADER_LINK = re.compile(rf"{INCLUDE}/(?:testing/)?(\w+)\.hpp$")
LINK = re.compile(r"(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)")
BROKEN_LINK = re.compile(r"(?<=[ (])(\[[^\[\]\n]*)\n([^\[\]\n]*\]\()")
CONTENTS_FROM = 4  # headings; a shorter page needs no list of them


class Site:
    def __init__(self, root: Path):
        self.root = root
        described = tomllib.loads((HERE / "site.toml").read_text(encoding="utf-8"))
        self.groups = described["group"]
        self.parts = [
            (part["title"], [self.page_called(name) for name in part["pages"]])
            for part in described["part"]
        ]
        self.pages = [root / "README.md"] + [page for _, pages in self.parts for page in pages]

    def page_called(self, name: str) -> Path:
        for folder in ("sdk/docs", "sdk", ""):
            if (path := self.root / folder / f"{name}.md").is_file():
                return path
        raise SystemExit(f"site.toml: there is no page {name}")

    def missing(self) -> list[str]:
        """Guides and headers that site.toml does not have, or has twice."""
        found = [
            f"site.toml: no part has {guide.relative_to(self.root)}"
            for guide in sorted((self.root / "sdk/docs").glob("*.md"))
            if guide not in self.pages
        ]
        named = [header for group in self.groups for header in group["headers"]]
        public = [
            path.relative_to(self.root / INCLUDE).with_suffix("").as_posix()
            for path in public_headers(self.root)
        ]
        found += [f"site.toml: no group has {name}.hpp" for name in public if name not in named]
        found += [f"site.toml: there is no {name}.hpp" for name in named if name not in public]
        found += [
            f"site.toml: {name}.hpp is there twice"
            for name in sorted(set(named))
            if named.count(name) > 1
        ]
        return found


def public_headers(root: Path) -> list[Path]:
    headers = sorted((root / INCLUDE).rglob("*.hpp"))
    return [path for path in headers if path.parent.name != "detail"]


SPAN = re.compile(r"(?<!`)`([^`\n]*)`(?!`)")


def quoted(text: str) -> str:
    """Doxygen reads `'x'` as a quotation, but not ``'x'``."""
    return SPAN.sub(lambda span: f"``{span[1]}``" if "'" in span[1] else span[0], text)


def without_internals(lines: list[str]) -> list[str]:
    """Blank lines stand where internals stood, so that warnings have the right lines."""
    kept, inside = [], False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        special = line == "template <>" and following.startswith("struct std::")
        inside = inside or special or bool(INTERNAL.match(line))
        kept.append("" if inside else line)
        if line.startswith("}") or (line.startswith("struct") and line.endswith("{};")):
            inside = False
    return kept


def without_private(lines: list[str]) -> list[str]:
    """Also makes friend functions members. Doxygen leaves friends out, but not links to them."""
    kept, hidden = [], None
    for line in lines:
        if hidden is None and line.strip() == "private:":
            hidden = line.removesuffix("private:")
        elif hidden is not None and line in (f"{hidden}}};", f"{hidden}public:"):
            hidden = None
        shown = "" if hidden is not None else line
        kept.append(re.sub(r"^( *)friend (?!class|struct)", r"\1", shown))
    return kept


def header_for_doxygen(text: str, name: str, group: str) -> str:
    text = text.replace("detail::AsyncCallOptions", "CallOptions")  # made from these
    lines = without_private(without_internals(text.split("\n")))
    opened = False
    comment = next((n for n, line in enumerate(lines) if line), 0)
    for number, line in enumerate(lines):
        if match := NAMESPACE.match(line):
            # The blank line behind it has the second half, so that all lines keep their numbers.
            lines[number] = f"namespace sessionq{match[1] or ''} {{ /** @addtogroup {group}"
            lines[number + 1] = "@{ */"
            opened = True
        elif opened and line.startswith("} // namespace"):
            lines[number] = "/** @} */ }"
            opened = False
    lines = with_code(lines)
    lines = [quoted(line) if "///" in line else line for line in lines]
    return "\n".join(file_comment(lines, name, group))


def with_code(lines: list[str]) -> list[str]:
    """Marks the indented lines of a comment as C++, which gives them colours and links. The marks
    are on lines that exist, so that all lines keep their numbers."""
    marked = list(lines)
    begin = None
    for number, line in enumerate(lines):
        comment = re.match(r"\s*///(.*)", line)
        code = comment and (comment[1].startswith("     ") or (begin and not comment[1].strip()))
        if code and begin is None:
            begin = last = number
        elif code and comment[1].strip():
            last = number
        elif not code and begin is not None:
            before = lines[begin - 1]
            marked[begin - 1] = f"{before} @code{{.cpp}}"
            marked[last] = f"{lines[last]} @endcode"
            begin = None
    return marked


def file_comment(lines: list[str], name: str, group: str) -> list[str]:
    """Makes the comment of the header, which is above its includes or its namespace, that of the
    file. A header without one gets its group."""
    at = own_comment(lines)
    said = f"@file sessionq/{name}.hpp"
    if at is None:
        return [f"/** {said} @brief Header of @ref {group}. */", *lines[1:]]
    return [*lines[1:at], f"/// {said}", *lines[at:]]


def own_comment(lines: list[str]) -> int | None:
    """The line where a comment begins that describes no declaration."""
    begin = None
    for number, line in enumerate(lines):
        if line.startswith("///"):
            begin = number if begin is None else begin
        elif begin is not None:
            return begin if not line or line.startswith("namespace") else None
        elif line.startswith("namespace"):
            return None
    return None


def escaped(text: str) -> str:
    """Keeps Doxygen from commands, references and quotations in a guide, which has none."""
    text = re.sub(r"(?<![\w(\\])([@#])(?=\w)", r"\\\1", text)
    return re.sub(r"(?<!\w)'", "&apos;", text)


class Page:
    def __init__(self, site: Site, path: Path):
        self.site = site
        self.path = path
        self.name = "index" if path.name == "README.md" else path.stem
        self.headings = 0
        self.taken: set[str] = set()

    def for_doxygen(self) -> str:
        lines, fence, title = [], "", True
        text = self.path.read_text(encoding="utf-8")
        for line in BROKEN_LINK.sub(r"\1 \2", text).split("\n"):
            opens = re.match(r" *(```+|~~~+)(\w*)", line)
            if opens and (not fence or line.strip() == fence):
                if not fence and opens[2] not in ("cpp", "python"):
                    line = line.replace(opens[1] + opens[2], opens[1] + "{.unparsed}")
                fence = "" if fence else opens[1]
            elif not fence and line.startswith("<!--"):
                continue
            elif not fence and (heading := HEADING.match(line)):
                line = self.heading(line, heading[1], title)
                title = False
            elif not fence:
                line = self.text(line)
            lines.append(line)
        if self.headings >= CONTENTS_FROM:
            lines.insert(1, "\n[TOC]")
        return "\n".join(lines)

    def heading(self, line: str, words: str, title: bool) -> str:
        anchor = anchor_of(words, self.taken)
        if title:
            return f"{self.text(line)} {{#{'mainpage' if self.name == 'index' else self.name}}}"
        self.headings += 1
        return f"{self.text(line)} {{#{label(self.name, anchor)}}}"

    def text(self, line: str) -> str:
        spans = re.split(r"(``[^`]*``|`[^`]*`)", LINK.sub(self.link, quoted(line)))
        spans = [re.sub(r'(<img src=")[^"]*/', r"\1", span) for span in spans]
        return "".join(
            span if span.startswith("`") else escaped(span) for span in spans
        )

    def link(self, match: re.Match) -> str:
        words, target = match[1], match[2]
        if ELSEWHERE.match(target):
            return match[0]
        name, _, anchor = target.partition("#")
        path = (self.path.parent / name).resolve() if name else self.path
        if path in self.site.pages:
            to = Page(self.site, path).name
            return f'<a href="{to}.html{"#" + label(to, anchor) if anchor else ""}">{words}</a>'
        if path.is_relative_to(self.site.root):
            relative = path.relative_to(self.site.root).as_posix()
            if header := HEADER_LINK.fullmatch(relative):
                return f'<a href="{file_page(header[1])}">{words}</a>'
            if relative == INCLUDE:
                return f'<a href="files.html">{words}</a>'
        return words  # a source: it is not on the site


def label(page: str, anchor: str) -> str:
    """Labels are of the whole site, so they have the page's name."""
    return f"{page}_{anchor}"


def file_page(stem: str) -> str:
    return f"{stem.replace('_', '__')}_8hpp.html"


def contents(site: Site) -> str:
    lines = ["# Guides {#guides}", "", "In a useful order of reading.", ""]
    for title, pages in site.parts:
        lines += [f"## {title} {{#guides_{title.lower().replace(' ', '-')}}}", ""]
        lines += [f"- @subpage {Page(site, page).name}" for page in pages]
        lines.append("")
    return "\n".join(lines)


def groups(site: Site) -> str:
    lines = []
    for group in site.groups:
        lines += ["/**", f"@defgroup {group['name']} {group['title']}", group["text"], "*/", ""]
    return "\n".join(lines)


def navigation(site: Site) -> str:
    """The menu of every page."""

    def menu(title: str, entries: str) -> str:
        return f"<details name='menu'><summary>{title}</summary><div>{entries}</div></details>"

    guides = ""
    for title, pages in site.parts:
        guides += f"<b>{html.escape(title)}</b>"
        for page in pages:
            first = page.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
            guides += f'<a href="$relpath^{Page(site, page).name}.html">{html.escape(first)}</a>'
    by_task = "".join(
        f'<a href="$relpath^group__{group["name"].replace("_", "__")}.html">{group["title"]}</a>'
        for group in site.groups
    )
    lists = (
        '<b>Lists</b><a href="$relpath^annotated.html">Classes</a>'
        '<a href="$relpath^files.html">Headers</a>'
    )
    return menu("Guides", guides) + menu("Reference", "<b>By task</b>" + by_task + lists)


def main(root: Path, work: Path) -> None:
    site = Site(root)
    if missing := site.missing():
        raise SystemExit("\n".join(missing))
    shutil.rmtree(work, ignore_errors=True)
    (work / "pages").mkdir(parents=True)
    for group in site.groups:
        for name in group["headers"]:
            text = (root / INCLUDE / f"{name}.hpp").read_text(encoding="utf-8")
            target = work / INCLUDE / f"{name}.hpp"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(header_for_doxygen(text, name, group["name"]), encoding="utf-8")
    for path in site.pages:
        page = Page(site, path)
        (work / "pages" / f"{page.name}.md").write_text(page.for_doxygen(), encoding="utf-8")
    for picture in (root / "sdk/docs").glob("*.svg"):
        shutil.copy(picture, work / "pages")
    (work / "pages" / "guides.md").write_text(contents(site), encoding="utf-8")
    (work / "pages" / "groups.dox").write_text(groups(site), encoding="utf-8")
    frame = (HERE / "header.html").read_text(encoding="utf-8")
    (work / "header.html").write_text(
        frame.replace("<!-- navigation -->", navigation(site)), encoding="utf-8"
    )
    for name in ("Doxyfile", "layout.xml", "footer.html", "style.css"):
        shutil.copy(HERE / name, work / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
