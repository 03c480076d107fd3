#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries a random sample of small changes to sdk/ and prints which of them no test notices.

    tests/mutation/run.py [--seed N] [--count N] [--parts LIST] [--build DIR] [--jobs N]
    tests/mutation/run.py --show        prints the sample and builds nothing

The script first brings the build directory (build) up to date. One build holds all changes of a
sample, each behind a switch: SESSIONQ_MUTANT=7 in the environment switches on change 7. Only the
changed sources are compiled again, and the programs that test them are linked again, below
build/mutation. A first run of each program, with every switch off, shows which changes it reaches.
Then each change runs with the programs that reach it, the fastest first, until one of them fails,
crashes or takes too long. First come the programs that test its part, then those that test all.

The same seed, count and parts give the same sample of the same sources. A change that survives
needs a test. If no test can notice it, it goes into equal.txt with the reason.
"""

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from relink import Relink  # noqa: E402
from sites import NUMBER, Site, sites  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
MOST = 65536  # as in switch.hpp
MOST_USERS = 12  # sources that may include a changed header; each is compiled again

SIMULATION = {
    "simulation": ["--seeds", "40"],
    "simulation --network": ["--network", "--seeds", "40"],
    "simulation, longer": ["--seeds", "2000"],
    "simulation --network, longer": ["--network", "--seeds", "500"],
}
# The programs that test a part, beside its own unit program.
TESTS = {
    "core": ["unit_timing", "unit_dispatch", "unit_processor", "unit_amqp", "unit_server"],
    "timing": ["unit_processor", "unit_amqp", "unit_broker", "simulation"],
    "dispatch": ["unit_processor", "unit_client", "simulation"],
    "ports": ["unit_processor", "unit_in_process", "unit_servicebus", "contract"],
    "processor": ["unit_client", "simulation", "simulation --network"],
    "broker": ["unit_in_process", "unit_server", "contract", "simulation --network"],
    "in_process": ["unit_client", "contract"],
    "amqp": [
        "unit_servicebus",
        "unit_groups",
        "unit_server",
        "contract",
        "contract_sessionqd",
        "simulation --network",
    ],
    "servicebus": ["contract", "contract_sessionqd", "simulation --network"],
    "groups": [],
    "server": [
        "unit_servicebus",
        "unit_client",
        "unit_tools",
        "contract",
        "contract_sessionqd",
        "simulation --network",
    ],
    "client": ["contract", "contract_sessionqd", "tools_sessionq"],
    "tools": [
        "unit_command_line",
        "tools_sessionq",
        "tools_sessionq_sending",
        "tools_sessionq_receiving",
        "tools_sessionq_watch",
        "tools_sessionq_top",
        "tools_sessionq_doctor",
        "tools_sessionq_proxy",
        "tools_sessionq_help",
        "tools_sessionqd_start",
        "tools_sessionqd_keys",
    ],
}
# The programs that test all parts together.
WHOLE = [
    "simulation, longer",
    "simulation --network, longer",
    "replay_one_slot_rolls",
    "replay_on_sessionqd",
    "promise_idle_timeout_is_tuned",
    "promise_nested_deadlines",
    "promise_pauses_and_restarts",
    "promise_stop_cancels_coroutines",
    "promise_work_then_reply",
    "faults_network",
    "faults_kill",
    "faults_kill_broker",
    "faults_operations",
    "faults_suspend",
]
# Tests that ctest knows with arguments, by the start of their names, and the programs they run.
SCRIPTED = {
    "tools_": ["sessionq", "sessionqd"],
    "promise_": ["promises", "sessionqd"],
    "replay_": ["replay", "sessionqd"],
    "faults_": ["faults", "fault_load", "sessionqd"],
}
# What is read after it was freed, or before it was set, is noticed, as the sanitizers notice it.
FREED = {"MALLOC_PERTURB_": "165"}


@dataclass
class Mutant:
    number: int
    file: str
    site: Site

    @property
    def key(self) -> str:
        return f"{self.file}: {self.site.kind}: {self.site.summary}"

    def __str__(self) -> str:
        return (
            f"{self.number:3d} {self.file}:{self.site.line} {self.site.kind}: {self.site.summary}"
        )


def known_equal() -> set[str]:
    lines = (Path(__file__).parent / "equal.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line.strip() and not line.startswith("#")}


def sample(parts: list[str], seed: int, count: int, relink: Relink) -> list[Mutant]:
    """Each kind of change is equally likely, and each place within a kind. None overlap."""
    by_kind: dict[str, list[tuple[str, Site]]] = {}
    for part in parts:
        for path in sorted((ROOT / "sdk" / part).rglob("*.[ch]pp")):
            if path.suffix == ".hpp" and relink.users(path) > MOST_USERS:
                continue
            for site in sites(path.read_text(encoding="utf-8")):
                name = path.relative_to(ROOT / "sdk").as_posix()
                by_kind.setdefault(site.kind, []).append((name, site))
    chance = random.Random(seed)
    for places in by_kind.values():
        chance.shuffle(places)
    equal = known_equal()
    mutants: list[Mutant] = []
    while len(mutants) < count and by_kind:
        kind = chance.choice(sorted(by_kind))
        file, site = by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]
        mutant = Mutant(len(mutants) + 1, file, site)
        free = all(
            each.file != file or site.end <= each.site.start or each.site.end <= site.start
            for each in mutants
        )
        if free and mutant.key not in equal:
            mutants.append(mutant)
    return mutants


def write_copies(mutants: list[Mutant], copies: Path) -> None:
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    for stale in copies.rglob("*.[ch]pp"):
        stale.unlink()
    for file, changes in by_file.items():
        text = (ROOT / "sdk" / file).read_text(encoding="utf-8")
        for mutant in sorted(changes, key=lambda each: -each.site.start):
            new = mutant.site.text.replace(NUMBER, str(mutant.number))
            text = text[: mutant.site.start] + new + text[mutant.site.end :]
        path = copies / "sdk" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def drop_uncompilable(mutants: list[Mutant], said: str) -> list[Mutant]:
    """Those that remain after a failed build: without the ones on lines that the compiler names."""
    lines = set()
    for file, line in re.findall(r"copies/sdk/(\S+?):(\d+):\d+: (?:fatal )?error", said):
        lines.add((file, int(line)))
    for file, line in re.findall(r"copies/sdk/(\S+?):(\d+):\d+: +required from", said):
        lines.add((file, int(line)))
    kept = []
    for mutant in mutants:
        last = mutant.site.line + mutant.site.text.count("\n")
        if any(
            file == mutant.file and mutant.site.line - 1 <= line <= last for file, line in lines
        ):
            print(f"{mutant}\n    does not compile")
        else:
            kept.append(mutant)
    if len(kept) == len(mutants):
        raise SystemExit(f"mutation: the build fails, and no change explains it\n{said}")
    return kept


def run(command: list[str], seconds: float, **environment: str) -> tuple[bool, str]:
    """(whether it passed, how it ended). What runs beside it has other directories."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        if "--directory" in command:
            at = command.index("--directory") + 1
            command = [*command[:at], own, *command[at + 1 :]]
        return run_there(command, seconds, environment)


def run_there(
    command: list[str], seconds: float, environment: dict[str, str]
) -> tuple[bool, str]:
    process = subprocess.Popen(
        command,
        env=os.environ | FREED | environment,
        cwd=ROOT / "build",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False, "takes too long"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also what a script has started
        process.wait()
    if code < 0:
        return False, f"ends with signal {-code}"
    return code == 0, "fails"


def tests_for(part: str) -> list[str]:
    return [f"unit_{part}", *TESTS[part]]


def programs_of(test: str) -> list[str]:
    for start, programs in SCRIPTED.items():
        if test.startswith(start):
            return programs
    program = re.split("[ ,]", test)[0]
    return [program, "sessionqd"] if program == "contract_sessionqd" else [program]


def commands(tests: list[str], build: Path, work: Path) -> dict[str, list[str]]:
    """What runs each test with the programs in `work`."""
    printed = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"],
        check=True,
        capture_output=True,
    ).stdout
    known = {each["name"]: each.get("command") for each in json.loads(printed)["tests"]}
    found = {}
    for test in tests:
        if test.startswith(tuple(SCRIPTED)):
            old, new = str(build / "bin"), str(work / "bin")
            found[test] = [word.replace(old, new) for word in known[test]]
        else:
            options = SIMULATION.get(test, ["--abort-after=1", "--no-path-filenames=1"])
            found[test] = [str(work / "bin" / programs_of(test)[0]), *options]
    return found


def baseline(
    tests: dict[str, list[str]], work: Path
) -> tuple[dict[str, float], dict[str, bytes]]:
    """How long each test takes without a mutant, and which mutants it reaches."""
    seconds, reached = {}, {}
    marks = work / "reached"
    for test, command in tests.items():
        marks.write_bytes(bytes(MOST))
        begun = time.monotonic()
        passed, how = run(command, 900, SESSIONQ_MUTANTS_REACHED=str(marks))
        if not passed:
            raise SystemExit(f"mutation: without a change {test} {how}")
        seconds[test] = time.monotonic() - begun
        reached[test] = marks.read_bytes()
        print(f"{test}: {seconds[test]:.1f} s, reaches {sum(reached[test])} changes", flush=True)
    return seconds, reached


class Trials:
    """Runs each change with the tests that reach it."""

    def __init__(
        self, runs: dict[str, list[str]], seconds: dict[str, float], reached: dict[str, bytes]
    ):
        self.runs, self.seconds, self.reached = runs, seconds, reached

    def verdict(self, mutant: Mutant) -> tuple[bool, str]:
        """(whether it was caught, how)."""
        near = tests_for(mutant.file.split("/")[0])
        far = [test for test in WHOLE if test not in near]
        able = [
            test
            for group in (near, far)
            for test in sorted(group, key=self.seconds.__getitem__)
            if self.reached[test][mutant.number]
        ]
        for test in able:
            limit = self.seconds[test] * 4 + 10
            passed, how = run(self.runs[test], limit, SESSIONQ_MUTANT=str(mutant.number))
            if not passed:
                return True, f"caught: {test} {how}"
        return False, "SURVIVED" if able else "SURVIVED: no test reaches it"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--parts", default=",".join(TESTS))
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    line = parser.parse_args()
    line.build = line.build.resolve()
    parts = line.parts.split(",")
    for part in parts:
        if part not in TESTS:
            parser.error(f"--parts: '{part}' is not one of {', '.join(TESTS)}")
    if not 0 < line.count < MOST:
        parser.error(f"--count is not 1 to {MOST - 1}")

    work = line.build / "mutation"
    relink = Relink(ROOT, line.build, work, line.jobs)
    mutants = sample(parts, line.seed, line.count, relink)
    if line.show:
        print("\n".join(map(str, mutants)))
        return 0
    tests = sorted({*WHOLE, *(test for part in parts for test in tests_for(part))})
    programs = sorted({program for test in tests for program in programs_of(test)})
    targets = [f"bin/{program}" for program in programs]
    built = subprocess.run(
        ["cmake", "--build", str(line.build), "-j", str(line.jobs), "--target", *targets],
        stdout=subprocess.PIPE,
        text=True,
    )
    if built.returncode != 0:
        raise SystemExit(f"mutation: the sources as they are do not build\n{built.stdout}")

    while True:
        write_copies(mutants, work / "copies")
        changed = {ROOT / "sdk" / mutant.file for mutant in mutants}
        objects = relink.objects(programs, changed)
        names = {name for each in objects.values() for name in each}
        print(f"compiling {len(names)} objects with {len(mutants)} changes", flush=True)
        said = relink.compile_all(names)
        if not said:
            break
        mutants = drop_uncompilable(mutants, said)
    for program in programs:
        relink.link(program, objects[program])
    runs = commands(tests, line.build, work)
    trials = Trials(runs, *baseline(runs, work))

    survivors = []
    with ThreadPoolExecutor(line.jobs) as pool:
        for mutant, (is_caught, how) in zip(mutants, pool.map(trials.verdict, mutants)):
            if not is_caught:
                survivors.append(mutant)
            print(f"{mutant}\n    {how}", flush=True)
    caught = len(mutants) - len(survivors)
    print(f"\n{len(mutants)} changes compile, {caught} caught ({100 * caught // len(mutants)} %)")
    for mutant in survivors:
        print(f"survived: {mutant.key}")
    return 0 if not survivors else 1


if __name__ == "__main__":
    sys.exit(main())
