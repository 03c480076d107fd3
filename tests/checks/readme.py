# SPDX-License-Identifier: MIT
"""The README's program is the first sample, and the table of sdk/docs/options.md names exactly the
processor's options."""

import re

README = "README.md"
GUIDE = "sdk/docs/options.md"
SAMPLE = "samples/01_hello_session.cpp"
LICENSE = "// SPDX-License-Identifier: MIT\n"  # the README does not repeat it
OPTIONS = "include/sessionq/processor_options.hpp"


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def check(root) -> list[str]:
    text = (root / README).read_text(encoding="utf-8")
    found = []

    program = re.search(r"```cpp\n(.*?)```", text, re.DOTALL)
    sample = (root / SAMPLE).read_text(encoding="utf-8").removeprefix(LICENSE)
    if not program or program.group(1) != sample:
        found.append(
            f"{README}:{line_of(text, program.start() if program else 0)}: the program is not the"
            f" text of {SAMPLE}"
        )

    options = (root / OPTIONS).read_text(encoding="utf-8")
    body = re.search(r"struct SessionProcessorOptions \{\n(.*?)\n\};", options, re.DOTALL).group(1)
    members = re.findall(r"^    [\w:<>]+ (\w+)\{.*\};", body, re.MULTILINE)
    guide = (root / GUIDE).read_text(encoding="utf-8")
    table = re.search(r"## Options of a processor\n(.*?)\n## ", guide, re.DOTALL)
    rows = re.findall(r"^\| `(\w+)`", table.group(1), re.MULTILINE) if table else []
    if rows != members:
        found.append(
            f"{GUIDE}:{line_of(guide, table.start() if table else 0)}: the table names {rows}, the"
            f" header {members}"
        )
    return found


FIXTURE = {
    README: "# a\n```cpp\nint a;\n```\n",
    GUIDE: "# a\n## Options of a processor\n| `one` | 1 |\n## Threads\n",
    SAMPLE: "int b;\n",
    OPTIONS: (
        "struct SessionProcessorOptions {\n    /// One.\n    int one{1};\n    std::vector<int>"
        " two{};\n};\n"
    ),
}
EXPECTED = ["README.md:2", "sdk/docs/options.md:2"]
