# SPDX-License-Identifier: MIT
"""What the checks share: finding sources, and reading them without comments and literals."""

import re
from pathlib import Path
from typing import Iterator

SUFFIXES = {".hpp", ".cpp"}

LITERAL_OR_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)


def sources(root: Path, *folders: str) -> Iterator[Path]:
    """Every C++ file below the folders, in a fixed order."""
    for folder in folders:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)


def code_lines(path: Path) -> list[str]:
    """The file's lines, with comments and literals as white space."""

    def blank(match: re.Match) -> str:
        text = match.group(0)
        # A ' between digits separates them and opens nothing.
        return re.sub(r"[^\n]", " ", text)

    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", path.read_text(encoding="utf-8"))
    return LITERAL_OR_COMMENT.sub(blank, text).split("\n")


def includes(path: Path) -> Iterator[tuple[int, str, bool]]:
    """(line number, included name, whether in angle brackets) of every include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(2), match.group(1) == "<"


def lines_matching(root: Path, files, pattern: str, complaint: str) -> list[str]:
    """One violation a line of code that matches, as path:line: complaint."""
    wanted = re.compile(pattern)
    found = []
    for path in files:
        for number, line in enumerate(code_lines(path), 1):
            match = wanted.search(line)
            if match:
                found.append(
                    f"{path.relative_to(root)}:{number}: {match.group(0).strip()}: {complaint}"
                )
    return found
