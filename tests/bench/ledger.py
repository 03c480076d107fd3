#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cases of ledger_load, and fails if one costs more than it ever did.

    ledger.py [--load PROGRAM] [CASE...]
    ledger.py [--load PROGRAM] --record NAME [--raised REASON] [CASE...]
    ledger.py --self-test

Without options it compares each case with the lowest figures in ledger.json. --record adds rows
to it: NAME is the commit that was measured. With --raised, the rows that cost too much carry the
reason. Figures from such a row on count for its case, and older ones no longer do. README.md
beside this file says what the figures mean.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEDGER = HERE / "ledger.json"
LOAD = HERE.parent.parent / "build/bin/ledger_load"

# Case -> N, how many messages or rolls are measured. Start and stop cancel, because a run with N is
# subtracted from one with 2N. The longest are first, so that two processors end together.
CASES = {
    "network-rolling": 8000,
    "rolling": 8000,
    "network-steady": 20000,
    "steady-1000": 20000,
    "steady-64": 20000,
}
FIGURES = ("instructions", "allocations", "bytes")
SHARE = 0.02  # how much over the lowest figure is not yet a failure
SLACK = {"instructions": 0, "allocations": 0.2, "bytes": 64}  # besides, for figures near zero


def callgrind(load: Path, case: str, messages: int, out: Path, *more: str) -> dict[str, int]:
    """The totals of one run. Its profile goes to `out`."""
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes", *more]
    command += [f"--callgrind-out-file={out}", str(load), case, str(messages)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    counted = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not counted:
        raise SystemExit(f"{' '.join(command)} failed ({run.returncode}):\n{run.stderr}")
    return json.loads(run.stdout) | {"instructions": int(counted.group(1))}


def measure(load: Path, cases: list[str]) -> dict[str, dict[str, float]]:
    """The figures per message or roll of each case. Two runs at a time."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        runs = {}
        for case in cases:
            for times in (2, 1):
                out = Path(folder) / f"{case}.{times}"
                runs[case, times] = pool.submit(callgrind, load, case, times * CASES[case], out)
    measured = {}
    for case in cases:
        once, twice = (runs[case, times].result() for times in (1, 2))
        measured[case] = {
            # + 0: not -0
            figure: round((twice[figure] - once[figure]) / CASES[case], 2) + 0
            for figure in FIGURES
        }
    return measured


def lowest(rows: list[dict], case: str) -> dict[str, float]:
    """The lowest figures of a case since it was last raised. Empty: it has no row."""
    rows = [row for row in rows if row["case"] == case]
    raised = [number for number, row in enumerate(rows) if row.get("raised", "").strip()]
    rows = rows[raised[-1] :] if raised else rows
    return {figure: min(row[figure] for row in rows) for figure in FIGURES} if rows else {}


def excesses(now: dict[str, float], low: dict[str, float]) -> list[str]:
    """The figures that are too high."""
    return [name for name in FIGURES if low and now[name] > low[name] * (1 + SHARE) + SLACK[name]]


def compare(rows: list[dict], measured: dict[str, dict[str, float]]) -> tuple[list[str], bool]:
    """The lines of the table, and whether no case costs too much."""
    lines = [f"{'case':<16} {'figure':<13} {'now':>10} {'lowest':>10} {'ratio':>7}"]
    good = True
    for case, now in measured.items():
        low = lowest(rows, case)
        over = excesses(now, low)
        good = good and bool(low) and not over
        for name in FIGURES:
            line = f"{case:<16} {name:<13} {now[name]:>10.1f} "
            if not low:
                lines.append(line + "  not in the ledger")
                continue
            ratio = f"{now[name] / low[name]:7.3f}" if low[name] > 0 else f"{'-':>7}"
            line += f"{low[name]:>10.1f} {ratio}"
            if name in over:
                line += "  TOO MUCH"
            elif name == "instructions" and now[name] < low[name] * (1 - SHARE):
                line += "  less: record it"
            lines.append(line)
    return lines, good


def write(path: Path, rows: list[dict]) -> None:
    """One row a line, so that a difference shows rows."""
    path.write_text("[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


def self_test() -> int:
    def row(at: str, instructions: float, case: str = "rolling", **more) -> dict:
        figures = {"instructions": instructions, "allocations": 10.0, "bytes": 1000.0}
        return {"at": at, "case": case} | figures | more

    def verdict(rows: list[dict], instructions: float, **more) -> bool:
        figures = {"instructions": instructions, "allocations": 10.0, "bytes": 1000.0} | more
        return compare(rows, {"rolling": figures})[1]

    rows = [row("a", 100), row("b", 90), row("c", 95), row("b", 10, "steady-64")]
    reason = row("d", 120, raised="a feature that is worth it")
    expected = {
        "as cheap as the cheapest": (verdict(rows, 91.7), True),
        "more than the cheapest, less than the newest": (verdict(rows, 94), False),
        "one allocation more": (verdict(rows, 90, allocations=11.0), False),
        "a little more memory": (verdict(rows, 90, allocations=10.3, bytes=1080.0), True),
        "much more memory": (verdict(rows, 90, bytes=1200.0), False),
        "raised with a reason": (verdict([*rows, reason], 122), True),
        "more than it was raised to": (verdict([*rows, reason], 123), False),
        "cheaper again after a raise": (verdict([*rows, reason, row("e", 100)], 119), False),
        "an empty reason": (verdict([*rows, row("d", 120, raised=" ")], 120), False),
        "a case that is not in the ledger": (verdict([], 1), False),
    }
    wrong = [name for name, (got, wanted) in expected.items() if got != wanted]
    for case in CASES:
        if not lowest(json.loads(LEDGER.read_text(encoding="utf-8")), case):
            wrong.append(f"{LEDGER.name} has no row of {case}")
    print("\n".join(wrong) if wrong else f"{len(expected)} verdicts as expected")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--load", type=Path, default=LOAD)
    parser.add_argument("--record")
    parser.add_argument("--raised", default="")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    asked = parser.parse_args()
    if asked.self_test:
        return self_test()
    unknown = [case for case in asked.cases if case not in CASES]
    if unknown or (asked.raised and not asked.record):
        parser.error(f"no such case: {unknown}" if unknown else "--raised: only with --record")
    rows = json.loads(LEDGER.read_text(encoding="utf-8")) if LEDGER.exists() else []
    measured = measure(asked.load, asked.cases or list(CASES))
    # The order of threads and the size of reads can only add.
    doubted = [case for case, now in measured.items() if excesses(now, lowest(rows, case))]
    for case, again in measure(asked.load, doubted).items():
        measured[case] = {name: min(again[name], measured[case][name]) for name in FIGURES}
    lines, good = compare(rows, measured)
    print("\n".join(lines))
    if not asked.record:
        return 0 if good else 1
    for case, now in measured.items():
        over = excesses(now, lowest(rows, case))
        raised = {"raised": asked.raised} if over and asked.raised.strip() else {}
        rows.append({"at": asked.record, "case": case} | now | raised)
    write(LEDGER, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
