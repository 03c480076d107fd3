# SPDX-License-Identifier: MIT
"""Builds test programs once more with some sources replaced, from what a build directory knows."""

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Relink:
    """`copies` holds the replaced files below copies/sdk; objects and programs go beside them."""

    def __init__(self, root: Path, build: Path, work: Path, jobs: int):
        self.root, self.build, self.work, self.jobs = root, build, work, jobs
        self.includes: dict[Path, set[Path]] = {}
        self.archives: dict[str, set[str]] = {}
        text = (build / "compile_commands.json").read_text(encoding="utf-8")
        self.commands = {
            shlex.split(entry["command"])[-3]: entry for entry in json.loads(text)
        }  # by object

    def included(self, path: Path) -> set[Path]:
        """The project's own headers that a source includes, directly or indirectly."""
        if path not in self.includes:
            self.includes[path] = set()
            found: set[Path] = set()
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                for folder in (self.root / "sdk", self.root / "tests", path.parent):
                    header = folder / name
                    if header.is_file():
                        found |= {header} | self.included(header)
                        break
            self.includes[path] = found
        return self.includes[path]

    def users(self, header: Path) -> int:
        """How many sources of the library include the header."""
        sources = (self.root / "sdk").rglob("*.cpp")
        return sum(header in self.included(source) for source in sources)

    def link_command(self, program: str) -> list[str]:
        printed = subprocess.run(
            ["ninja", "-C", str(self.build), "-t", "commands", f"bin/{program}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for line in reversed(printed.splitlines()):
            parts = line.split(" && ")
            if len(parts) > 1 and f" -o bin/{program} " in parts[1]:
                return shlex.split(parts[1])
        raise SystemExit(f"mutation: {self.build} does not say how to link {program}")

    def members(self, archive: str) -> set[str]:
        """The objects in a library of the project, none for other libraries."""
        if archive not in self.archives:
            printed = subprocess.run(
                ["ninja", "-C", str(self.build), "-t", "query", archive],
                capture_output=True,
                text=True,
            ).stdout
            self.archives[archive] = {word for word in printed.split() if word in self.commands}
        return self.archives[archive]

    def objects(self, programs: list[str], changed: set[Path]) -> dict[str, list[str]]:
        """Which objects of each program are compiled again, and of the libraries that it links.

        The simulation compiles some sources of the library itself. It gets the library's.
        """
        wanted: dict[str, list[str]] = {}
        for program in programs:
            linked = set(self.link_command(program))
            archived = {
                name for word in linked if word.endswith(".a") for name in self.members(word)
            }
            wanted[program] = []
            for name, entry in self.commands.items():
                source = Path(entry["file"])
                own = name in linked and not self.is_copy(name, entry["file"])
                if not (own or name in archived):
                    continue
                if source.is_file() and changed & ({source} | self.included(source)):
                    wanted[program].append(name)
        return wanted

    def compile(self, name: str) -> tuple[str, str]:
        """(object, what the compiler said if it failed)."""
        entry = self.commands[name]
        out = self.work / "objects" / name
        out.parent.mkdir(parents=True, exist_ok=True)
        source = Path(entry["file"])
        copies = self.work / "copies"
        copy = copies / source.relative_to(self.root)
        words = [word for word in shlex.split(entry["command"]) if not word.startswith("-W")]
        words[-4:] = [
            "-include",
            "mutation/switch.hpp",
            "-o",
            str(out),
            "-c",
            str(copy if copy.is_file() else source),
        ]
        words[1:1] = ["-w", f"-I{copies / 'sdk'}", f"-I{self.root / 'tests'}"]
        ran = subprocess.run(
            ["ccache", *words] if words[0].endswith("++") else words,
            cwd=entry["directory"],
            capture_output=True,
            text=True,
        )
        return name, ran.stderr if ran.returncode != 0 else ""

    def compile_all(self, names: set[str]) -> str:
        with ThreadPoolExecutor(self.jobs) as pool:
            return "".join(said for _, said in pool.map(self.compile, sorted(names)))

    def link(self, program: str, names: list[str]) -> Path:
        words = self.link_command(program)
        out = self.work / "bin" / program
        out.parent.mkdir(parents=True, exist_ok=True)
        words[words.index("-o") + 1] = str(out)
        # A copy replaces the object of its name, and one that the simulation made of its source.
        sources = {self.commands[name]["file"] for name in names}
        kept, placed = [], set()
        for word in words:
            source = self.commands.get(word, {}).get("file", "")
            if word in names:
                kept.append(str(self.work / "objects" / word))
                placed.add(word)
            elif self.original(source) not in sources:
                kept.append(word)
        front = [str(self.work / "objects" / name) for name in names if name not in placed]
        at = kept.index("-o")
        kept[at:at] = front
        subprocess.run(kept, cwd=self.build, check=True)
        return out

    def is_copy(self, name: str, source: str) -> bool:
        """Whether a test program compiles this source of the library itself."""
        inside = Path(self.original(source)).is_relative_to(self.root / "sdk")
        return inside and name.startswith("tests/")

    def original(self, source: str) -> str:
        """The source in sdk/ of which the simulation compiles a mutated copy."""
        inside = source.partition("/mutated/sdk/")[2]
        return str(self.root / "sdk" / inside) if inside else source
