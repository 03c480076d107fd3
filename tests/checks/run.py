#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one check of the source tree, or shows that the check can fail.

    run.py CHECK ROOT
    run.py CHECK --self-test

A check is a module beside this file. check(root) returns its violations. FIXTURE (path -> text)
is a small tree, and EXPECTED lists the "path:line" of each violation in it, in order. Everything
else in the fixture must pass.
"""

import importlib
import sys
import tempfile
from pathlib import Path


def self_test(module) -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in module.FIXTURE.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        found = [":".join(violation.split(":")[:2]) for violation in module.check(root)]
    if found == module.EXPECTED:
        print(f"reports exactly the {len(found)} violations of its fixture")
        return 0
    print(f"expected {module.EXPECTED}\nreported {found}")
    return 1


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    module = importlib.import_module(arguments[0])
    if arguments[1] == "--self-test":
        return self_test(module)
    violations = module.check(Path(arguments[1]).resolve())
    print("\n".join(violations) if violations else "no violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
