#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies the sources of sdk/ that mutants change, with every mutant built in and switched off.

    mutate.py plan SDK LIST...        prints which files to copy and which to compile with them
    mutate.py write SDK OUT LIST...   writes the copies and OUT/mutant_list.inc

A list describes mutants; tests/simulation/mutants/processor.mutants explains the format. A copied
header hides the original, so every source that includes it is compiled again. `plan` ignores
entries that do not fit. `write` fails and names each of them. It writes only files whose text
changes.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SWITCH = re.compile(r"\bMUTATED\b(?:\((\w+)\))?")
HEADER = re.compile(r"(mutant|seen by|scenario|file)\s+(.*\S)\s*$")
SEEN = {"both": "true, true", "port": "true, false", "network": "false, true"}


@dataclass
class Edit:
    """One replacement. `where` is the line of the list that starts it."""

    where: str
    file: str
    text: str
    replacement: str


@dataclass
class Mutant:
    where: str
    name: str
    breaks: str
    seen: str = "both"
    scenario: str = ""
    edits: list[Edit] = field(default_factory=list)


class Broken(Exception):
    """A list that cannot be read. The fault reads path:line: text."""

    def __init__(self, fault: str):
        super().__init__(fault)
        self.fault = fault


def parse(path: Path, name: str) -> list[Mutant]:
    """The mutants of one list. `name` is the list's name in messages."""
    mutants: list[Mutant] = []
    file = ""
    lines = iter(enumerate(path.read_text(encoding="utf-8").split("\n"), 1))

    def block(ends: str, begun: int) -> str:
        taken = []
        for _, line in lines:
            if line.rstrip() == ends:
                return "\n".join(taken)
            taken.append(line)
        raise Broken(f"{name}:{begun}: the block has no '{ends}'")

    for number, line in lines:
        where = f"{name}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line.rstrip() == "replace":
            if not mutants or not file:
                raise Broken(f"{where}: 'replace' needs a mutant and a file")
            text = block("with", number)
            replacement = block("end", number)
            if not text.strip():
                raise Broken(f"{where}: the text to replace is empty")
            mutants[-1].edits.append(Edit(where, file, text, replacement))
            continue
        match = HEADER.match(line)
        if not match:
            raise Broken(f"{where}: expected mutant, seen by, scenario, file or replace")
        key, value = match.groups()
        if key == "mutant":
            title, colon, breaks = value.partition(": ")
            if not colon or not re.fullmatch(r"\w+", title):
                raise Broken(f"{where}: expected 'mutant NAME: what it breaks'")
            mutants.append(Mutant(where, title, breaks))
            file = ""
        elif not mutants:
            raise Broken(f"{where}: '{key}' needs a mutant")
        elif key == "file":
            file = value
        elif key == "scenario":
            mutants[-1].scenario = value
        elif value in SEEN:
            mutants[-1].seen = value
        else:
            raise Broken(f"{where}: 'seen by' takes {', '.join(SEEN)}")
    return mutants


def parse_all(lists: list[tuple[Path, str]]) -> tuple[list[Mutant], list[str]]:
    """The mutants of all lists that can be read, and what is wrong with the lists."""
    mutants: list[Mutant] = []
    faults = []
    for path, name in lists:
        try:
            mutants += parse(path, name)
        except Broken as broken:
            faults.append(broken.fault)
    names = {mutant.name for mutant in mutants}
    asked: set[str] = set()
    for mutant in mutants:
        for edit in mutant.edits:
            wanted = {name or mutant.name for name in SWITCH.findall(edit.replacement)}
            asked |= wanted
            if not wanted:
                faults.append(f"{edit.where}: the replacement does not ask MUTATED")
            for name in sorted(wanted - names):
                faults.append(f"{edit.where}: there is no mutant '{name}'")
    seen: set[str] = set()
    for mutant in mutants:
        if mutant.name in seen:
            faults.append(f"{mutant.where}: '{mutant.name}' is listed twice")
        elif mutant.name not in asked:
            faults.append(f"{mutant.where}: no replacement asks for '{mutant.name}'")
        seen.add(mutant.name)
    return mutants, faults


def pattern(text: str) -> re.Pattern:
    """Matches the text; any white space stands for any other."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


def mutate(sdk: Path, mutants: list[Mutant]) -> tuple[dict[str, str], list[str]]:
    """The text of each copy by its file's name, and the entries that do not fit."""
    edits: dict[str, list[tuple[Edit, str]]] = {}
    faults = []
    for mutant in mutants:
        for edit in mutant.edits:
            edits.setdefault(edit.file, []).append((edit, mutant.name))
    copies = {}
    for file, wanted in sorted(edits.items()):
        if not (sdk / file).is_file():
            faults += [f"{edit.where}: {name}: there is no file {file}" for edit, name in wanted]
            continue
        text = (sdk / file).read_text(encoding="utf-8")
        places = []
        for edit, name in wanted:
            found = list(pattern(edit.text).finditer(text))
            if len(found) == 1:
                places.append((found[0].start(), found[0].end(), edit, name))
            else:
                faults.append(
                    f"{edit.where}: {name}: {file} has the text {len(found)} times, not once"
                )
        places.sort(key=lambda place: place[0])
        for (_, end, _, first), (start, _, edit, name) in zip(places, places[1:]):
            if start < end:
                faults.append(f"{edit.where}: {name} overlaps {first} in {file}")
        for start, end, edit, name in reversed(places):
            asks = SWITCH.sub(
                lambda match: f'::sessionq::simulation::mutated("{match.group(1) or name}")',
                edit.replacement.strip(),
            )
            text = text[:start] + asks + text[end:]
        copies[file] = '#include "simulation/mutated.hpp"\n' + text
    return copies, faults


def sources_beside(sdk: Path, copied: set[str]) -> list[str]:
    """The sources, not copied themselves, that include a copied header directly or indirectly."""
    including = {
        path.relative_to(sdk).as_posix(): set(INCLUDE.findall(path.read_text(encoding="utf-8")))
        for path in sorted(sdk.rglob("*.[ch]pp"))
    }
    reached = {file for file in copied if file.endswith(".hpp")}
    while True:
        more = {file for file, names in including.items() if names & reached} - reached
        if not more:
            break
        reached |= more
    return sorted(
        file for file in reached - copied if file.endswith(".cpp") and not file.startswith("tools/")
    )


def write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def plan(sdk: Path, lists: list[tuple[Path, str]]) -> tuple[list[str], list[str]]:
    mutants, _ = parse_all(lists)
    copied = {edit.file for mutant in mutants for edit in mutant.edits}
    copied = {file for file in copied if (sdk / file).is_file()}
    return sorted(copied), sources_beside(sdk, copied)


def write(sdk: Path, out: Path, lists: list[tuple[Path, str]]) -> list[str]:
    """Writes nothing if there are faults, and returns them."""
    mutants, faults = parse_all(lists)
    copies, unfit = mutate(sdk, mutants)
    if faults + unfit:
        return faults + unfit
    for stale in sorted((out / "sdk").rglob("*.[ch]pp")):
        if stale.relative_to(out / "sdk").as_posix() not in copies:
            stale.unlink()
    for file, text in copies.items():
        write_if_changed(out / "sdk" / file, text)
    rows = [
        f'    {{"{mutant.name}", {SEEN[mutant.seen]}, "{mutant.scenario}"}},\n'
        for mutant in mutants
    ]
    write_if_changed(out / "mutant_list.inc", "".join(rows))
    return []


def main(arguments: list[str]) -> int:
    if len(arguments) < 3 or arguments[0] not in ("plan", "write"):
        print(__doc__, file=sys.stderr)
        return 2
    sdk = Path(arguments[1])
    names = arguments[2:] if arguments[0] == "plan" else arguments[3:]
    lists = [(Path(name), Path(name).name) for name in names]
    copied, beside = plan(sdk, lists)
    planned = ";".join(copied) + "\n" + ";".join(beside) + "\n"
    if arguments[0] == "plan":
        print(planned, end="")
        return 0
    faults = write(sdk, Path(arguments[2]), lists)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    # CMake reads the plan when it configures. A plan that has changed makes it configure again.
    kept = Path(arguments[2]) / "plan.txt"
    if kept.read_text(encoding="utf-8") != planned:
        kept.write_text(planned, encoding="utf-8")
        print("mutants: other sources include mutated headers now; build again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
