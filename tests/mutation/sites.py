# SPDX-License-Identifier: MIT
"""Finds places in a C++ source where a small change makes a mutant.

The scanner knows blocks, statements and parentheses, not C++. It leaves out what it cannot read,
and run.py drops a change that does not compile. There are four kinds of change:

    negate    the condition of an `if` is negated
    bound     a comparison in a condition, return or assignment is moved: < to <=, == to !=, ...
    constant  a number grows by one, true becomes false and false true
    delete    a call or assignment is left out
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "checks"))
from cpp_scan import blank, code_of, line_of, scan  # noqa: E402

NUMBER = "MUTANT_NUMBER"
ON = f"::sessionq::mutation::on({NUMBER})"
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
BOUND = re.compile(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)")
CONSTANT = re.compile(r"(?<![\w.<'])(\d+|true|false)(?![\w.'])")
KEYWORDS = (
    "alignas|asm|auto|break|case|catch|class|co_await|co_return|co_yield|const|constexpr|continue|"
    "default|delete|do|else|enum|explicit|extern|for|friend|goto|if|inline|namespace|new|operator|"
    "private|protected|public|return|static|static_assert|struct|switch|template|thread_local|"
    "throw|try|typedef|typename|union|using|virtual|volatile|while"
)
KEYWORD = re.compile(rf"(?:{KEYWORDS})\b")
DECLARATION = re.compile(r"(?:const\s+)?[\w:]+(?:<[^;=]*>)?[\s&*]+[\w\[\], ]+?\s*(?:[({;]|=(?!=))")
ASSIGNED = re.compile(r"(?:const\s+)?[\w:]+(?:<[^;=]*>)?[\s&*]+\w+\s+=\s+(?=[^{}]*$)")
# Logging decides nothing; reserving changes speed alone.
IDLE = re.compile(r"(?:core::)?log\w*\(|\w*log_?\.|.*\breserve\(|.*shrink_to_fit\(|assert\(")


@dataclass(frozen=True)
class Site:
    """`text` replaces what is between `start` and `end`. NUMBER in it is the mutant's number."""

    kind: str
    line: int
    start: int
    end: int
    text: str
    summary: str


def closing(code: str, opening: int) -> int:
    """Where the parenthesis that opens here closes."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def sites(text: str) -> list[Site]:
    code = code_of(text)
    plain = blank(text, keep_literals=True)
    found: list[Site] = []

    def flat(start: int, end: int) -> str:
        return " ".join(plain[start:end].split())

    def changed(start: int, end: int):
        """(kind, start of the token, text with the token changed) of each change in there."""
        for match in BOUND.finditer(code, start, end):
            yield "bound", match, SWAPPED[match.group(1)]
        for match in CONSTANT.finditer(code, start, end):
            token = match.group(1)
            words = {"true": "false", "false": "true"}
            yield "constant", match, words.get(token) or str(int(token) + 1)

    def vary(start: int, end: int, before: str, between: str, after: str) -> None:
        """Offers each change between start and end; the rest of the unit stays in place."""
        for kind, match, token in changed(start, end):
            other = " ".join(
                (plain[start : match.start()] + token + plain[match.end() : end]).split()
            )
            summary = f"{flat(start, end)} -> {other}"
            new = before.format(ON) + other + between + text[start:end] + after
            found.append(Site(kind, line_of(text, match.start()), start, end, new, summary))

    for start, end in scan(code)[1]:
        start += len(code[start:end]) - len(code[start:end].lstrip())
        while label := re.match(r"(?:case\b[^;{}]*?[^:]:(?!:)|default\s*:)\s*", code[start:end]):
            start += label.end()
        unit = code[start:end]
        if not unit:
            continue
        condition = re.match(r"(?:else\s+)?if\s*\(", unit)
        if condition:
            opening = start + condition.end() - 1
            close = closing(code, opening)
            inner = code[opening + 1 : close]
            if close < 0 or ";" in inner or "{" in inner or DECLARATION.match(inner):
                continue
            negated = f"({ON} != static_cast<bool>({text[opening + 1 : close]}))"
            summary = f"{flat(opening, close + 1)} -> !{flat(opening, close + 1)}"
            found.append(
                Site("negate", line_of(text, opening), opening, close + 1, negated, summary)
            )
            vary(opening + 1, close, "{} ? (", ") : (", ")")
        elif code[end : end + 1] != ";" or "{" in unit and not unit.endswith(")"):
            continue
        elif unit.startswith("return ") and "{" not in unit:
            vary(start + 7, end, "{} ? (", ") : (", ")")
        elif KEYWORD.match(unit) and not re.match(r"(?:const|auto)\b", unit):
            continue
        elif assigned := ASSIGNED.match(unit):
            vary(start + assigned.end(), end, "{} ? (", ") : (", ")")
        elif (
            not KEYWORD.match(unit)
            and not DECLARATION.match(unit)
            and not IDLE.match(unit)
            and re.search(r"[(=]|\+\+|--", unit)
        ):
            wrapped = f"if (!{ON}) {{ {text[start : end + 1]} }}"
            summary = f"{flat(start, end + 1)} -> nothing"
            found.append(Site("delete", line_of(text, start), start, end + 1, wrapped, summary))
            if "{" not in unit:
                vary(start, end, "if ({}) {{ ", "; } else { ", "; }")
    return found
