# SPDX-License-Identifier: MIT
"""Every enum of the public headers has a name for each value, and is printed with it: the header
that declares the enum declares to_string and operator<< for it, too."""

import re

from cpp_scan import CLASS_HEAD, code_of, line_of, read, scan
from source_text import sources

ENUM = re.compile(r"\benum\s+(?:class|struct)?\s*(\w+)[^;{}]*$")


def enums(code: str):
    """(where, name) of each enum. The name has the classes around it and no namespaces."""
    blocks, _ = scan(code)
    for block in blocks:
        head = code[block.start : block.opening]
        match = ENUM.search(head)
        if not match:
            continue
        names = [match.group(1)]
        outer = block.outer
        while outer >= 0:
            around = CLASS_HEAD.search(code[blocks[outer].start : blocks[outer].opening])
            if around:
                names.insert(0, around["name"])
            outer = blocks[outer].outer
        yield block.start + match.start(), "::".join(names)


def check(root) -> list[str]:
    found = []
    for path in sources(root, "include"):
        if path.parent.name == "detail":  # not for applications
            continue
        code = code_of(read(path))
        for at, name in enums(code):
            place = f"{path.relative_to(root)}:{line_of(code, at)}"
            if not re.search(rf"\bto_string\(\s*{name} \w+\)", code):
                found.append(f"{place}: {name} has no to_string")
            if not re.search(rf"\boperator<<\(std::ostream& \w+,\s*{name} \w+\)", code):
                found.append(f"{place}: {name} has no operator<<")
    return found


FIXTURE = {
    "include/sessionq/detail/inner.hpp": "enum class Inner { one };\n",
    "include/sessionq/a.hpp": (
        "namespace sessionq {\n"
        "enum class Good : std::uint8_t {\n    one, ///< {\n};\n"
        "std::string_view to_string(Good value) noexcept;\n"
        "std::ostream& operator<<(std::ostream& out, Good value);\n"
        "enum class Nameless { one };\n"
        "std::ostream& operator<<(std::ostream& out, Nameless value);\n"
        "struct Holder {\n    enum class State : int { one };\n    enum class Action { one };\n};\n"
        "std::string_view to_string(Holder::State value) noexcept;\n"
        "std::ostream& operator<<(std::ostream& out,\n    Holder::State value);\n"
        "// std::string_view to_string(Holder::Action value) noexcept;\n"
        "enum Plain { two };\n"
        "} // namespace sessionq\n"
    ),
}
EXPECTED = [
    "include/sessionq/a.hpp:7",
    "include/sessionq/a.hpp:11",
    "include/sessionq/a.hpp:11",
    "include/sessionq/a.hpp:17",
    "include/sessionq/a.hpp:17",
]
