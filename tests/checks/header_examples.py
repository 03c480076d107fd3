#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public class has an example in its comment, and all examples of the headers compile.

As a program, header_examples.py INCLUDE OUTPUT writes a source file that contains every example. A
build that compiles it shows that they are valid. Those of opentelemetry.hpp, which needs another
library, are in it only with a third argument, --opentelemetry. Those of boost_asio.hpp are never in
it: no source file can include it beside async.hpp.
"""

import re
import sys
from pathlib import Path

from source_text import sources

CLASS = re.compile(r"\s*class\s+(?:\[\[\w+\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::[^;{]*)?\{")

PROLOGUE = """\
// Made from the public headers by tests/checks/header_examples.py.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <sessionq/async.hpp>
#include <sessionq/json.hpp>
#include <sessionq/sessionq.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/recording_tracer.hpp>

using namespace sessionq;
"""
BOOST_ASIO = "boost_asio.hpp"
OPENTELEMETRY = "opentelemetry.hpp"
OPENTELEMETRY_PROLOGUE = """\
#include <opentelemetry/exporters/ostream/metric_exporter_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader.h>

#include <sessionq/opentelemetry.hpp>
"""
FUNCTION = """
void example_{number}([[maybe_unused]] Client& client, [[maybe_unused]] Sender& sender,
    [[maybe_unused]] SessionReceiver& receiver, [[maybe_unused]] SessionProcessor& processor) {{ {{
#line {line} "{header}"
{code}
}} }}
"""


def examples(text: str):
    """(line, code) of each example: the indented lines behind "Example:" in a comment."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        if not re.match(r"\s*/// Example:", lines[number]):
            number += 1
            continue
        while not re.match(r"\s*///     ", lines[number]):
            number += 1
        first, code = number + 1, []
        while number < len(lines) and re.match(r"\s*///(     .*)?$", lines[number]):
            code.append(lines[number].split("///", 1)[1])
            number += 1
        yield first, "\n".join(code).rstrip()


def check(root) -> list[str]:
    found = []
    for path in sources(root, "include"):
        if path.parent.name == "detail":  # not for applications
            continue
        comment = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            text = line.strip()
            if text.startswith("///"):
                comment += text + "\n"
                continue
            match = CLASS.match(line)
            if match and not list(examples(comment)):
                name = path.relative_to(root)
                found.append(f"{name}:{number}: class {match.group(1)} has no example")
            if not text.startswith(("template", "[[")):
                comment = ""
    return found


def write(include: Path, output: Path, opentelemetry: bool) -> None:
    source = (OPENTELEMETRY_PROLOGUE if opentelemetry else "") + PROLOGUE
    for path in sources(include.parent, include.name):
        if path.name == BOOST_ASIO or (path.name == OPENTELEMETRY and not opentelemetry):
            continue
        for line, code in examples(path.read_text(encoding="utf-8")):
            number = source.count("void example_")
            source += FUNCTION.format(number=number, line=line, header=path, code=code)
    output.write_text(source, encoding="utf-8")


FIXTURE = {
    "include/sessionq/detail/inner.hpp": "/// Has none.\nclass Inner {};\n",
    "include/sessionq/a.hpp": (
        "class Ahead;\n\n"
        "/// Good.\n///\n/// Example: made for this.\n///\n///     Good good;\n///\n"
        "///     good.use();\n///\n/// More.\nclass Good {\n};\n\n"
        "/// No example.\nclass Bad final : public Good {\n};\n"
    ),
}
EXPECTED = ["include/sessionq/a.hpp:16"]

if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), "--opentelemetry" in sys.argv[3:])
