#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows the parts, classes and functions in which a case of the ledger spends its instructions.

    ledger_parts.py CASE LOAD [LATER-LOAD]

LOAD is the program ledger_load of a build. With that of a later build the tables show both and
their difference, the greatest first. All figures are per message or per roll.
"""

import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ledger import CASES, callgrind

SHOWN = 30  # rows of a table
# What a function outside namespaces of the library is part of, by its plain name.
OTHERS = (
    (r"operator (new|delete)|\(anonymous namespace\)::count_allocation", "allocator"),
    (r"(_?_?(libc_)?)?(malloc|free|calloc|realloc|memalign|aligned_alloc)\b", "allocator"),
    (r"_int_\w+|tcache\w*|malloc_\w+|unlink_chunk|arena_\w+|sys(malloc|trim)", "allocator"),
    (r"_?_?(str|mem|wmem)\w+$", "memory and strings of libc"),
    (r"_?_?(pthread|lll|futex|__condvar|__new_sem)\w*", "locks of libc"),
    (r"(std|__gnu_cxx|__cxxabiv1|__cxa)\b|_?_?dynamic_cast|vtable", "std"),
    (r"(sessionq_)?asio\b", "asio"),
)


def plain(name: str) -> str:
    """The name without return type, template arguments and parameters."""
    name = re.sub(r"'\d+$|\[abi:\w+\]", "", name).replace("(anonymous namespace)", "{anonymous}")
    name = re.sub(r"operator(<=>|->|<<|>>|<=|>=|<|>|\(\))", r"operator", name)
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    while (shorter := re.sub(r"\([^()]*\)(\s*const)?", "", name)) != name:
        name = shorter
    name = name.strip()
    if " " in name and "operator " not in name:
        name = name.split(" ")[-1]
    return name.replace("{anonymous}", "(anonymous namespace)")


def part_of(name: str, library: str) -> str:
    """`library`: the file that the function was loaded from."""
    found = re.match(r"sessionq::(?:detail::|v1::)?(?:([a-z_]+)::)?", name)
    if found:
        return found.group(1) or "public API"
    for pattern, part in OTHERS:
        if re.match(pattern, name):
            return part
    if re.search(r"/(libc|libpthread|ld)[.-]", library):
        return "kernel entry and the rest of libc"
    return "std" if "libstdc++" in library else Path(library).name.split(".")[0] or "the rest"


def class_of(part: str, name: str) -> str:
    return name.rpartition("::")[0] if name.startswith("sessionq::") else part


def self_costs(profile: Path) -> tuple[Counter, int]:
    """The instructions of each part and function themselves, and the number of system calls."""
    names: dict[tuple[str, str], str] = {}
    costs: Counter = Counter()
    calls = 0
    function = library = ""
    is_inclusive = False
    kinds = {"fn": "fn", "cfn": "fn", "ob": "ob", "cob": "ob"}
    for line in profile.read_text(encoding="utf-8", errors="replace").splitlines():
        key, equals, value = line.partition("=")
        if equals and key in kinds:
            number, _, name = value.partition(" ")
            if name:
                names[kinds[key], number] = name
            if key == "fn":
                function = names["fn", number]
            elif key == "ob":
                library = names["ob", number]
        elif key == "calls":
            is_inclusive = True  # the next line has the cost of the callee
        elif re.match(r"[\d+*-]", line):
            if not is_inclusive:
                figures = [int(figure) for figure in line.split()[1:]]
                costs[function, library] += figures[0]
                calls += figures[1] if len(figures) > 1 else 0
            is_inclusive = False
    grouped: Counter = Counter()
    for (function, library), cost in costs.items():
        name = plain(function)
        grouped[part_of(name, library), name] += cost
    return grouped, calls


def profile(load: Path, case: str) -> tuple[dict, float]:
    """The same per message: the difference of two runs, as in ledger.py."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        outs = [Path(folder) / str(times) for times in (1, 2)]
        runs = [
            pool.submit(
                callgrind, load, case, times * CASES[case], out, "--collect-systime=usec"
            )
            for times, out in enumerate(outs, 1)
        ]
        for run in runs:
            run.result()
        (once, calls), (twice, more_calls) = (self_costs(out) for out in outs)
    costs = {key: (twice[key] - once[key]) / CASES[case] for key in once.keys() | twice.keys()}
    return costs, (more_calls - calls) / CASES[case]


def table(kind: str, costs: list[dict], key_of) -> None:
    """Groups both profiles by key_of(part, function)."""
    before, now = Counter(), Counter()
    for grouped, cost in ((before, costs[0]), (now, costs[-1])):
        for key, figure in cost.items():
            grouped[key_of(*key)] += figure
    keys = before.keys() | now.keys()
    order = sorted(keys, key=lambda key: (-abs(now[key] - before[key]), -now[key]))
    print(f"{'before':>9} {'now':>9} {'more':>9}  {kind}")
    for key in order[:SHOWN]:
        figures = (before[key], now[key], now[key] - before[key])
        print(" ".join(f"{round(figure):>9}" for figure in figures), "", key)
    print()


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3) or arguments[0] not in CASES:
        print(__doc__, file=sys.stderr)
        return 2
    profiles = [profile(Path(load), arguments[0]) for load in arguments[1:]]
    costs = [cost for cost, _ in profiles]
    table("all", costs, lambda *_: "all")
    table("part", costs, lambda part, _: part)
    table("class", costs, class_of)
    table("function", costs, lambda part, name: f"{part}: {name}")
    print("system calls:", ", ".join(f"{calls:.2f}" for _, calls in profiles))
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
