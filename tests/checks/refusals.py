#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong uses of the public headers do not compile, and the compiler says why.

    refusals.py INCLUDE COMPILER

A case without words must compile. It shows that the others fail for their own reason.
"""

import subprocess
import sys
from pathlib import Path

PROLOGUE = """\
#include <memory>

#include <sessionq/session_processor.hpp>

using namespace sessionq;

struct Coroutine {}; // what a coroutine returns

void use([[maybe_unused]] SessionProcessor& processor, [[maybe_unused]] Completion completion) {
    %s
}
"""

TAKES = "a handler of messages takes a MessageContext&"
RETURNS = "a coroutine becomes a handler by"
STARTS = "the arguments of the handler and a Completion"

CASES = [
    ("processor.on_session_open([](SessionContext&) {});", None),
    ("processor.on_session_close([](SessionContext&, CloseReason) {});", None),
    ("processor.on_error([one = std::make_unique<int>(1)](const ErrorContext&) {});", None),
    ("processor.on_message(MessageHandler::started_by([](MessageContext&, Completion) {}));", None),
    ("processor.on_message([](SessionContext&) {});", TAKES),
    ("processor.on_message([](MessageContext&, Completion) {});", TAKES),
    ("processor.on_session_open([](MessageContext&) {});", TAKES),
    ("processor.on_session_close([](SessionContext&) {});", TAKES),
    ("processor.on_session_close(SessionOpenHandler{});", TAKES),
    ("processor.on_session_open([](SessionContext&) { return Coroutine{}; });", RETURNS),
    ("processor.on_session_open(SessionOpenHandler::started_by([](SessionContext&) {}));", STARTS),
    ("processor.on_message(MessageHandler::started_by([](MessageContext&, Completion&) {}));",
     STARTS),
    ("processor.on_message(MessageHandler::started_by("
     "[](MessageContext&, Completion) { return Coroutine{}; }));", RETURNS),
    ("const Completion copy = completion;", "Completion"),
]


def problem(include: Path, compiler: str, code: str, words: str | None) -> str | None:
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-I", str(include), "-x", "c++", "-"],
        input=PROLOGUE % code, capture_output=True, text=True, check=False,
    )
    if words is None:
        return None if done.returncode == 0 else f"does not compile: {code}\n{done.stderr}"
    if done.returncode == 0:
        return f"compiles: {code}"
    return None if words in done.stderr else f"does not say {words!r}: {code}\n{done.stderr}"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = [problem(Path(arguments[0]), arguments[1], *case) for case in CASES]
    for each in filter(None, found):
        print(each)
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
