# SPDX-License-Identifier: MIT
"""Time is an argument: only one file of the library reads a clock, and none sleeps."""

from source_text import lines_matching, sources

READS = (
    r"\b(steady_clock|system_clock|high_resolution_clock|utc_clock)::now\b"
    r"|\b(clock_gettime|gettimeofday|timespec_get|sleep_for|sleep_until|usleep|nanosleep)\s*\("
    r"|\bstd::time\s*\("
)
THE_READER = "sdk/core/clock.cpp"


def check(root) -> list[str]:
    files = [path for path in sources(root, "sdk", "include") if path != root / THE_READER]
    return lines_matching(root, files, READS, f"only {THE_READER} reads a clock")


FIXTURE = {
    "sdk/core/clock.cpp": "auto a = std::chrono::steady_clock::now();\n",
    "sdk/timing/a.cpp": (
        "using T = std::chrono::steady_clock::time_point;\n/* system_clock::now() */ auto b ="
        " std::chrono::system_clock::now();\n"
    ),
    "include/sessionq/a.hpp": (
        "/// steady_clock::now() is not called here.\nvoid f() {"
        " std::this_thread::sleep_for(1s); }\n"
    ),
}
EXPECTED = ["sdk/timing/a.cpp:2", "include/sessionq/a.hpp:2"]
