# SPDX-License-Identifier: MIT
"""Each rule in the table of sdk/RULES.md names tests that exist and name the rule. A rule
without tests says that it is not kept yet, and the rules are numbered without a gap."""

import re

TABLE = "sdk/RULES.md"


def check(root) -> list[str]:
    found = []
    expected = 1
    for number, line in enumerate((root / TABLE).read_text(encoding="utf-8").split("\n"), 1):
        row = re.match(r"\| R(\d+) \| (.*) \| (.*) \|$", line)
        if not row:
            continue
        rule, text, tests = int(row.group(1)), row.group(2), re.findall(r"`([^`]+)`", row.group(3))
        if rule != expected:
            found.append(f"{TABLE}:{number}: R{rule} comes where R{expected} is expected")
        expected = rule + 1
        if not tests and not text.startswith("Not kept yet"):
            found.append(f"{TABLE}:{number}: R{rule} names no test")
        for test in tests:
            path = root / "tests" / test
            if not path.is_file():
                found.append(f"{TABLE}:{number}: there is no tests/{test}")
            elif not re.search(rf"\bR{rule}\b", path.read_text(encoding="utf-8")):
                found.append(f"{TABLE}:{number}: tests/{test} does not name R{rule}")
    if expected == 1:
        found.append(f"{TABLE}:1: there is no table of rules")
    return found


FIXTURE = {
    TABLE: (
        "| rule | what | tests |\n| R1 | a | `unit/a_test.cpp` |\n| R2 | b | `unit/b_test.cpp` |\n"
        "| R3 | c | - |\n| R4 | Not kept yet: d | - |\n| R6 | f | `unit/a_test.cpp` |\n"
    ),
    "tests/unit/a_test.cpp": 'TEST_CASE("R1: a") {}\n',
}
EXPECTED = [f"{TABLE}:3", f"{TABLE}:4", f"{TABLE}:6", f"{TABLE}:6"]
