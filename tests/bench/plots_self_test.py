# SPDX-License-Identifier: MIT
"""What `plots.py --self-test` runs."""

import json
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import plots
from svg_plot import BOTTOM, TOP, Bound, Line, draw, fit

PLOT_BYTES = 40 << 10
CONTEXT = {"date": "2031-05-06T07:08:09+00:00", "num_cpus": 2, "processor": "AMD EPYC",
           "commit": "abc1234"}  # fmt: skip


def made_up() -> dict[str, dict]:
    """Files as Google Benchmark writes them, with figures that a person can follow."""

    def one(name: str, milliseconds: float = 1.0, **figures) -> dict:
        figures = {key.replace("_per_", "/"): value for key, value in figures.items()}
        return {"name": f"{name}/iterations:3/manual_time", "run_type": "iteration",
                "real_time": milliseconds, "time_unit": "ms"} | figures  # fmt: skip

    def rate(name: str, value: float) -> dict:
        return one(name) | {"items_per_second": value}

    def error(name: str, message: str) -> dict:
        return {"name": name, "run_type": "iteration", "error_occurred": True,
                "error_message": message}  # fmt: skip

    network = [
        one("steady_sessionq/256", messages_per_s=200e3) | {plots.PROCESSOR: 4.0},
        one("steady_sessionq/4096", messages_per_s=50e3) | {plots.PROCESSOR: 6.0},
        one("steady_proton/256", messages_per_s=160e3),
        one("steady_proton/4096", messages_per_s=40e3),
        one("steady_proton/256/8", messages_per_s=9e3),  # of eight sessions
        one("steady_proton/1024", messages_per_s=0.0),
        error("steady_java/256/iterations:2/manual_time", "skipped: java: not installed"),
        error("waiting_sessionq/300000", "not all sessions were accepted"),
        one("ratios/steady/256", x_proton=1.2),
        one("latency_sessionq", p50_us=90.0, p99_us=300.0),
        one("latency_sessionq/20000", p50_us=95.0, p99_us=900.0),
    ]
    for sessions in (1000, 10_000, 100_000):
        figures = {f"{side}_us/{step}": 40.0 for side in ("client", "broker")
                   for step in ("accept", "renewal", "stop")}  # fmt: skip
        figures |= {"stop_ms": sessions / 50, "client_bytes/session": 2048.0}
        network.append(one(f"waiting_sessionq/{sessions}", sessions / 25) | figures)
    return {
        "processor.json": {
            "context": CONTEXT,
            "benchmarks": [
                *(rate(f"steady/{sessions}", value) for sessions, value in
                  ((1, 4e5), (64, 1e6), (1000, 9e5), (1000, 7e5), (1000, 8e5), (10_000, 5e5))),
                rate("steady/1", 1.0) | {"run_type": "aggregate"},
            ],
        },
        "network.json": {"context": CONTEXT, "benchmarks": network},
    }  # fmt: skip


OLD_PAGE = f"before\n\n{plots.BEGIN}\nold\n{plots.END}\n\nafter\n"
SVG = "{http://www.w3.org/2000/svg}"


def texts(root: ElementTree.Element, of_class: str) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")
            if of_class in each.get("class", "").split()]  # fmt: skip


def marked(root: ElementTree.Element, of_class: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if of_class in each.get("class", "").split()]


def told(root: ElementTree.Element) -> list[str]:
    """The titles of the points."""
    return [each.findtext(f"{SVG}title", "") for each in marked(root, "point")]


def try_out(
    folder: Path, files: dict[str, dict], page: str = OLD_PAGE
) -> tuple[list[str], dict[str, bytes], str]:
    """What it says, its pictures, and the page. Files come in the order of their names."""
    out = folder / "plots"
    out.mkdir(parents=True)
    (out / "far_session.svg").write_text("of an older run", encoding="utf-8")
    (out / "other.svg").write_text("somebody's own", encoding="utf-8")
    (folder / plots.PAGE).write_text(page, encoding="utf-8")
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    said = plots.make(sorted(folder.glob("*.json")), out)
    page = (folder / plots.PAGE).read_text(encoding="utf-8")
    return said, {file.name: file.read_bytes() for file in sorted(out.glob("*.svg"))}, page


def refusal(folder: Path, files: dict[str, dict], page: str = OLD_PAGE) -> str:
    try:
        try_out(folder, files, page)
    except SystemExit as refused:
        return str(refused).split("\n")[0]
    return ""


def run() -> int:
    with tempfile.TemporaryDirectory() as place:
        said, pictures, page = try_out(Path(place) / "one", made_up())
        backwards = {
            name: content | {"benchmarks": content["benchmarks"][::-1]}
            for name, content in made_up().items()
        }
        _, again, same_page = try_out(Path(place) / "two", backwards)
        nothing = {"a.json": {"context": {}, "benchmarks": []}}
        empty = refusal(Path(place) / "three", nothing)
        blockless = refusal(Path(place) / "five", made_up(), "no block\n")
        damaged = refusal(Path(place) / "four", {"a.json": {"benchmarks": []}})
    trees = {name: ElementTree.fromstring(text) for name, text in pictures.items() if b"<" in text}
    sessions, size = trees["sessions_rate.svg"], trees["size_rate.svg"]
    waiting, memory = trees["waiting_time.svg"], trees["waiting_memory.svg"]
    latency = trees["latency_messages.svg"]
    words = {line.split(": ")[0]: line.split(": ", 1)[1] for line in said}
    drawn = ["latency_messages", "sessions_rate", "size_processor", "size_rate", "waiting_memory",
             "waiting_processor", "waiting_time"]  # fmt: skip
    first_line, *_, last_line = page.strip().split("\n")
    odd = ElementTree.fromstring(
        draw("t", "x", "y", [Line("a <b> & 'c'", ((1, 10), (100, 5)))],
             Bound("most", lambda x: 2e3 / x)))  # fmt: skip
    c, k = fit(((1, 3.0), (10, 300.0), (100, 30_000.0)))
    expected = {
        "the pictures, and what is not ours": (
            list(pictures), sorted([f"{name}.svg" for name in drawn] + ["other.svg"])),
        "the same bytes from another order": (again, pictures),
        "the same page": (same_page, page),
        "small files": ([name for name, text in pictures.items() if len(text) > PLOT_BYTES], []),
        "dark colours": (
            [name for name, text in pictures.items()
             if b"prefers-color-scheme: dark" not in text], ["other.svg"]),
        "points of four numbers of sessions, and one over loopback": (
            len(marked(sessions, "point")), 5),
        "no line through a single point": (len(marked(sessions, "line")), 1 + 1),  # and its key
        "the median of three runs, without the aggregate": (
            told(sessions)[:3],
            [f"in process, 16 bytes: {point}" for point in
             ("400,000 at 1", "1,000,000 at 64", "800,000 at 1,000")]),
        "only runs of 64 sessions, and no zero": (
            told(size)[2:],
            [f"Proton-C receiver: {point}" for point in ("160,000 at 256", "40,000 at 4,096")]),
        "decades of sessions": (texts(sessions, "xtick"), ["1", "10", "100", "1,000", "10,000"]),
        "a range of five times begins at zero": (
            texts(sessions, "ytick"),
            ["0", "200,000", "400,000", "600,000", "800,000", "1,000,000"]),
        "a range of sixteen times": (
            texts(size, "xtick"), ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]),
        "a logarithmic axis with few decades": (
            texts(latency, "xtick"), ["1,000", "2,000", "5,000", "10,000", "20,000"]),
        "percentiles in their order": (texts(latency, "name"), ["p99", "p50"]),
        "who was measured, the fastest first": (
            texts(size, "name"), ["sessionq", "Proton-C receiver"]),
        "who was not": (
            words["size_rate"],
            "drawn, without Azure, JavaScript (no case steady_javascript); Azure, Python (no case "
            "steady_python); Azure, Go (no case steady_go); Azure, Java (skipped: java: not "
            "installed); Azure, .NET (no case steady_dotnet)"),
        "a run that gave up": (
            words["waiting_time"].split("; ")[0],
            "drawn, without accept, over loopback at 300000 (not all sessions were accepted)"),
        "one point is no plot": (
            words["sessions_processor"],
            "left out: over loopback, 256 bytes (only one point); in process, 16 bytes (steady has "
            "no client_cpu_us/message here)"),
        "no data": (
            words["latency_sessions"],
            "left out: " + "; ".join(f"{name} (no case entities)"
                                     for name in ("p50", "p99", "p99.9", "max"))),
        "linear and constant": (
            [texts(waiting, "exponent"), texts(memory, "exponent")],
            [["fit: exponent 1.00"] * 2, ["fit: exponent 0.00"]]),
        "fits of the lines alone": (len(marked(waiting, "fit")), 2),
        "a quadratic fit": ((round(c, 6), round(k, 6)), (3.0, 2.0)),
        "bytes as KiB": (told(memory)[0], "client: 2 at 1,000"),
        "the rest of the page": ((first_line, last_line), ("before", "after")),
        "the old block is gone": ("old" in page.split("\n"), False),
        "pictures of the page": (
            sorted(re.findall(r"\]\(plots/(\w+)\.svg\)", page)), drawn),
        "machine, date, commit": (
            "\n\nAMD EPYC, 2 processors; 2031-05-06; commit abc1234.\n\n" in page, True),
        "two commits, and one that is not known": (
            plots.origin([{"commit": "a"}, {"commit": "b"}, {"commit": "a"}, {}]),
            "0 MHz, 0 processors; no date; commit a and b and not recorded."),
        "names with characters of XML": (texts(odd, "name"), ["a <b> & 'c'"]),
        "a bound is drawn, and in the legend": (len(marked(odd, "bound")), 2),
        "a bound is within the axes": (
            [y for y in re.findall(r",(-?[\d.]+)", marked(odd, "bound")[0].get("points"))
             if not TOP <= float(y) <= BOTTOM], []),
        "nothing to draw": (empty, "plots.py: nothing to draw:"),
        "a page without the block": (
            blockless.split(": ", 2)[-1],
            "expected one block from <!-- plots --> to <!-- end of plots -->"),
        "a file of something else": (damaged.split(": ", 2)[-1],
                                     "no figures of a benchmark: 'context'"),
        "a page with all pictures grows by less than 1.5 KB": (
            len(plots.block_of(plots.PLOTS, "plots", [CONTEXT])) < 1500, True),
        "lines of the page fit": (
            [line for line in plots.block_of(plots.PLOTS, "plots", [CONTEXT]).split("\n")
             if len(line) > 100], []),
        "two colours of one plot": (
            [each.name for each in plots.PLOTS
             if len({(s.colour, s.dashed) for s in each.series}) < len(each.series)], []),
    }  # fmt: skip
    wrong = [
        f"{name}:\n  {got!r}\n  expected {wanted!r}"
        for name, (got, wanted) in expected.items()
        if got != wanted
    ]
    print("\n".join(wrong) if wrong else f"{len(expected)} verdicts as expected")
    return 1 if wrong else 0
