# SPDX-License-Identifier: MIT
"""Unit tests move a manual clock; none waits for real time to pass."""

from source_text import lines_matching, sources

# A member called sleep is somebody's own.
SLEEPS = r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\s*\(|(?<![.>\w])sleep\s*\("


def check(root) -> list[str]:
    return lines_matching(root, sources(root, "tests/unit"), SLEEPS, "unit tests do not sleep")


FIXTURE = {
    "tests/unit/core/a_test.cpp": (
        'void f() {\n    // sleep_for(1s)\n    say("sleep(1)");\n   '
        " std::this_thread::sleep_for(1s);\n}\n"
    ),
    "tests/unit/core/b_test.cpp": (
        "int a = 1'000;\nvoid f() { ::usleep(5); }\nvoid sleeper(int); int x ="
        " next_sleep_after(3);\nvoid g() { sleepers.sleep(); them->sleep(); ::sleep(1); }\n"
    ),
    "tests/simulation/c.cpp": "void f() { sleep(1); }\n",
}
EXPECTED = [
    "tests/unit/core/a_test.cpp:4",
    "tests/unit/core/b_test.cpp:2",
    "tests/unit/core/b_test.cpp:4",
]
