# SPDX-License-Identifier: MIT
"""The shape of the code, as far as a script can measure what helps a reader.

A class counts with all its files: its body and the definitions of its members. These are warnings:
- class-lines: a class of more than 400 lines;
- public-methods: a class of more than 20 public methods;
- lone-headers: headers of a part that one module includes and no test, a module being a header
  and its source. They are private helpers, and stand best in the module that they help;
- phase-files: files of a part that assign a `phase` which is not their own class's.
structure_signed.txt lists the warnings that somebody has looked at, each with its figure and the
reason why it may stay. The check fails if one is not signed, if its figure has grown, or if it is
no longer there.

Never signed: a mutant's hook in a source, a post of nothing, a line over 100 columns.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from cpp_scan import CLASS_HEAD, code_of, line_of, read, scan
from source_text import sources

SIGNED = "tests/checks/structure_signed.txt"
LIMITS = {"class-lines": 400, "public-methods": 20, "lone-headers": 0, "phase-files": 1}
COLUMNS = 100

MEMBER_OF = re.compile(r"([\w:]*\w)(?:<[^<>]*>)?::(?:~?\w+|operator\s*\S+)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PHASE = re.compile(r"(?:\.|->)phase\s*=(?!=)")
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
    lines: int = 0
    public_methods: int = 0


def without_templates(text: str) -> str:
    text = text.replace("->", "  ").replace("<=>", "   ")
    while True:
        shorter = re.sub(r"<[^<>;]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def declarations(code: str, opening: int, closing: int, blocks, access: str):
    """Every declaration of a class body with its access, without what stands in its braces."""
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
    for part in re.split(r"\b(public|protected|private)\s*:(?!:)", text):
        if part in ("public", "protected", "private"):
            access = part
            continue
        for declaration in part.split(";"):
            yield access, " ".join(declaration.split())


def is_method(declaration: str) -> bool:
    """Not a constructor, a destructor, or one that is deleted or defaulted."""
    if NO_MEMBER.match(declaration):
        return False
    plain = re.sub(r"\[\[.*?\]\]", "", without_templates(declaration)).strip()
    head = plain.split("=")[0] if "operator" not in plain else plain
    if "(" not in head and "operator" not in head:
        return False
    deleted = re.search(r"=\s*(?:default|delete)$", plain)
    constructor = re.match(r"(?:explicit |constexpr |virtual |noexcept )*~?\w+\s*\(", head)
    return not deleted and not constructor


def classes_of(root: Path) -> dict[tuple[str, str], Class]:
    """By part and name. Classes of the same name in one part count as one."""
    found: dict[tuple[str, str], Class] = {}
    for path in sources(root, "sdk", "include"):
        where = path.relative_to(root)
        part = part_of(where)
        code = code_of(read(path))
        blocks, _ = scan(code)
        for block in blocks:
            head = code[block.start : block.opening].rstrip()
            start = block.start + len(head) - len(head.lstrip())
            lines = code.count("\n", start, block.closing) + 1
            place = f"{where}:{line_of(code, start)}"
            match = CLASS_HEAD.search(head)
            if block.kind == "scope" and match and not re.search(r"\benum\b", head):
                name = match.group("name").split("::")[-1]
                each = found.setdefault((part, name), Class(place))
                each.where = place
                each.lines += lines
                access = "private" if match.group("key") == "class" else "public"
                each.public_methods += sum(
                    access == "public" and is_method(declaration)
                    for access, declaration in declarations(
                        code, block.opening, block.closing, blocks, access
                    )
                )
            elif block.kind == "code" and (block.outer < 0 or blocks[block.outer].kind == "scope"):
                member = MEMBER_OF.search(head)
                outer = blocks[block.outer] if block.outer >= 0 else None
                in_class = outer and CLASS_HEAD.search(code[outer.start : outer.opening].rstrip())
                if member and not in_class:
                    name = member.group(1).split("::")[-1]
                    found.setdefault((part, name), Class(place)).lines += lines
    return found


def part_of(where: Path) -> str:
    return where.parts[1] if where.parts[0] == "sdk" else "include"


def lone_headers(root: Path) -> dict[str, list[str]]:
    """Of each part of sdk/."""
    users: dict[str, set[str]] = {}
    for path in sources(root, "sdk", "tests"):
        where = path.relative_to(root).as_posix().removeprefix("sdk/")
        for name in INCLUDE.findall(read(path)):
            users.setdefault(name, set()).add(where.rsplit(".", 1)[0])
    found: dict[str, list[str]] = {}
    for name, modules in sorted(users.items()):
        own = name.rsplit(".", 1)[0]
        if len(modules - {own}) == 1 and (root / "sdk" / name).is_file():
            found.setdefault(name.split("/")[0], []).append(name)
    return found


def phase_files(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sources(root, "sdk"):
        if PHASE.search(code_of(read(path))):
            where = path.relative_to(root)
            found.setdefault(part_of(where), []).append(where.as_posix())
    return found


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
    for (part, name), each in sorted(classes_of(root).items()):
        subject = f"{part}/{name}"
        if each.lines > LIMITS["class-lines"]:
            yield "class-lines", subject, each.lines, each.where, "lines in all its files"
        if each.public_methods > LIMITS["public-methods"]:
            yield "public-methods", subject, each.public_methods, each.where, "public methods"
    for part, names in sorted(lone_headers(root).items()):
        text = "headers that one module includes: " + ", ".join(names[:3])
        yield "lone-headers", part, len(names), f"sdk/{names[0]}:1", text
    for part, names in sorted(phase_files(root).items()):
        if len(names) > LIMITS["phase-files"]:
            text = "files assign a phase: " + ", ".join(names)
            yield "phase-files", part, len(names), f"{names[0]}:1", text
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


def signed(root: Path) -> tuple[dict[tuple[str, str], tuple[int, int]], list[str]]:
    """(figure, line) by rule and subject, and what is wrong with the list."""
    found, faults = {}, []
    path = root / SIGNED
    for number, line in enumerate(read(path).split("\n") if path.is_file() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        rule, subject, figure, *reason = line.split()
        found[rule, subject] = int(figure), number
        if rule not in LIMITS:
            faults.append(f"{SIGNED}:{number}: {rule} is never signed")
        elif len(reason) < 3:
            faults.append(f"{SIGNED}:{number}: {rule} {subject}: no reason")
    return found, faults


def check(root) -> list[str]:
    known, found = signed(root)
    for rule, subject, figure, where, text in measure(root):
        allowed, _ = known.pop((rule, subject), (None, 0))
        if allowed is None:
            limit = LIMITS.get(rule, 0)
            found.append(f"{where}: {subject}: {figure} {text}; {rule} allows {limit}")
        elif figure > allowed:
            found.append(f"{where}: {subject}: {figure} {text}; {allowed} are signed")
    for (rule, subject), (_, number) in known.items():
        found.append(f"{SIGNED}:{number}: {rule} {subject}: no longer needed")
    return found


FIXTURE = {
    SIGNED: (
        "# rule subject figure reason\npublic-methods ports/Grown 21 one for each question\n"
        "public-methods ports/Gone 22 one for each question\nlone-headers core 1 because\n"
        "public-methods ports/Known 22 one for each question\n"
        "empty-posts sdk/ports/post.cpp 2 a reason of words\n"
    ),
    "sdk/core/long.hpp": "class Long {\n" + "    int f();\n" * 200 + "};\n",
    "sdk/core/long.cpp": "int Long::f() {\n" + "    f();\n" * 199 + "}\nint Short::f() {\n}\n",
    "sdk/core/lone.hpp": "",
    "sdk/core/lone.cpp": '#include "core/lone.hpp"\n',
    "sdk/core/user.cpp": '#include "core/lone.hpp"\n#include "core/shared.hpp"\n',
    "sdk/core/shared.hpp": "",
    "sdk/core/other_user.hpp": '#include "core/shared.hpp"\n',
    "sdk/ports/busy.hpp": (
        "class Busy {\npublic:\n    Busy();\n    ~Busy();\n    Busy(const Busy&) = delete;\n"
        + "".join(f"    void f{i}() {{ a_ = 1; }}\n" for i in range(21))
        + "private:\n    int a_;\n    void g();\n};\nclass Known {\npublic:\n"
        + "".join(f"    virtual void f{i}() = 0;\n" for i in range(22))
        + "};\nstruct Grown {\n"
        + "".join(f"    [[nodiscard]] bool f{i}() const;\n" for i in range(22))
        + "};\nclass Quiet {\npublic:\n    void f();\nprivate:\n"
        + "".join(f"    void f{i}();\n" for i in range(22))
        + "};\n"
    ),
    "sdk/ports/post.cpp": (
        "void f() {\n    // mutated(1)\n    loop.post([x = std::move(x)] {});\n    post([] { g();"
        " });\n}\nvoid g() {\n    if (mutated(Mutant::one)) {\n    }\n    loop.post(\n       "
        " [self]() mutable { });\n}\n"
    ),
    "sdk/processor/one.cpp": "void f() {\n    if (state.phase == 1) {\n        g();\n    }\n}\n",
    "sdk/processor/two.cpp": "void f() {\n    state.phase = 1;\n}\n",
    "sdk/processor/three.cpp": "void f() {\n    state->phase = 1;\n}\n",
    "sdk/groups/four.cpp": "void f() {\n    state.phase = 1;\n}\n",
    "tests/run": "echo " + "x" * 95 + "\necho " + "x" * 96 + "\n",
    "README.md": "| " + "x" * 100 + "\n[a](https://" + "x" * 100 + ")\n" + "x" * 100 + "\n",
}
EXPECTED = [
    SIGNED + ":4",  # no reason
    SIGNED + ":6",  # cannot be signed
    "sdk/core/long.hpp:1",  # 202 lines there, 201 in the other file
    "sdk/ports/busy.hpp:1",  # 21 public methods
    "sdk/ports/busy.hpp:56",  # Grown exceeds what was signed
    "sdk/processor/three.cpp:1",
    "sdk/ports/post.cpp:7",  # asks for a mutant
    "tests/run:2",
    SIGNED + ":3",  # Gone
]
