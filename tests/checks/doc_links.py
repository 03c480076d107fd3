# SPDX-License-Identifier: MIT
"""Each link of a Markdown file into the tree leads to a file, and its anchor to a heading there.
README.md leads to every guide in sdk/docs/, has at most 9 KB, and a guide less than 10 KB: a reader
who looks for one thing reads no more than that."""

import re
from pathlib import Path

README = "README.md"
GUIDES = "sdk/docs"
README_BYTES = 9 << 10
GUIDE_BYTES = 10 << 10
FOLDERS = ("sdk", "include", "samples", "tests", "cmake")
LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|source)[^>]* (?:src|srcset)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
HEADING = re.compile(r"#{1,6} +(.*?) *#*$")


def lines_of(page: Path):
    """(number, line) without blocks of code; code within a line is blank."""
    fence = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        opens = re.match(r" *(```+|~~~+)", line)
        if opens and (not fence or line.strip() == fence):
            fence = "" if fence else opens.group(1)
        elif not fence:
            yield number, line


def anchor_of(heading: str, taken: set[str]) -> str:
    """As GitHub makes it. It joins the anchors that are taken on the page."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
    number = 0
    while (anchor := name if number == 0 else f"{name}-{number}") in taken:
        number += 1
    taken.add(anchor)
    return anchor


def anchors(page: Path) -> set[str]:
    found: set[str] = set()
    for _, line in lines_of(page):
        heading = HEADING.match(line)
        if not heading:
            continue
        anchor_of(heading.group(1), found)
    return found


def pages(root: Path):
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        for page in sorted((root / folder).rglob("*.md")):
            if "node_modules" not in page.parts:
                yield page


def links(root: Path) -> tuple[list[str], set[Path]]:
    """What is wrong, and the pages that README.md leads to."""
    found, from_readme = [], set()
    for page in pages(root):
        place = page.relative_to(root).as_posix()
        for number, line in lines_of(page):
            for groups in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                target = groups[0] or groups[1]
                if ELSEWHERE.match(target):
                    continue
                name, _, anchor = target.partition("#")
                path = (page.parent / name).resolve() if name else page
                if not path.exists():
                    found.append(f"{place}:{number}: the link leads nowhere: {target}")
                elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                    found.append(f"{place}:{number}: no heading has the anchor of {target}")
                if place == README:
                    from_readme.add(path)
    return found, from_readme


def check(root) -> list[str]:
    root = Path(root).resolve()
    found, from_readme = links(root)
    for page in [root / README, *sorted((root / GUIDES).glob("*.md"))]:
        place = page.relative_to(root).as_posix()
        size = page.stat().st_size
        if place == README and size > README_BYTES:
            found.append(f"{place}:1: has {size} bytes, {README_BYTES} at most")
        if place != README and size >= GUIDE_BYTES:
            found.append(f"{place}:1: has {size} bytes, less than {GUIDE_BYTES} allowed")
        if place != README and page not in from_readme:
            found.append(f"{place}:1: {README} has no link to it")
    return found


FIXTURE = {
    README: (
        "# One `two` (three)\n[a](sdk/docs/a.md#b-c) [b](#one-two-three) [c](https://a.b/c.md)\n"
        "[d](sdk/docs/a.md#d)\n`[e](gone.md)`\n```sh\n# f\n[f](gone.md)\n```\n[g](#f)\n"
        '<img src="gone.svg">\n![h](sdk/docs/a.md) [i](sdk/docs/large.md)\n'
    ),
    "sdk/docs/a.md": "## B: c\n## B: c\n[back](../../README.md) [again](#b-c-1) [no](#b-c-2)\n",
    "sdk/docs/large.md": "x" * GUIDE_BYTES,
    "sdk/docs/lost.md": "[x](../gone/)\n",
}
EXPECTED = [
    "README.md:3",
    "README.md:9",
    "README.md:10",
    "sdk/docs/a.md:3",
    "sdk/docs/lost.md:1",
    "sdk/docs/large.md:1",
    "sdk/docs/lost.md:1",
]
