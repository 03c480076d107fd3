# SPDX-License-Identifier: MIT
"""The comment above every public class states its thread safety.

Structs are plain values. They state it where it is not obvious.
"""

import re

from source_text import sources

CLASS = re.compile(r"\s*class\s+(?:\[\[\w+\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::[^;{]*)?\{")


def check(root) -> list[str]:
    found = []
    for path in sources(root, "include"):
        if path.parent.name == "detail":  # not for applications
            continue
        comment = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            text = line.strip()
            if text.startswith("///"):
                comment += text[3:]
                continue
            match = CLASS.match(line)
            if match and "Thread safety" not in comment:
                found.append(
                    f"{path.relative_to(root)}:{number}: class {match.group(1)} does not state its"
                    " thread safety"
                )
            if not text.startswith(("template", "[[")):
                comment = ""
    return found


FIXTURE = {
    "include/sessionq/detail/inner.hpp": "/// Says nothing of it.\nclass Inner {};\n",
    "include/sessionq/a.hpp": (
        "class Ahead;\nenum class Colour { red };\n\n"
        "/// Thread safety: distinct objects are safe.\ntemplate <class T>\nclass Good {\n};\n\n"
        "/// Says nothing of it.\nclass Bad final : public std::Good {\n};\n\nclass Worse {};\n"
    ),
}
EXPECTED = ["include/sessionq/a.hpp:10", "include/sessionq/a.hpp:13"]
