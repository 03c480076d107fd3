# SPDX-License-Identifier: MIT
"""Reads blocks and statements out of C++ text. It knows braces, parentheses and heads, not C++."""

import re
from dataclasses import dataclass
from pathlib import Path

from source_text import LITERAL_OR_COMMENT

CLASS_HEAD = re.compile(
    r"\b(?P<key>class|struct|union)\s+(?:\[\[.*?\]\]\s*)?(?P<name>[\w:]+)"
    r"(?:<.*?>)?(?:\s+final)?(?:\s*:(?!:)(?P<bases>.*))?\s*$",
    re.DOTALL,
)
_SCOPE_HEAD = re.compile(r"\b(?:class|struct|union|enum|namespace)\b|\bextern\s*$")
_BEFORE_CODE = re.compile(
    r"(?:\)|\]|[;{}]|\b(?:const|noexcept|override|final|else|do|try|mutable))$"
)
_RESULT_TYPE = re.compile(r"\)[^()]*->[^()]*$")


@dataclass(frozen=True)
class Block:
    """`kind`: "scope" (class, enum or namespace), "code", or "value" (an initialiser)."""

    kind: str
    start: int  # of the head
    opening: int
    closing: int
    outer: int  # index of the enclosing block, or -1


@dataclass(frozen=True)
class Function:
    """`name` has the classes around it and no namespaces."""

    name: str
    start: int  # of the head
    end: int


@dataclass
class _Frame:
    kind: str
    index: int
    depth: int = 0  # of parentheses
    start: int = 0  # of the statement or head


def blank(text: str, keep_literals: bool = False) -> str:
    """The text with comments, and literals unless kept, as white space of the same length."""

    def cover(match: re.Match) -> str:
        whole = match.group(0)
        return whole if keep_literals and whole[0] != "/" else re.sub(r"[^\n]", " ", whole)

    separated = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "\0", text)
    return LITERAL_OR_COMMENT.sub(cover, separated).replace("\0", "'")


def code_of(text: str) -> str:
    """The text without comments, literals and directives; every character keeps its place."""
    return re.sub(
        r"(?m)^[ \t]*#(?:.*\\\n)*.*$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), blank(text)
    )


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _kind(head: str, before: str, outer: str) -> str:
    if _SCOPE_HEAD.search(head) and "(" not in re.sub(r"alignas\s*\([^)]*\)", "", head):
        return "scope"
    if before.endswith(":"):
        return "code" if outer == "code" else "value"
    if _BEFORE_CODE.search(before) or _RESULT_TYPE.search(head):
        return "code"
    return "value"


def scan(code: str) -> tuple[list[Block], list[tuple[int, int]]]:
    """The blocks in the order of their braces, and (start, end) of each statement in code.

    A statement ends at its semicolon or at the brace that it opens.
    """
    blocks: dict[int, Block] = {}
    found: list[tuple[int, int]] = []
    frames = [_Frame("scope", -1)]
    heads: list[tuple[int, int]] = []  # start and opening of each block
    for at, char in enumerate(code):
        frame = frames[-1]
        if char in "([":
            frame.depth += 1
        elif char in ")]":
            frame.depth -= 1
        elif char == "{":
            head = code[frame.start : at]
            kind = _kind(head, head.rstrip() or code[:at].rstrip()[-1:], frame.kind)
            if frame.kind == kind == "code" and frame.depth == 0:
                found.append((frame.start, at))
            heads.append((frame.start, at))
            frames.append(_Frame(kind, len(heads) - 1, 0, at + 1))
        elif char == "}" and len(frames) > 1:
            closed = frames.pop()
            frame = frames[-1]
            blocks[closed.index] = Block(closed.kind, *heads[closed.index], at, frame.index)
            goes_on = code[at + 1 : at + 200].lstrip().startswith((";", ",", ")", "."))
            if closed.kind != "value" and frame.depth == 0 and not goes_on:
                frame.start = at + 1
        elif char == ";" and frame.depth == 0:
            if frame.kind == "code":
                found.append((frame.start, at))
            frame.start = at + 1
    return [blocks[index] for index in sorted(blocks)], found


_FUNCTION_NAME = re.compile(
    r"(?P<name>(?:\w+::)*(?:operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+|\w+)|~?\w+))\s*\("
)
_NO_NAME = {"decltype", "noexcept", "alignas", "explicit", "requires", "if", "for", "while"}


def _name_in(head: str) -> str:
    """Of the function that the head defines: what the first parenthesis outside of `<>` follows."""
    while "<" in head and head != (shorter := re.sub(r"(?<!operator)<[^<>()]*>", "", head)):
        head = shorter
    for match in _FUNCTION_NAME.finditer(head):
        if match["name"] not in _NO_NAME:
            return match["name"]
    return ""


def functions(code: str) -> list[Function]:
    """The functions that the code defines in namespaces and classes."""
    blocks, _ = scan(code)
    found = []
    for block in blocks:
        if block.kind != "code" or (block.outer >= 0 and blocks[block.outer].kind != "scope"):
            continue
        names = [_name_in(code[block.start : block.opening])]
        outer = block.outer
        while outer >= 0:
            if head := CLASS_HEAD.search(code[blocks[outer].start : blocks[outer].opening]):
                names.insert(0, head["name"])
            outer = blocks[outer].outer
        if names[-1]:
            found.append(Function("::".join(names), block.start, block.closing + 1))
    return found


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
