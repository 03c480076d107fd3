# SPDX-License-Identifier: MIT
"""Each source file begins with its license, behind a #! line if it has one."""

from pathlib import Path

LICENSE = "SPDX-License-Identifier: MIT"
FOLDERS = ("cmake", "include", "samples", "sdk", "tests", ".ci")
COMMENTS = {
    ".cpp": "//",
    ".hpp": "//",
    ".inc": "//",
    ".mjs": "//",
    ".js": "//",
    ".go": "//",
    ".java": "//",
    ".py": "#",
    ".sh": "#",
    ".bash": "#",
    ".cmake": "#",
}


def comment_of(path: Path, first: str) -> str | None:
    """What begins a comment in this file. None: it needs no license line."""
    if path.name == "CMakeLists.txt":
        return "#"
    if path.suffix in COMMENTS:
        return COMMENTS[path.suffix]
    return "#" if first.startswith("#!") else None


def check(root) -> list[str]:
    found = []
    files = [root / "CMakeLists.txt"]
    for folder in FOLDERS:
        files += sorted(path for path in (root / folder).rglob("*") if path.is_file())
    for path in files:
        if not path.is_file() or "node_modules" in path.parts or "__pycache__" in path.parts:
            continue
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            continue  # not a source
        comment = comment_of(path, lines[0])
        at = 1 if lines[0].startswith("#!") else 0
        if comment and (len(lines) <= at or lines[at] != f"{comment} {LICENSE}"):
            found.append(f"{path.relative_to(root)}:{at + 1}: is not '{comment} {LICENSE}'")
    return found


FIXTURE = {
    "CMakeLists.txt": f"# {LICENSE}\nproject(a)\n",
    "sdk/good.cpp": f"// {LICENSE}\nint a;\n",
    "sdk/bad.hpp": "int a;\n",
    "sdk/later.cpp": f"\n// {LICENSE}\n",
    "tests/run": f"#!/usr/bin/env bash\n# {LICENSE}\nset -e\n",
    "tests/script.py": f"#!/usr/bin/env python3\nprint()\n# {LICENSE}\n",
    "tests/data.json": "{}\n",
}
EXPECTED = ["sdk/bad.hpp:1", "sdk/later.cpp:1", "tests/script.py:2"]
