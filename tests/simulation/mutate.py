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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "checks"))
import cpp_scan  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SWITCH = re.compile(r"\bMUTATED\b(?:\((\w+)\))?")
HEADER = re.compile(r"(mutant|seen by|scenario|file|in)\s+(.*\S)\s*$")
SEEN = {"both": "true, true", "port": "true, false", "network": "false, true"}


@dataclass
class Edit:
    """One replacement. `where` is the line of the list that starts it."""

    where: str
    place: "Place"
    text: str
    replacement: str


@dataclass(frozen=True)
class Place:
    """The functions of a name, wherever they are, or a whole file."""

    function: str = ""
    file: str = ""

    def __str__(self) -> str:
        return self.function or self.file


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
    place: Place | None = None
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
            if not mutants or place is None:
                raise Broken(f"{where}: 'replace' needs a mutant, and a function or a file")
            text = block("with", number)
            replacement = block("end", number)
            if not text.strip():
                raise Broken(f"{where}: the text to replace is empty")
            mutants[-1].edits.append(Edit(where, place, text, replacement))
            continue
        match = HEADER.match(line)
        if not match:
            raise Broken(f"{where}: expected mutant, seen by, scenario, in, file or replace")
        key, value = match.groups()
        if key == "mutant":
            title, colon, breaks = value.partition(": ")
            if not colon or not re.fullmatch(r"\w+", title):
                raise Broken(f"{where}: expected 'mutant NAME: what it breaks'")
            mutants.append(Mutant(where, title, breaks))
            place = None
        elif not mutants:
            raise Broken(f"{where}: '{key}' needs a mutant")
        elif key == "in":
            place = Place(function=value)
        elif key == "file":
            place = Place(file=value)
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
    """Matches the text; any white space and comments stand for any others."""
    words = cpp_scan.blank(text, keep_literals=True).split()
    return re.compile(r"\s+".join(re.escape(word) for word in words))


class Sources:
    """The files of sdk/, and where the functions are that mutants name."""

    def __init__(self, sdk: Path, mutants: list[Mutant]):
        self.texts = {
            path.relative_to(sdk).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(sdk.rglob("*.[ch]pp"))
        }
        self.bare: dict[str, str] = {}  # without comments
        self.spans: dict[Place, list[tuple[str, int, int]]] = {}
        for place in {edit.place for mutant in mutants for edit in mutant.edits}:
            self.spans[place] = []
        words = {place: re.findall(r"\w+", place.function) for place in self.spans}
        for file, text in self.texts.items():
            known = {place for place in words if all(word in text for word in words[place])}
            known = {place for place in known if place.file in ("", file)}
            named = any(place.function for place in known)
            bodies = cpp_scan.functions(cpp_scan.code_of(text)) if named else []
            for place in known:
                if place.file:
                    self.spans[place].append((file, 0, len(text)))
                for body in bodies if place.function else []:
                    if body.name == place.function:
                        self.spans[place].append((file, body.start, body.end))

    def find(self, edit: Edit) -> list[tuple[str, int, int]]:
        """Each place of the edit's text."""
        wanted = pattern(edit.text)
        return [
            (file, begin + found.start(), begin + found.end())
            for file, begin, end in self.spans[edit.place]
            for found in wanted.finditer(self.text_of(file)[begin:end])
        ]

    def text_of(self, file: str) -> str:
        if file not in self.bare:
            self.bare[file] = cpp_scan.blank(self.texts[file], keep_literals=True)
        return self.bare[file]


def mutate(sdk: Path, mutants: list[Mutant]) -> tuple[dict[str, str], list[str]]:
    """The text of each copy by its file's name, and the entries that do not fit."""
    sources = Sources(sdk, mutants)
    places: dict[str, list[tuple[int, int, Edit, str]]] = {}
    faults = []
    for mutant in mutants:
        for edit in mutant.edits:
            found = sources.find(edit)
            if len(found) == 1:
                file, start, end = found[0]
                places.setdefault(file, []).append((start, end, edit, mutant.name))
            elif not sources.spans[edit.place]:
                kind = "function" if edit.place.function else "file"
                faults.append(f"{edit.where}: {mutant.name}: there is no {kind} {edit.place}")
            else:
                faults.append(
                    f"{edit.where}: {mutant.name}: {edit.place} has the text {len(found)} times, "
                    "not once"
                )
    copies = {}
    for file, changes in sorted(places.items()):
        changes.sort(key=lambda change: change[0])
        for (_, end, _, first), (start, _, edit, name) in zip(changes, changes[1:]):
            if start < end:
                faults.append(f"{edit.where}: {name} overlaps {first} in {file}")
        text = sources.texts[file]
        for start, end, edit, name in reversed(changes):
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
    copied = set(mutate(sdk, mutants)[0])
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
