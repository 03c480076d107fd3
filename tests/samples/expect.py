#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program and checks how it ends: expect.py CODE PATTERN PROGRAM [ARGUMENT...].

PATTERN is a regular expression that must be found in the output, standard error included. A PATTERN
that begins with "json " holds key=value pairs instead: the last line must be a JSON object with
exactly the keys of a replay report and these values.
"""

import json
import re
import subprocess
import sys

KEYS = ["messages", "sessions", "rolls", "out_of_order", "lost", "duplicated", "longest_wait_ms"]
KEYS += ["seconds", "messages_per_second"]


def complaint(code: int, pattern: str, result: subprocess.CompletedProcess) -> str:
    output = result.stdout + result.stderr
    if result.returncode != code:
        return f"exit code {result.returncode} instead of {code}"
    if not pattern.startswith("json "):
        return "" if re.search(pattern, output) else f"no {pattern!r} in the output"
    report = json.loads(result.stdout.splitlines()[-1])
    if list(report) != KEYS:
        return f"keys {list(report)} instead of {KEYS}"
    for pair in pattern.split()[1:]:
        key, value = pair.split("=")
        if report[key] != int(value):
            return f"{key} is {report[key]} instead of {value}"
    return ""


def main(arguments: list[str]) -> int:
    code, pattern, command = int(arguments[0]), arguments[1], arguments[2:]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    wrong = complaint(code, pattern, result)
    if wrong:
        print(f"{' '.join(command)}: {wrong}\n{result.stdout}{result.stderr}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
