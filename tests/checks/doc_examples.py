#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every C++ block of README.md and of the guides in sdk/docs/ says in a comment line before it how
it compiles:

    <!-- the text of samples/a.cpp -->  the block is that file, without the line of its license
    <!-- compile: file -->              a source file, with its own includes
    <!-- compile: body -->              statements of a function that has client, sender, receiver,
                                        processor, broker and message (PROLOGUE and FUNCTION)
    <!-- compile: coroutine -->         the same in a coroutine
    <!-- compile: body, opentelemetry -->
                                        needs opentelemetry-cpp; so may the others

As a program, doc_examples.py ROOT OUTPUT writes a source file that contains every block. A build
that compiles it shows that they are valid. Blocks that need opentelemetry-cpp are in it only with a
third argument, --opentelemetry.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

LICENSE = "// SPDX-License-Identifier: MIT\n"  # the pages do not repeat it
BLOCK = re.compile(r"(?:^(?P<before>[^\n]*)\n)?^```(?:cpp|c\+\+)\n(?P<code>.*?)^```", re.M | re.S)
TEXT_OF = re.compile(r"<!-- the text of (\S+) -->$")
KIND = re.compile(r"<!-- compile: (file|body|coroutine)(, opentelemetry)? -->$")
INCLUDE = re.compile(r"^#include [^\n]*\n", re.MULTILINE)

PROLOGUE = """\
// Made from README.md and sdk/docs/ by tests/checks/doc_examples.py.
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <syncstream>
#include <thread>

#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/recording_tracer.hpp>
"""
OPENTELEMETRY_PROLOGUE = """\
#include <opentelemetry/exporters/ostream/metric_exporter_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader.h>

#include <sessionq/opentelemetry.hpp>
"""
FILE = """
namespace file_{number} {{
#line {line} "{page}"
{code}
}}
"""
FUNCTION = """
namespace {kind}_{number} {{
using namespace sessionq;
using namespace std::chrono_literals;
{result} example([[maybe_unused]] Client client, [[maybe_unused]] Sender& sender,
    [[maybe_unused]] SessionReceiver& receiver, [[maybe_unused]] SessionProcessor& processor,
    [[maybe_unused]] LocalBroker& broker, [[maybe_unused]] SessionMessage& message) {{ {{
#line {line} "{page}"
{code}
}} {end} }}
}}
"""


@dataclass
class Block:
    page: Path
    line: int  # of the first line of code
    kind: str  # empty: the comment is missing or unknown
    source: str  # of "the text of"
    opentelemetry: bool
    code: str


def pages(root: Path):
    yield root / "README.md"
    yield from sorted((root / "sdk/docs").glob("*.md"))


def blocks(root: Path):
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            before = (match["before"] or "").strip()
            line = text.count("\n", 0, match.start("code")) + 1
            source, kind = TEXT_OF.match(before), KIND.match(before)
            yield Block(
                page,
                line,
                "text" if source else kind[1] if kind else "",
                source[1] if source else "",
                bool(kind and kind[2]),
                match["code"],
            )


def check(root) -> list[str]:
    found = []
    for block in blocks(root):
        place = f"{block.page.relative_to(root)}:{block.line}"
        if not block.kind:
            found.append(f"{place}: no comment before this block says how it compiles")
        elif block.source:
            path = root / block.source
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if block.code != text.removeprefix(LICENSE):
                found.append(f"{place}: this is not the text of {block.source}")
    return found


def write(root: Path, output: Path, opentelemetry: bool) -> None:
    parts, includes = [], []
    for number, block in enumerate(blocks(root)):
        if block.opentelemetry and not opentelemetry:
            continue
        values = {"number": number, "line": block.line, "page": block.page}
        if block.kind in ("file", "text"):
            includes += INCLUDE.findall(block.code)
            code = INCLUDE.sub("\n", block.code)
            parts.append(FILE.format(code=code, **values))
        elif block.kind:
            is_coroutine = block.kind == "coroutine"
            parts.append(
                FUNCTION.format(
                    kind=block.kind,
                    result="asio::awaitable<void>" if is_coroutine else "void",
                    end="co_return;" if is_coroutine else "",
                    code=block.code,
                    **values,
                )
            )
    head = PROLOGUE + (OPENTELEMETRY_PROLOGUE if opentelemetry else "") + "".join(includes)
    output.write_text(head + "".join(parts), encoding="utf-8")


FIXTURE = {
    "README.md": (
        "# a\n\n<!-- the text of samples/a.cpp -->\n```cpp\nint a;\n```\n\n"
        "<!-- the text of samples/a.cpp -->\n```cpp\nint b;\n```\n"
        "<!-- the text of samples/gone.cpp -->\n```cpp\nint a;\n```\n"
    ),
    "sdk/docs/a.md": (
        "```cpp\nint a;\n```\n<!-- compile: body -->\n```cpp\nf();\n```\n"
        "<!-- compile: coroutine, opentelemetry -->\n```cpp\nf();\n```\n"
        "<!-- compile: module -->\n```cpp\nf();\n```\n```sh\nls\n```\n"
    ),
    "samples/a.cpp": LICENSE + "int a;\n",
}
EXPECTED = ["README.md:10", "README.md:14", "sdk/docs/a.md:2", "sdk/docs/a.md:14"]

if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), "--opentelemetry" in sys.argv[3:])
