# SPDX-License-Identifier: MIT
"""The shape of the code: size of classes, doers that decide nothing, no hooks, short lines.

A class counts with all its files: its body and the definitions of its members.

A *decider* takes inputs and answers with actions. The last word of its name shows it (DECIDERS),
or its whole name (OTHER_DECIDERS). Every other `class` of the parts in DOING is a *doer*, and so
is a `struct` with a base. Other structs are values. The limits of members and methods hold for
doers. A class without data members is an interface and has no such limits.

A branch is an `if`, a loop's condition, a `case`, a `?:`, an `&&` or an `||`. The check counts
those of processor/ in deciders and in doers. A free function counts for the class that its file
is named for, if there is one.

structure_exceptions.txt lists what the tree does not meet yet, each with its figure. The check
fails if an exception is exceeded or no longer needed, so the list only shrinks. `structure.py
ROOT` prints the list that a tree needs.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cpp_scan import CLASS_HEAD, code_of, line_of, read, scan
from source_text import sources

EXCEPTIONS = "tests/checks/structure_exceptions.txt"
DOING = ("processor", "ports", "servicebus", "groups", "in_process", "client")
DECIDERS = ("Machine", "Book", "Keeper", "Clock", "Window", "Timer", "Policy", "Pool", "Budget")
DECIDERS += ("Backoff", "Pace", "Claims", "Bounds")
OTHER_DECIDERS = {"GroupTable", "Dialect"}

LIMITS = {"class-lines": 400, "members": 12, "methods": 20}  # the others are 0
COLUMNS = 100
DECIDED = 69  # percent of the branches of processor/ that deciders hold, at least

BRANCH = re.compile(r"\b(?:if|while|for|case)\b|(?<=\s)(?:\?|&&|\|\|)(?=\s)")
MEMBER_OF = re.compile(r"([\w:]*\w)(?:<[^<>]*>)?::(?:~?\w+|operator\s*\S+)\s*\(")
HOOKS = {
    "mutated": re.compile(r"\bmutated\s*\("),
    "empty-posts": re.compile(
        r"\bpost\s*\(\s*\[[^\]]*\]\s*(?:\([^)]*\)\s*)?(?:mutable\s*)?\{\s*\}"
    ),
}
NO_MEMBER = re.compile(
    r"(?:using|friend|typedef|static_assert|enum|struct|class|union|template)\b"
    r"|(?:static|inline)\b.*=|$"
)
TEXT = {".hpp", ".cpp", ".py", ".md", ".sh", ".bash", ".cmake", ".mutants"}
TEXT_NAMES = {"CMakeLists.txt", "run", "lint"}
FOLDERS = ("include", "sdk", "samples", "tests", "cmake", ".ci")


@dataclass
class Class:
    where: str  # of its body
    body: bool = False
    doer: bool = False
    lines: int = 0
    members: list[str] = field(default_factory=list)
    bools: list[str] = field(default_factory=list)
    methods: int = 0
    branches: int = 0


def is_decider(name: str) -> bool:
    return name in OTHER_DECIDERS or name.endswith(DECIDERS)


def without_templates(text: str) -> str:
    text = text.replace("->", "  ").replace("<=>", "   ")
    while True:
        shorter = re.sub(r"<[^<>;]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def declarations(code: str, opening: int, closing: int, blocks) -> list[str]:
    """Every declaration of a class body, without what stands in its braces."""
    text = code[opening + 1 : closing]
    for block in blocks:
        if opening < block.opening and block.closing < closing:
            at, end = block.opening - opening - 1, block.closing - opening
            # A function's body ends its declaration; an initialiser does not.
            text = (
                text[:at]
                + (";" if block.kind == "code" else " ")
                + " " * (end - at - 1)
                + text[end:]
            )
    text = re.sub(r"\b(?:public|protected|private)\s*:(?!:)", ";", text)
    return [" ".join(part.split()) for part in text.split(";")]


def add_member(found: Class, declaration: str) -> None:
    if NO_MEMBER.match(declaration):
        return
    plain = re.sub(r"\[\[.*?\]\]", "", without_templates(declaration)).strip()
    head = plain.split("=")[0] if "operator" not in plain else plain
    if "(" in head or "operator" in head:
        deleted = re.search(r"=\s*(?:default|delete)$", plain)
        constructor = re.match(r"(?:explicit |constexpr |virtual |noexcept )*~?\w+\s*\(", head)
        if not deleted and not constructor:
            found.methods += 1
        return
    name = re.search(r"(\w+)\s*$", head)
    if name and re.search(r"\w\W+\w", head) and not head.startswith("static "):
        found.members.append(name.group(1))
        if re.match(r"(?:mutable )?(?:bool|std::atomic_bool|std::atomic<bool>)\b", declaration):
            found.bools.append(name.group(1))


def classes_of(root: Path) -> dict[tuple[str, str], Class]:
    """By part and name. Classes of the same name in one part count as one."""
    found: dict[tuple[str, str], Class] = {}
    for path in sources(root, "sdk", "include"):
        where = path.relative_to(root)
        part = where.parts[1] if where.parts[0] == "sdk" else "include"
        code = code_of(read(path))
        blocks, _ = scan(code)
        spans: list[tuple[int, int, str]] = []
        for block in blocks:
            head = code[block.start : block.opening].rstrip()
            start = block.start + len(head) - len(head.lstrip())
            lines = code.count("\n", start, block.closing) + 1
            place = f"{where}:{line_of(code, start)}"
            match = CLASS_HEAD.search(head)
            if block.kind == "scope" and match and not re.search(r"\benum\b", head):
                name = match.group("name").split("::")[-1]
                each = found.setdefault((part, name), Class(place))
                each.where, each.body = place, True
                each.lines += lines
                each.doer |= (match.group("key") == "class" or bool(match.group("bases"))) and (
                    part in DOING and not is_decider(name)
                )
                for declaration in declarations(code, block.opening, block.closing, blocks):
                    add_member(each, declaration)
                spans.append((start, block.closing, name))
            elif block.kind == "code" and (block.outer < 0 or blocks[block.outer].kind == "scope"):
                member = MEMBER_OF.search(head)
                outer = blocks[block.outer] if block.outer >= 0 else None
                in_class = outer and CLASS_HEAD.search(code[outer.start : outer.opening].rstrip())
                if member and not in_class:
                    name = member.group(1).split("::")[-1]
                    each = found.setdefault((part, name), Class(place))
                    each.lines += lines
                    spans.append((start, block.closing, name))
                elif not in_class:
                    spans.append((start, block.closing, words(path.stem)))
        for match in BRANCH.finditer(code):
            around = [span for span in spans if span[0] <= match.start() <= span[1]]
            if around:
                name = max(around)[2]
                found.setdefault((part, name), Class(f"{where}:1")).branches += 1
    return found


def words(stem: str) -> str:
    """The class for which a file is named."""
    return "".join(word.capitalize() for word in stem.split("_"))


def text_files(root: Path):
    for path in sorted(root.glob("*")):
        if path.is_file():
            yield path
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.is_file())


def long_lines(path: Path) -> list[int]:
    """Long links and the rows of Markdown tables cannot be broken."""
    found = []
    for number, line in enumerate(read(path).split("\n"), 1):
        if len(line) <= COLUMNS or re.search(r"https?://\S{60}", line):
            continue
        if path.suffix != ".md" or not line.startswith("|"):
            found.append(number)
    return found


def measure(root: Path):
    """(rule, subject, figure, where, text) of everything that a rule is broken by."""
    classes = classes_of(root)
    for (part, name), each in sorted(classes.items()):
        subject = f"{part}/{name}"
        if each.lines > LIMITS["class-lines"]:
            yield "class-lines", subject, each.lines, each.where, "lines in all its files"
        if not each.doer or not each.members:
            continue
        if len(each.members) > LIMITS["members"]:
            yield "members", subject, len(each.members), each.where, "data members"
        if each.methods > LIMITS["methods"]:
            yield "methods", subject, each.methods, each.where, "methods"
        if each.bools:
            yield "bool-members", subject, len(each.bools), each.where, ", ".join(each.bools)
    deciding = sum(
        each.branches
        for (part, name), each in classes.items()
        if part == "processor" and is_decider(name)
    )
    doing = sum(
        each.branches for (part, _), each in classes.items() if part == "processor" and each.doer
    )
    if deciding + doing and deciding * 100 < (deciding + doing) * DECIDED:
        share = deciding * 100 // (deciding + doing)
        text = f"percent of {deciding + doing} branches are outside deciders"
        yield "branches", "processor", 100 - share, "sdk/processor:1", text
    for path in sources(root, "sdk", "include"):
        code = code_of(read(path))
        name = path.relative_to(root).as_posix()
        for rule, wanted in HOOKS.items():
            lines = [line_of(code, match.start()) for match in wanted.finditer(code)]
            if lines:
                yield rule, name, len(lines), f"{name}:{lines[0]}", "places"
    for path in text_files(root):
        if path.suffix in TEXT or path.name in TEXT_NAMES:
            lines = long_lines(path)
            name = path.relative_to(root).as_posix()
            if lines:
                text = f"lines over {COLUMNS} columns"
                yield "columns", name, len(lines), f"{name}:{lines[0]}", text


def exceptions(root: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """(figure, line) by rule and subject."""
    found = {}
    path = root / EXCEPTIONS
    for number, line in enumerate(read(path).split("\n") if path.is_file() else [], 1):
        if line.strip() and not line.startswith("#"):
            rule, subject, figure = line.split()
            found[rule, subject] = int(figure), number
    return found


def check(root) -> list[str]:
    found = []
    known = exceptions(root)
    for rule, subject, figure, where, text in measure(root):
        allowed, _ = known.pop((rule, subject), (None, 0))
        if allowed is None:
            limit = 100 - DECIDED if rule == "branches" else LIMITS.get(rule, 0)
            found.append(f"{where}: {subject}: {figure} {text}; {rule} allows {limit}")
        elif figure > allowed:
            found.append(f"{where}: {subject}: {figure} {text}; its exception allows {allowed}")
    for (rule, subject), (_, number) in known.items():
        found.append(f"{EXCEPTIONS}:{number}: {rule} {subject}: no longer needed")
    return found


FIXTURE = {
    EXCEPTIONS: (
        "# rule subject figure\nmembers groups/Known 13\nmembers groups/Grown 13\nmembers"
        " groups/Gone 20\n"
    ),
    "sdk/core/long.hpp": "class Long {\n" + "    int f();\n" * 200 + "};\n",
    "sdk/core/long.cpp": "int Long::f() {\n" + "    f();\n" * 199 + "}\nint Short::f() {\n}\n",
    "sdk/groups/known.hpp": (
        "class Known {\n"
        + "".join(f"    std::function<void(int)> a{i}_{{[] {{ f(); }}}};\n" for i in range(13))
        + "};\nclass Grown {\n"
        + "".join(f"    int a{i}_{{{i}}};\n" for i in range(14))
        + "};\n"
    ),
    "sdk/ports/keeper.hpp": (
        "class LockKeeper {\n    bool warned_{false};\n};\n"
        "struct Plain {\n    bool said{false};\n};\n"
        "class Doer {\npublic:\n    bool f() const { return told_; }\n\nprivate:\n"
        "    bool told_{false};\n    bool flag() const;\n};\n"
        "class Busy {\n    Busy();\n    ~Busy();\n    Busy(const Busy&) = delete;\n    int one_;\n"
        + "".join(f"    void f{i}();\n" for i in range(21))
        + "};\nclass Interface {\n"
        + "".join(f"    virtual void f{i}() = 0;\n" for i in range(21))
        + "};\n"
    ),
    "sdk/ports/post.cpp": (
        "void f() {\n    // mutated(1)\n    loop.post([x = std::move(x)] {});\n    post([] { g();"
        " });\n}\nvoid g() {\n    if (mutated(Mutant::one)) {\n    }\n    loop.post(\n       "
        " [self]() mutable { });\n}\n"
    ),
    "sdk/processor/slot_machine.cpp": (
        "int SlotMachine::f(int a) {\n    if (a == 1 && b) {\n        return a ? 1 : 2;\n    }\n}\n"
    ),
    "sdk/processor/driver.cpp": (
        "class Driver {\n    int a_;\n};\nvoid Driver::f() {\n    if (a_ == 1) {\n    }\n"
        "    while (a_) {\n    }\n}\n"
    ),
    "tests/run": "echo " + "x" * 95 + "\necho " + "x" * 96 + "\n",
    "README.md": "| " + "x" * 100 + "\n[a](https://" + "x" * 100 + ")\n" + "x" * 100 + "\n",
}
EXPECTED = [
    "sdk/core/long.hpp:1",  # 202 lines there, 201 in the other file
    "sdk/groups/known.hpp:16",  # Grown exceeds its exception
    "sdk/ports/keeper.hpp:15",  # Busy has 21 methods
    "sdk/ports/keeper.hpp:7",  # Doer has a bool
    "sdk/processor:1",  # three branches of five
    "sdk/ports/post.cpp:7",  # asks for a mutant
    "sdk/ports/post.cpp:3",  # two empty posts
    "tests/run:2",
    EXCEPTIONS + ":4",  # Gone
]


def main() -> int:
    print(
        "# What the tree does not meet yet: rule, subject, figure. structure.py says what they"
        " mean."
    )
    for rule, subject, figure, _, _ in measure(Path(sys.argv[1]).resolve()):
        print(f"{rule} {subject} {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
