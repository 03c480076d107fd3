# SPDX-License-Identifier: MIT
"""The pages below sdk/ that lead through the sources name types, functions and files that exist: a
type or a member in backticks stands in a source of the tree, a path names a file or folder, and so
does each link. So a page cannot outlive the class that it tells of."""

import re
from pathlib import Path

SOURCES = ("sdk", "include", "tests", "samples")
# One names what was decided against, the other what brokers and other clients say.
ELSEWHERE = {"DECISIONS.md", "TROUBLESHOOTING.md"}
# Names of others, and words that only look like types.
FOREIGN = {"MUTATED", "FetchContent"}
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?:[A-Za-z_]\w*::)*[A-Z]\w*[a-z]\w*(?:::\w+)*(?:\(\))?$")
PATH = re.compile(r"[\w.]+(?:/[\w.]+)+/?$|\w+\.(?:hpp|cpp|py)$")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def _words(root: Path) -> set[str]:
    words: set[str] = set()
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".hpp", ".cpp", ".h", ".py", ".inc", ".mutants"}:
                words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return words


def _exists(root: Path, page: Path, name: str) -> bool:
    """A path may be meant from the page, from sdk/, from the root or from tests/."""
    bases = [page.parent, root, root / "sdk", root / "tests", root / "include"]
    bases += [room for room in page.parent.iterdir() if room.is_dir()]
    for base in bases:
        found = base / name
        if found.exists() or any(found.with_suffix(end).exists() for end in (".hpp", ".cpp")):
            return True
    return False


def check(root) -> list[str]:
    words = _words(root)
    found = []
    for page in sorted((root / "sdk").rglob("*.md")):
        place = page.relative_to(root).as_posix()
        if page.name in ELSEWHERE:
            continue
        in_code = False  # there "](" begins the parameters of a lambda
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            in_code ^= line.startswith("```")
            for link in [] if in_code else LINK.findall(line):
                if not (page.parent / link).exists():
                    found.append(f"{place}:{number}: the link leads nowhere: {link}")
            for quoted in QUOTED.findall(line):
                if NAME.match(quoted):
                    for part in re.findall(r"\w+", quoted):
                        if part not in words and part not in FOREIGN:
                            found.append(f"{place}:{number}: no source has the name {part}")
                elif PATH.match(quoted) and quoted.count("/") and not _exists(root, page, quoted):
                    found.append(f"{place}:{number}: there is no {quoted}")
    return found


FIXTURE = {
    "sdk/core/clock.hpp": "class Clock { void now(); };\n",
    "sdk/core/README.md": (
        "`Clock` has `Clock::now` in `core/clock`.\n`Watch` is gone.\n`Clock::later` too.\n"
        "`core/watch.hpp`\n```cpp\n[](Clock&) {}\n```\n"
        "[here](../core/clock.hpp) [there](../core/watch.hpp#x)\n"
    ),
}
EXPECTED = [
    "sdk/core/README.md:2",
    "sdk/core/README.md:3",
    "sdk/core/README.md:4",
    "sdk/core/README.md:8",
]
