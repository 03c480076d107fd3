# SPDX-License-Identifier: MIT
"""Every entry of the simulation's lists of mutants fits the source that it changes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulation"))
import mutate  # noqa: E402


def check(root) -> list[str]:
    lists = sorted((root / LISTS).glob("*.mutants"))
    named = [(path, path.relative_to(root).as_posix()) for path in lists]
    mutants, faults = mutate.parse_all(named)
    return faults + mutate.mutate(root / "sdk", mutants)[1]


def entry(name: str, file: str, text: str, replacement: str) -> str:
    return f"mutant {name}: x\nfile {file}\nreplace\n{text}\nwith\n{replacement}\nend\n"


LISTS = "tests/simulation/mutants/"
FIXTURE = {
    "sdk/core/a.cpp": "int f(int a) {\n    if (a < 1) {\n        a = 2;\n    }\n    return a;\n}\n",
    "sdk/core/c.cpp": "int g() { return 3 + 4; }\n",
    LISTS + "fits.mutants": (
        "# Seven lines an entry.\n"
        + entry("moved", "core/a.cpp", "if (a\n< 1) {", "if (a < (MUTATED ? 2 : 1)) {")
        + entry("shared", "core/a.cpp", "a = 2;", "a = MUTATED || MUTATED(elsewhere) ? 3 : 2;")
        + "mutant elsewhere: has no replacement of its own\nseen by network\nscenario steady\n"
    ),
    LISTS + "misfits.mutants": (
        entry("absent", "core/a.cpp", "a = 4;", "MUTATED")
        + entry("unclear", "core/a.cpp", "a", "MUTATED")
        + entry("nowhere", "core/b.cpp", "a", "MUTATED")
        + entry("overlaps", "core/a.cpp", "1) {", "MUTATED")
    ),
    LISTS + "names.mutants": (
        entry("same", "core/c.cpp", "int g", "MUTATED")
        + entry("same", "core/c.cpp", "return", "MUTATED")
        + entry("never", "core/c.cpp", "3", "5")
        + entry("other", "core/c.cpp", "4", "MUTATED(missing)")
    ),
    LISTS + "open.mutants": "mutant open: x\nfile core/a.cpp\nreplace\na\nwith\nb\n",
    LISTS + "word.mutants": "mutant word: x\nfile core/a.cpp\nchange\n",
}
EXPECTED = [
    LISTS + "open.mutants:3",  # the block is not closed
    LISTS + "word.mutants:3",  # unknown word
    LISTS + "names.mutants:17",  # does not ask
    LISTS + "names.mutants:24",  # asks for a mutant that does not exist
    LISTS + "names.mutants:8",  # the same name again
    LISTS + "names.mutants:15",  # nothing asks for this one
    LISTS + "names.mutants:22",
    LISTS + "misfits.mutants:3",  # no match
    LISTS + "misfits.mutants:10",  # several matches
    LISTS + "misfits.mutants:24",  # overlaps a replacement of the other list
    LISTS + "misfits.mutants:17",  # no such file
]
