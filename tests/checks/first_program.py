#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the README's first program against an installed package and runs it.

    first_program.py ROOT PREFIX

The flags are those of pkg-config. The program must handle each session's messages in order.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = ["placed", "paid", "shipped"]


def flags(prefix: Path) -> list[str]:
    folders = {str(path.parent) for path in prefix.rglob("sessionq-local-broker.pc")}
    environment = {**os.environ, "PKG_CONFIG_PATH": ":".join(folders)}
    told = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "--static", "sessionq-local-broker"],
        env=environment, check=True, capture_output=True, text=True,
    )
    return told.stdout.split()


def problem(printed: str) -> str | None:
    handled: dict[str, list[str]] = {}
    for line in printed.splitlines():
        session, _, step = line.partition(": ")
        handled.setdefault(session, []).append(step)
    if len(handled) < 2:
        return f"expected several sessions, printed {printed!r}"
    for session, steps in handled.items():
        if steps != STEPS:
            return f"session {session}: expected {STEPS}, handled {steps}"
    return None


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root, prefix = (Path(argument).resolve() for argument in arguments)
    text = (root / "README.md").read_text(encoding="utf-8")
    program = re.search(r"```cpp\n(.*?)```", text, re.DOTALL)
    if not program:
        print("README.md has no program")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "program.cpp", Path(folder) / "program"
        source.write_text(program.group(1), encoding="utf-8")
        compiler = os.environ.get("CXX", "g++")
        subprocess.run(
            [compiler, "-std=c++20", str(source), "-o", str(binary), *flags(prefix)], check=True
        )
        printed = subprocess.run(
            [str(binary)], check=True, capture_output=True, text=True, timeout=60
        ).stdout
    wrong = problem(printed)
    print(wrong or printed, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
