# SPDX-License-Identifier: MIT
"""The troubleshooting guide has an entry for each health cause, each Errc and each log event."""

import re

GUIDE = "sdk/TROUBLESHOOTING.md"
SOURCES = (
    ("include/sessionq/health.hpp", r"enum class HealthCause[^{]*\{(.*?)\n\};", r"^    (\w+),"),
    ("include/sessionq/error.hpp", r"enum class Errc \{(.*?)\n\};", r"^    (\w+)(?: = 1)?,"),
    ("sdk/core/log_events.hpp", r"(.*)", r"^inline constexpr std::string_view (\w+)\{"),
)


def check(root) -> list[str]:
    guide = (root / GUIDE).read_text(encoding="utf-8")
    entries = re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE)
    found = []
    known = set()
    for path, part, name in SOURCES:
        text = (root / path).read_text(encoding="utf-8")
        body = re.search(part, text, re.DOTALL)
        for match in re.finditer(name, body.group(1), re.MULTILINE):
            known.add(match.group(1))
            if match.group(1) not in entries:
                line = text.count("\n", 0, body.start(1) + match.start(1)) + 1
                found.append(f"{path}:{line}: {GUIDE} has no entry for {match.group(1)}")
    for entry in re.finditer(r"^\| `(\w+)` \|", guide, re.MULTILINE):
        if entry.group(1) not in known:
            line = guide.count("\n", 0, entry.start()) + 1
            found.append(f"{GUIDE}:{line}: there is no {entry.group(1)}")
    return found


FIXTURE = {
    GUIDE: "# a\n| `slow` | a |\n| `lost` | b |\n| `gone` | c |\n",
    "include/sessionq/health.hpp": "enum class HealthCause : int {\n    slow,\n    silent,\n};\n",
    "include/sessionq/error.hpp": "enum class Errc {\n    lost = 1,\n    full,\n};\n",
    "sdk/core/log_events.hpp": "inline constexpr std::string_view opened{\"opened\"};\n",
}
EXPECTED = [
    "include/sessionq/health.hpp:3",
    "include/sessionq/error.hpp:3",
    "sdk/core/log_events.hpp:1",
    "sdk/TROUBLESHOOTING.md:4",
]
