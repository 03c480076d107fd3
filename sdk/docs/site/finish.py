# SPDX-License-Identifier: MIT
"""finish.py ROOT WORK: completes the site that Doxygen made in WORK, and checks it.

It fails for a public class, function or enum without a comment, and for a link of the site that
leads nowhere, anchors included.
"""

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

# A name in an example is linked if it is a type or a function. Doxygen guesses the others by their
# name alone: it takes a variable `client` for the enumerator SpanKind::client.
GUESSED = re.compile(r'<a class="code hl_(?:enumvalue|variable|enumeration)"[^>]*>([^<:]*)</a>')
# In a guide a name is in code. Elsewhere "Message" begins a sentence.
WORD = re.compile(
    r'(?<!<code>)<a class="el" href="(?:class|struct|group)[^>]*>(\w+)</a>(?!</code>)'
)
# What a class has without saying it: Doxygen's names of functions that need no comment.
OF_ITSELF = re.compile(r"~|operator")
ELSEWHERE = re.compile(r"[a-z]+:|//")


def without_guesses(site: Path, guides: set[str]) -> None:
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        plain = GUESSED.sub(r"\1", text)
        if path.stem in guides:
            plain = WORD.sub(r"\1", plain)
        if plain != text:
            path.write_text(plain, encoding="utf-8")


def described(element: ElementTree.Element) -> bool:
    return any(
        "".join(part.itertext()).strip()
        for name in ("briefdescription", "detaileddescription")
        for part in element.findall(name)
    )


def needs_comment(member: ElementTree.Element, owner: str, told: set[str]) -> bool:
    """Not what a class has by itself, an accessor, whose name says it, or the overload of a
    function that has a comment."""
    if member.get("prot") != "public" or member.get("kind") not in ("function", "enum"):
        return False
    name = member.findtext("name", "")
    accessor = member.get("const") == "yes" and member.find("param") is None
    if OF_ITSELF.match(name) or accessor or name in told:
        return False
    return name != re.sub(r"<.*", "", owner).split("::")[-1].strip()  # a constructor


def without_comment(xml: Path) -> list[str]:
    found: dict[str, str] = {}

    def complain(element: ElementTree.Element, kind: str, name: str) -> None:
        place = element.find("location")
        where = place.get("file") if place is not None else "?"
        line = place.get("line") if place is not None else "1"
        found[element.get("id", "")] = f"include/{where}:{line}: {kind} {name} has no comment"

    for path in sorted(xml.glob("*.xml")):
        for compound in ElementTree.parse(path).getroot().iter("compounddef"):
            name = compound.findtext("compoundname", "")
            kind = compound.get("kind")
            if kind in ("class", "struct", "union", "concept") and not described(compound):
                if compound.get("prot") in (None, "public"):
                    complain(compound, kind, name)
            members = list(compound.iter("memberdef"))
            told = {member.findtext("name", "") for member in members if described(member)}
            if kind not in ("class", "struct"):
                told = set()  # free functions of one name may have nothing in common
            for member in members:
                if needs_comment(member, name, told) and not described(member):
                    own = f"{name}::" if kind in ("class", "struct") else ""
                    complain(member, member.get("kind", ""), own + member.findtext("name", ""))
    return sorted(found.values())


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value is not None:
                self.targets.append((self.getpos()[0], value))


def read_links(path: Path) -> Links:
    links = Links()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        links.feed(text)
    else:  # an index of the search
        for match in re.finditer(r"'(\.\./[^']+)'", text):
            links.targets.append((text.count("\n", 0, match.start()) + 1, match[1]))
    return links


def broken_links(site: Path) -> list[str]:
    pages = {
        path.resolve(): read_links(path)
        for path in sorted(site.rglob("*"))
        if path.suffix == ".html" or (path.suffix == ".js" and path.parent.name == "search")
    }
    found = []
    for path, links in pages.items():
        place = path.relative_to(site.resolve())
        for line, target in links.targets:
            if ELSEWHERE.match(target):
                continue
            name, _, anchor = unquote(target).partition("#")
            to = (path.parent / name).resolve() if name else path
            if not to.is_file():
                found.append(f"{place}:{line}: the link leads nowhere: {target}")
            elif anchor and to in pages and anchor not in pages[to].anchors:
                found.append(f"{place}:{line}: the page has no such anchor: {target}")
    return found


def main(root: Path, work: Path) -> int:
    site = work / "html"
    for picture in (root / "sdk/docs").glob("*.svg"):
        shutil.copy(picture, site)
    shutil.copy(root / "sdk/docs/site/search.css", site / "search")
    for index in site.glob("functions*.html"):  # of all members; nothing leads there
        index.unlink()
    without_guesses(site, {path.stem for path in (work / "pages").glob("*.md")})
    found = without_comment(work / "xml") + broken_links(site)
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
