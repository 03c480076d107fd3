# SPDX-License-Identifier: MIT
"""Draws lines of points as an SVG text. The same input gives the same bytes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

Point = tuple[float, float]

WIDTH, HEIGHT = 760, 350
LEFT, RIGHT, TOP, BOTTOM = 80, 520, 62, 288  # of the area within the axes
LEGEND = 540
LOG_FROM = 20  # how many times the least value the greatest is, on a logarithmic axis
FIT_FROM = 3  # points

# In light and in dark. Neighbours differ for readers who see few colours, and so do the marks.
COLOURS = (
    ("#2a78d6", "#4493f8"),
    ("#bc4c00", "#f0883e"),
    ("#1a7f37", "#3fb950"),
    ("#8250df", "#be8fff"),
    ("#bf3989", "#f778ba"),
    ("#9a6700", "#d29922"),
    ("#0a7a83", "#39c5cf"),
    ("#59636e", "#9198a1"),
)
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-4-4H4V4H-4z",
    "M0-5 5 4H-5z",
    "M0-5 5 0 0 5-5 0z",
    "M0 5 5-4H-5z",
    "M-2-5H2V-2H5V2H2V5H-2V2H-5V-2H-2z",
    "M-5-5 0-2 5-5 2 0 5 5 0 2-5 5-2 0z",
    "M-5-2H5V2H-5z",
)


@dataclass(frozen=True)
class Line:
    """Points in the order of x. `colour` is a place in COLOURS. Of a line with a fit, the legend
    tells the exponent."""

    name: str
    points: tuple[Point, ...]
    colour: int = 0
    dashed: bool = False
    fitted: bool = False


@dataclass(frozen=True)
class Bound:
    """A line that is computed, not measured."""

    name: str
    of: Callable[[float], float]


def number(value: float) -> str:
    """Three digits under 100, and no fraction from there on."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def fit(points: tuple[Point, ...]) -> tuple[float, float]:
    """(c, k) of y = c * x^k, by least squares of the logarithms. An exponent of 1 is linear."""
    xs, ys = ([math.log(point[i]) for point in points] for i in (0, 1))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    k = sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)
    return math.exp(y - k * x), k


def is_fitted(line: Line) -> bool:
    return line.fitted and len(line.points) >= FIT_FROM


class Axis:
    """Maps values to places from `begin` to `end`. Logarithmic if the range needs it, else from
    zero. All values are over zero."""

    def __init__(self, values: list[float], begin: float, end: float):
        low, high = min(values), max(values)
        self.begin, self.end = begin, end
        self.is_log = high / low >= LOG_FROM
        if self.is_log:
            self.low, self.high = round_to(low, down=True), round_to(high)
            self.ticks = log_ticks(self.low, self.high)
        else:
            step = round_to(high / 5)
            self.ticks = [i * step for i in range(math.ceil(high / step - 1e-9) + 1)]
            self.low, self.high = 0.0, self.ticks[-1]

    def place(self, value: float) -> float:
        if self.is_log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = value / self.high
        return self.begin + (self.end - self.begin) * share


def round_to(value: float, down: bool = False) -> float:
    """The next of 1, 2 and 5 and their decades."""
    decade = 10.0 ** math.floor(math.log10(value) + 1e-9)
    steps = [decade * step for step in (1, 2, 5, 10)]
    if down:
        return max(step for step in steps if step <= value * (1 + 1e-9))
    return min(step for step in steps if step >= value * (1 - 1e-9))


def log_ticks(low: float, high: float) -> list[float]:
    """Decades, and 2 and 5 of each if these are few."""
    steps = (1, 2, 5) if high / low <= 200 else (1,)
    decades = range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def style(colours: list[int]) -> str:
    def of(dark: int) -> str:
        return " ".join(
            f".l{i} {{ stroke: {COLOURS[i][dark]} }} .m{i} {{ fill: {COLOURS[i][dark]} }}"
            for i in colours
        )

    return f"""<style>
text {{ font: 12px sans-serif; fill: #59636e }} .title {{ font-size: 15px; fill: #1f2328 }}
.name {{ fill: #1f2328 }} .end {{ text-anchor: end }} .mid {{ text-anchor: middle }}
.page {{ fill: #ffffff }} .grid {{ stroke: #d8dee4 }} .axis {{ stroke: #59636e }}
.line, .fit, .bound {{ fill: none; stroke-width: 2 }} .dashed {{ stroke-dasharray: 7 4 }}
.fit {{ stroke-width: 1; stroke-dasharray: 2 3 }}
.bound {{ stroke: #59636e; stroke-width: 1; stroke-dasharray: 8 4 2 4 }}
{of(0)}
@media (prefers-color-scheme: dark) {{
text {{ fill: #9198a1 }} .title, .name {{ fill: #f0f6fc }} .page {{ fill: #0d1117 }}
.grid {{ stroke: #2a313c }} .axis, .bound {{ stroke: #9198a1 }}
{of(1)}
}}
</style>"""


def curve(of: Callable[[float], float], x: Axis, y: Axis, low: float, high: float) -> str:
    """The points of a function, as near on the picture as a curve needs."""
    count = 24
    values = [low * (high / low) ** (i / count) for i in range(count + 1)]
    return polyline([(value, of(value)) for value in values], x, y)


def polyline(points, x: Axis, y: Axis) -> str:
    return " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in points)


def axes(x: Axis, y: Axis, x_label: str, y_label: str) -> list[str]:
    made = []
    for tick in y.ticks:
        at = f"{y.place(tick):.1f}"
        made.append(f'<path class="grid" d="M{LEFT} {at}H{RIGHT}"/>')
        made.append(f'<text class="end ytick" x="{LEFT - 8}" y="{at}" dy="4">{number(tick)}</text>')
    for tick in x.ticks:
        at = f"{x.place(tick):.1f}"
        made.append(f'<path class="grid" d="M{at} {TOP}V{BOTTOM}"/>')
        made.append(f'<text class="mid xtick" x="{at}" y="{BOTTOM + 18}">{number(tick)}</text>')
    made.append(f'<path class="axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>')
    middle = (LEFT + RIGHT) // 2
    made.append(f'<text class="mid" x="{middle}" y="{BOTTOM + 42}">{escape(x_label)}</text>')
    made.append(f'<text x="20" y="48">{escape(y_label)}</text>')
    return made


def legend(lines: list[Line], bound: Bound | None) -> list[str]:
    """In the order of the lines' right ends, so that neighbours there are neighbours here."""
    made, at = [], TOP + 8
    for line in sorted(lines, key=lambda line: (-line.points[-1][1], line.name)):
        dashed = " dashed" if line.dashed else ""
        if len(line.points) > 1:
            key = f'd="M{LEGEND} {at}h28"'
            made.append(f'<path class="line l{line.colour}{dashed}" {key}/>')
        made.append(
            f'<use class="key m{line.colour}" href="#m{line.colour}" x="{LEGEND + 14}" y="{at}"/>'
        )
        made.append(f'<text class="name" x="{LEGEND + 36}" y="{at + 4}">{escape(line.name)}</text>')
        if is_fitted(line):
            at += 16
            exponent = fit(line.points)[1] + 0.0
            told = f"fit: exponent {exponent:.2f}".replace("-0.00", "0.00")
            made.append(f'<text class="exponent" x="{LEGEND + 36}" y="{at + 4}">{told}</text>')
        at += 21
    if bound:
        made.append(f'<path class="bound" d="M{LEGEND} {at}h28"/>')
        made.append(f'<text x="{LEGEND + 36}" y="{at + 4}">{escape(bound.name)}</text>')
    return made


def draw(
    title: str, x_label: str, y_label: str, lines: list[Line], bound: Bound | None = None
) -> str:
    """Each line has a point or more, and each value is over zero."""
    xs = [point[0] for line in lines for point in line.points]
    ys = [point[1] for line in lines for point in line.points]
    low, high = min(xs), max(xs)
    if bound:
        ys += [bound.of(low), bound.of(high)]
    for line in filter(is_fitted, lines):
        c, k = fit(line.points)
        ys += [c * line.points[0][0] ** k, c * line.points[-1][0] ** k]
    x, y = Axis(xs, LEFT, RIGHT), Axis(ys, BOTTOM, TOP)
    colours = sorted({line.colour for line in lines})
    marks = "".join(f'<path id="m{i}" d="{MARKS[i]}"/>' for i in colours)
    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="t">',
        f'<title id="t">{escape(title)}</title>',
        style(colours),
        f"<defs>{marks}</defs>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="20" y="27">{escape(title)}</text>',
        *axes(x, y, x_label, y_label),
    ]
    if bound:
        made.append(f'<polyline class="bound" points="{curve(bound.of, x, y, low, high)}"/>')
    for line in lines:
        if is_fitted(line):
            c, k = fit(line.points)
            ends = line.points[0][0], line.points[-1][0]
            points = curve(lambda value, c=c, k=k: c * value**k, x, y, *ends)
            made.append(f'<polyline class="fit l{line.colour}" points="{points}"/>')
        dashed = " dashed" if line.dashed else ""
        if len(line.points) > 1:
            points = polyline(line.points, x, y)
            made.append(f'<polyline class="line l{line.colour}{dashed}" points="{points}"/>')
        for a, b in line.points:
            told = escape(f"{line.name}: {number(b)} at {number(a)}")
            made.append(
                f'<use class="point m{line.colour}" href="#m{line.colour}" x="{x.place(a):.1f}" '
                f'y="{y.place(b):.1f}"><title>{told}</title></use>'
            )
    return "\n".join([*made, *legend(lines, bound), "</svg>"]) + "\n"
