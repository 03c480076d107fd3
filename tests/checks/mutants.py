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


def entry(name: str, place: str, text: str, replacement: str) -> str:
    key = "file" if "/" in place else "in"
    return f"mutant {name}: x\n{key} {place}\nreplace\n{text}\nwith\n{replacement}\nend\n"


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
    "sdk/core/box.hpp": (
        "namespace n {\nclass Box : Base<int> {\npublic:\n"
        "    explicit Box(int a) : a_{a}, b_{f(1)} { ++a_; }\n"
        "    template <typename T>\n    T take(std::vector<T> from) const { return from[a_]; }\n"
        "    int put(int a);\n    int put() { return a_ + 1; }\n"
        "    bool operator==(const Box& with) const { return a_ == with.a_; }\n"
        "private:\n    int a_{0};\n};\n}\n"
    ),
    "sdk/core/box.cpp": (
        "namespace n {\nnamespace {\nint help(int a) { return a; }\n}\n"
        "int Box::put(int a) {\n    if (a > 1) { // {\n        return help(a_ + 1);\n    }\n"
        "    return a;\n}\n}\n"
    ),
    LISTS + "functions.mutants": (
        entry("begun", "Box::Box", "++a_;", "if (!MUTATED) { ++a_; }")
        + entry("taken", "Box::take", "from[a_]", "from[MUTATED ? 0 : a_]")
        + entry("put", "Box::put", "if (a > 1) {\n return", "if (MUTATED) { return")
        + entry("equal", "Box::operator==", "a_ == with.a_", "MUTATED || a_ == with.a_")
        + entry("helped", "help", "return a;", "return MUTATED ? 0 : a;")
        + entry("twice", "Box::put", "a_ + 1", "a_ + (MUTATED ? 2 : 1)")
        + entry("gone", "Box::take_all", "a_", "MUTATED")
        + entry("elsewhere_in_it", "Box::put", "++a_;", "MUTATED")
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
    LISTS + "functions.mutants:39",  # in two functions of the name
    LISTS + "functions.mutants:46",  # no such function
    LISTS + "functions.mutants:53",  # in another function
    LISTS + "misfits.mutants:3",  # no match
    LISTS + "misfits.mutants:10",  # several matches
    LISTS + "misfits.mutants:17",  # no such file
    LISTS + "misfits.mutants:24",  # overlaps a replacement of the other list
]
