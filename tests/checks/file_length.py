# SPDX-License-Identifier: MIT
"""No source file grows beyond 500 lines. Tests may."""

from source_text import sources

LIMIT = 500


def check(root) -> list[str]:
    found = []
    for path in sources(root, "include", "sdk", "samples"):
        length = path.read_text(encoding="utf-8").count("\n")
        if length > LIMIT:
            found.append(f"{path.relative_to(root)}:{length}: {length} lines, {LIMIT} at most")
    return found


FIXTURE = {
    "sdk/core/long.cpp": "\n" * 501,
    "include/sessionq/full.hpp": "\n" * 500,
    "tests/unit/core/long_test.cpp": "\n" * 900,
}
EXPECTED = ["sdk/core/long.cpp:501"]
