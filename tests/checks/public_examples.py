# SPDX-License-Identifier: MIT
"""Every public name has an example or a sample that uses it. The names are the classes, structs,
enums and free functions of the public headers. The uses are in the code of the headers' examples,
of the guides and of the programs in samples/.

A name is used if its comment has an example, if the code has it, and also
- a struct of which the code has a member that no other struct has, such as `report.returned`,
- a struct that the code writes as `{.prefetch = 10}` in a statement with a function that takes it,
- a twin such as `try_purge` of a function that the code calls,
- a twin for coroutines: the example of async.hpp shows how all of them are awaited,
- a template whose alias the code has.
Operators and to_string are left out: the check enum_names holds that every enum has them.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from cpp_scan import CLASS_HEAD, blank, code_of, line_of, read, scan
from doc_links import GUIDES, README
from header_examples import examples
from source_text import sources

# Names that need no example, and why.
EXEMPT = {
    "Iterator": "a loop over a Browser makes it",
    "error_category": "std::error_code has it",
    "make_error_code": "std::error_code calls it",
    "to_trace_context": "the reverse of to_span_context, which has an example",
}

ENUM = re.compile(r"\benum\s+(?:class|struct)?\s*(?P<name>\w+)[^;{}]*$")
ALIAS = re.compile(r"\busing\s+(\w+)\s*=([^;]*);")
FUNCTION = re.compile(r"[\w>&*]\s+[&*]*(\w+)\s*\(")
DATA = re.compile(r"^(?!using\b|friend\b|static\b)[^()=]*[\w>&*]\s+(\w+)\s*(?:=.*)?$", re.DOTALL)
# A function and its parameters, whose defaults may have () and {}.
TAKES = re.compile(r"(\w+)\s*\(((?:[^;{}()]|\([^()]*\)|\{\})*)")
DESIGNATED = re.compile(r"[{,]\s*\.(\w+)\s*=")
FENCE = re.compile(r"^```cpp\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass
class Name:
    text: str
    header: str
    line: int
    has_example: bool
    members: set[str] = field(default_factory=set)  # of a struct: its data


class Header:
    def __init__(self, path: Path, place: str):
        self.place = place
        self.text = read(path)
        self.code = code_of(self.text)
        self.blocks, _ = scan(self.code)

    def head(self, block) -> str:
        return self.code[block.start : block.opening]

    def in_api(self, block) -> bool:
        """Whether it is in a namespace of the API, or in the public part of a class there."""
        if block.outer < 0:
            return False
        outer = self.blocks[block.outer]
        if "namespace" in self.head(outer):
            return "detail" not in self.head(outer)
        around = CLASS_HEAD.search(self.head(outer))
        if not around or not self.in_api(outer):
            return False
        before = self.code[outer.opening : block.opening]
        access = re.findall(r"\b(public|protected|private)\s*:(?!:)", before)
        return (access[-1] if access else around["key"]) not in ("private", "class")

    def declarations(self, block):
        """(where, text) of each in the block, without what stands in inner braces."""
        text = self.code[block.opening + 1 : block.closing]
        for inner in self.blocks:
            if block.opening < inner.opening and inner.closing < block.closing:
                at, end = inner.opening - block.opening - 1, inner.closing - block.opening
                filler = " " if inner.kind == "value" else ";"
                text = text[:at] + filler + re.sub(r"[^\n]", " ", text[at + 1 : end]) + text[end:]
        at = block.opening + 1
        for declaration in re.sub(r"\b(public|private):", r"\1;", text).split(";"):
            yield at, declaration
            at += len(declaration) + 1

    def names(self):
        for block in self.blocks:
            head = self.head(block)
            if re.search(r"\bnamespace\b", head):
                if "detail" not in head:
                    yield from self.functions(block)
            elif (match := ENUM.search(head) or CLASS_HEAD.search(head)) and self.in_api(block):
                at = block.start + match.start()
                name = self.name(match["name"].split("::")[-1], block.start, at)
                if not ENUM.search(head):
                    name.members = {
                        data[1]
                        for _, text in self.declarations(block)
                        if (data := DATA.match(text.strip()))
                    }
                yield name

    def functions(self, block):
        for at, text in self.declarations(block):
            plain = re.sub(r"\[\[.*?\]\]", lambda found: " " * len(found[0]), text)
            match = FUNCTION.search(plain)
            if match and not re.search(r"\boperator\b|^\s*(?:using|requires)\b", plain):
                if match[1] != "to_string":
                    yield self.name(match[1], at, at + match.start(1))

    def name(self, text: str, begin: int, at: int) -> Name:
        """The declaration at `at`. Its comment is behind `begin`."""
        has_example = any(examples(self.text[begin:at]))
        return Name(text, self.place, line_of(self.code, at), has_example)


def public_headers(root: Path) -> list[Path]:
    return [path for path in sources(root, "include") if path.parent.name != "detail"]


def using_code(root: Path) -> str:
    code = [read(path) for path in sources(root, "samples")]
    for path in public_headers(root):
        code += [text for _, text in examples(read(path))]
    for page in [root / README, *sorted((root / GUIDES).glob("*.md"))]:
        if page.is_file():
            code += FENCE.findall(read(page))
    return "\n".join(blank(text) for text in code)


def check(root) -> list[str]:
    code = using_code(Path(root))
    words, members_used = set(re.findall(r"\w+", code)), set(re.findall(r"\.(\w+)\b(?! *\()", code))
    headers = [
        Header(path, path.relative_to(root).as_posix()) for path in public_headers(Path(root))
    ]
    names = [name for header in headers for name in sorted(header.names(), key=lambda n: n.line)]
    statements = [
        (designated, set(re.findall(r"\w+", statement)))
        for statement in code.split(";")
        if (designated := set(DESIGNATED.findall(statement)))
    ]
    takers = defaultdict(set)  # struct -> the functions and constructors that take it
    for header in headers:
        for function, parameters in TAKES.findall(header.code):
            for word in re.findall(r"\w+", parameters):
                takers[word].add(function)
    structs_with = Counter(member for name in names for member in name.members)
    for header in headers:
        for alias, stands_for in ALIAS.findall(header.code):
            if alias in words:
                words |= set(re.findall(r"\w+", stands_for))

    def is_used(name: Name) -> bool:
        return (
            name.has_example
            or name.text in words
            or name.text.startswith("async_")
            or name.text.removeprefix("try_") in words
            or any(
                designated & name.members and called & takers[name.text]
                for designated, called in statements
            )
            or any(structs_with[member] == 1 for member in name.members & members_used)
        )

    told, found = set(EXEMPT), []
    for name in names:
        if name.text not in told and not is_used(name):
            found.append(
                f"{name.header}:{name.line}: {name.text} has no example, and no sample uses it"
            )
        told.add(name.text)
    return found


FIXTURE = {
    "include/sessionq/detail/inner.hpp": "namespace sessionq {\nclass Inner {};\n}\n",
    "include/sessionq/a.hpp": (
        "namespace sessionq::detail {\nstruct Hidden {};\n}\n"
        "namespace sessionq::inline v1 {\n"
        "class Ahead;\n"
        "/// Example:\n///\n///     made();\n"
        "class Shown {\npublic:\n    enum class State { one };\n    void member();\n"
        "private:\n    struct Own {};\n};\n"
        "enum class Sampled { one };\n"
        "enum class Guided { one };\n"
        "struct Options {\n    int depth{1};\n    int both{};\n};\n"
        "struct Others {\n    int both{};\n};\n"
        "struct Limits {\n    int both{};\n};\nvoid limit(int last, Limits limits = {});\n"
        "template <typename T>\nclass Handler {};\nusing IntHandler = Handler<int>;\n"
        "[[nodiscard]] int purge(Shown& shown);\n"
        "[[nodiscard]] int try_purge(Shown& shown);\n"
        "inline int drop(Shown& shown) {\n    return 0;\n}\n"
        "std::string_view to_string(Guided guided);\n"
        "std::ostream& operator<<(std::ostream& out, Guided guided);\n"
        "}\n"
    ),
    "samples/1.cpp": (
        "// Others, drop\nauto one = Sampled::one;\nauto two = made({.depth = 1, .both = 2});\n"
        'IntHandler three{"State"};\nlimit(4, {.both = 3});\n'
    ),
    README: "`Others`\n```sh\ndrop\n```\n",
    f"{GUIDES}/a.md": "```cpp\nGuided guided;\npurge(shown);\n```\nOthers\n",
}
EXPECTED = [
    "include/sessionq/a.hpp:11",
    "include/sessionq/a.hpp:22",
    "include/sessionq/a.hpp:34",
]
