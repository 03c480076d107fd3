#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the figures of `tests/run --bench` as SVG pictures.

    plots.py [--out FOLDER] [FILE...]
    plots.py --self-test

FILE is JSON of Google Benchmark; by default all in build/bench/. FOLDER is sdk/docs/plots by
default. A picture without data is left out, and an older one of it is removed. If there is a
performance.md beside FOLDER, the block between its lines `<!-- plots -->` and
`<!-- end of plots -->` is written anew. README.md beside this file says what is drawn.
"""

import argparse
import json
import math
import re
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

from svg_plot import Bound, Line, draw

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "sdk/docs/plots"
PAGE = "performance.md"
BEGIN, END = "<!-- plots -->", "<!-- end of plots -->"
POINTS = 2  # a plot needs a line with so many
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

# Arguments that a case has where its name does not tell them.
IMPLIED = {
    "steady_": (None, 64),  # bytes, sessions
    "latency_": (1000,),  # messages a second
}

# Name of a peer in the cases -> in the legend. Their order gives the colours.
PEERS = {
    "sessionq": "sessionq",
    "proton": "Proton-C receiver",
    "javascript": "Azure, JavaScript",
    "python": "Azure, Python",
    "go": "Azure, Go",
    "java": "Azure, Java",
    "dotnet": "Azure, .NET",
}


@dataclass(frozen=True)
class Series:
    """The points of one case. x is its argument `x`, y its figure times `factor`. Only runs count
    whose arguments `where` have these values."""

    name: str
    case: str
    figure: str
    x: int = 0
    where: dict[int, int] = field(default_factory=dict)
    factor: float = 1.0
    colour: int = 0
    dashed: bool = False
    fitted: bool = False


@dataclass(frozen=True)
class Plot:
    name: str  # of the file
    title: str
    x_label: str
    y_label: str
    series: list[Series]
    bound: Bound | None = None


def of_peers(case: str, figure: str, without: str = "", **more) -> list[Series]:
    """The same case with each of the peers."""
    return [
        Series(label, f"{case}_{peer}", figure, colour=colour, **more)
        for colour, (peer, label) in enumerate(PEERS.items())
        if peer != without
    ]


def percentiles(case: str, **more) -> list[Series]:
    names = {"p50_us": "p50", "p99_us": "p99", "p99.9_us": "p99.9", "max_us": "max"}
    return [
        Series(name, case, figure, colour=colour, **more)
        for colour, (figure, name) in enumerate(names.items())
    ]


def against_sessions(figure: str, figure_in_process: str) -> list[Series]:
    return [
        Series("in process, 16 bytes", "steady", figure_in_process),
        Series("over loopback, 256 bytes", "steady_sessionq", figure, 1, {0: 256}, colour=1),
    ]


def waiting_processor() -> list[Series]:
    return [
        Series(f"{side}, {step}", "waiting_sessionq", f"{side}_us/{step}", colour=colour,
               dashed=side == "broker", fitted=True)
        for side in ("client", "broker")
        for colour, step in enumerate(("accept", "renewal", "stop"))
    ]  # fmt: skip


RATE, PROCESSOR = "messages/s", "client_cpu_us/message"
SLOTS = 64  # of the plot of rolls far away
PLOTS = [
    Plot("sessions_rate", "Messages a second, by the number of sessions", "sessions",
         "messages a second", against_sessions(RATE, "items_per_second")),
    Plot("sessions_processor", "The client's processor time, by the number of sessions",
         "sessions", "µs a message", against_sessions(PROCESSOR, PROCESSOR)),
    Plot("size_rate", "Messages a second over loopback, by their size; 64 sessions",
         "bytes of a body", "messages a second", of_peers("steady", RATE, where={1: 64})),
    Plot("size_processor", "The client's processor time, by the size of messages; 64 sessions",
         "bytes of a body", "µs a message", of_peers("steady", PROCESSOR, where={1: 64})),
    Plot("far_session", "Messages a second of one session, by the distance", "round trip in ms",
         "messages a second", of_peers("far_session", RATE, "proton")),
    Plot("far_rolling", f"Sessions of one message, by the distance; {SLOTS} slots",
         "round trip in ms", "sessions a second",
         of_peers("far_rolling", "sessions/s", "proton", where={1: SLOTS}),
         Bound("one round trip a session", lambda round_trip: SLOTS * 1e3 / round_trip)),
    Plot("latency_messages", "From sending a message to its handler, by the rate; one session",
         "messages a second", "µs", percentiles("latency_sessionq")),
    Plot("latency_sessions", "From sending a session's first message to its handler, by the rate",
         "new sessions a second", "µs", percentiles("entities", x=1, where={0: 1})),
    Plot("waiting_time", "Time to accept and to leave all sessions", "sessions", "seconds", [
        Series("accept, over loopback", "waiting_sessionq", "seconds", fitted=True),
        Series("stop, over loopback", "waiting_sessionq", "stop_ms", factor=1e-3, colour=1,
               fitted=True),
        Series("accept, in process", "waiting", "seconds", colour=2, fitted=True)]),
    Plot("waiting_processor", "Processor time of each waiting session, by their number",
         "sessions", "µs a session", waiting_processor()),
    Plot("waiting_memory", "Memory of each waiting session, by their number", "sessions",
         "KiB a session", [
        Series("client", "waiting_sessionq", "client_bytes/session", factor=1 / 1024, fitted=True),
        Series("broker", "waiting_sessionq", "broker_bytes/session", factor=1 / 1024, colour=1,
               fitted=True),
        Series("both, in process", "waiting", "bytes/session", factor=1 / 1024, colour=2,
               fitted=True),
        Series("Azure, JavaScript", "waiting_javascript", "client_bytes/session",
               factor=1 / 1024, colour=3)]),
]  # fmt: skip


@dataclass
class Measured:
    """What the files hold."""

    runs: dict[str, dict[tuple[int, ...], list[dict]]] = field(default_factory=dict)  # by case
    errors: dict[str, dict[tuple[int, ...], str]] = field(default_factory=dict)
    contexts: list[dict] = field(default_factory=list)


def arguments_of(name: str) -> tuple[str, tuple[int, ...]]:
    """The case and the arguments of a run: "a/16/sessions:3/iterations:1/manual_time"."""
    case, *parts = name.split("/")
    found = []
    for part in parts:
        key, _, value = part.rpartition(":")
        if value.isdecimal() and key not in ("iterations", "repeats", "threads"):
            found.append(int(value))
    for begin, implied in IMPLIED.items():
        if case.startswith(begin):
            found += implied[len(found) :]
    return case, tuple(argument for argument in found if argument is not None)


def read(paths: list[Path]) -> Measured:
    measured = Measured()
    for path in paths:
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            measured.contexts.append(said["context"])
            runs = said["benchmarks"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise SystemExit(f"plots.py: {path}: no figures of a benchmark: {error}") from error
        for run in runs:
            if run.get("run_type", "iteration") != "iteration":
                continue
            case, arguments = arguments_of(run["name"])
            if run.get("error_occurred"):
                measured.errors.setdefault(case, {})[arguments] = run["error_message"]
                continue
            run["seconds"] = run["real_time"] * NANOSECONDS[run["time_unit"]] / 1e9
            measured.runs.setdefault(case, {}).setdefault(arguments, []).append(run)
    return measured


def is_of(series: Series, arguments: tuple[int, ...]) -> bool:
    wanted = {series.x: 0} | series.where
    if max(wanted) >= len(arguments) or arguments[series.x] <= 0:
        return False
    return all(arguments[at] == value for at, value in series.where.items())


def points_of(series: Series, measured: Measured) -> tuple[tuple[float, float], ...]:
    """The medians. A logarithm has no place for zero, so figures of zero are left out."""
    found: dict[int, list[float]] = {}
    for arguments, runs in measured.runs.get(series.case, {}).items():
        if not is_of(series, arguments):
            continue
        values = [run[series.figure] * series.factor for run in runs if series.figure in run]
        found.setdefault(arguments[series.x], []).extend(
            value for value in values if math.isfinite(value) and value > 0
        )
    return tuple((x, statistics.median(ys)) for x, ys in sorted(found.items()) if ys)


def why_missing(series: Series, measured: Measured) -> str:
    errors = errors_of(series, measured)
    if errors:
        return errors[0][1]
    if series.case in measured.runs:
        return f"{series.case} has no {series.figure} here"
    return f"no case {series.case}"


def errors_of(series: Series, measured: Measured) -> list[tuple[int, str]]:
    """(x, why) of the runs that gave up."""
    errors = measured.errors.get(series.case, {})
    return [(each[series.x], why) for each, why in sorted(errors.items()) if is_of(series, each)]


def plot(what: Plot, measured: Measured) -> tuple[str, str]:
    """The picture, which is empty if there is no data for it, and what to say of it."""
    lines, missing, single = [], [], []
    for series in what.series:
        points = points_of(series, measured)
        if not points:
            missing.append(f"{series.name} ({why_missing(series, measured)})")
            continue
        if len(points) < POINTS:
            single.append(f"{series.name} (only one point)")
        missing += [f"{series.name} at {x} ({why})" for x, why in errors_of(series, measured)]
        lines.append(Line(series.name, points, series.colour, series.dashed, series.fitted))
    without = "; ".join(missing)
    if len(single) == len(lines):
        return "", f"{what.name}: left out: " + "; ".join(single + missing)
    picture = draw(what.title, what.x_label, what.y_label, lines, what.bound)
    return picture, f"{what.name}: drawn" + (f", without {without}" if without else "")


def origin(contexts: list[dict]) -> str:
    """The machine, the date and the commit. Those of several files, if they differ."""

    def all_of(values) -> str:
        return " and ".join(dict.fromkeys(values))

    def machine(context: dict) -> str:
        count = context.get("num_cpus", 0)
        name = context.get("processor") or f"{context.get('mhz_per_cpu', 0):,} MHz"
        return f"{name}, {count} processor{'s' * (count != 1)}"

    dates = sorted(context.get("date", "").split("T")[0] or "no date" for context in contexts)
    commits = all_of(context.get("commit") or "not recorded" for context in contexts)
    return f"{all_of(map(machine, contexts))}; {all_of(dates)}; commit {commits}."


def block_of(drawn: list[Plot], folder: str, contexts: list[dict]) -> str:
    pictures = [f"![{each.title}]({folder}/{each.name}.svg)" for each in drawn]
    return "\n\n".join([BEGIN + "\n### Pictures", origin(contexts), *pictures]) + f"\n\n{END}"


def with_block(page: Path, block: str) -> str:
    """The text of the page with the block in place of its own."""
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(f"^{re.escape(BEGIN)}$.*?^{re.escape(END)}$", re.MULTILINE | re.DOTALL)
    text, count = pattern.subn(lambda _: block, text)
    if count != 1:
        raise SystemExit(f"plots.py: {page}: expected one block from {BEGIN} to {END}")
    return text


def make(paths: list[Path], out: Path) -> list[str]:
    """Writes the pictures and the page. Returns what to say."""
    measured = read(paths)
    pictures = {what.name: plot(what, measured) for what in PLOTS}
    drawn = [what for what in PLOTS if pictures[what.name][0]]
    if not drawn:
        why = "\n".join(said for _, said in pictures.values())
        raise SystemExit(f"plots.py: nothing to draw:\n{why}")
    page = out.parent / PAGE
    if page.is_file():  # before anything is written, because the page may be refused
        text = with_block(page, block_of(drawn, out.name, measured.contexts))
        page.write_text(text, encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    for name, (picture, _) in pictures.items():
        file = out / f"{name}.svg"
        if picture:
            file.write_text(picture, encoding="utf-8")
        else:
            file.unlink(missing_ok=True)
    return [said for _, said in pictures.values()]


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if asked.self_test:
        import plots_self_test

        return plots_self_test.run()
    files = asked.files or sorted((ROOT / "build/bench").glob("*.json"))
    if not files:
        raise SystemExit("plots.py: no figures in build/bench; run tests/run --bench first")
    print("\n".join(make(files, asked.out.absolute())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
