#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong uses of the public headers do not compile, and the compiler says why.

    refusals.py INCLUDE COMPILER

A case without words must compile. It shows that the others fail for their own reason. The headers
are compiled once, so that a case takes a fraction of a second.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = """\
#include <asio/awaitable.hpp>
#include <chrono>
#include <memory>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>
"""

PROGRAM = """\
using namespace sessionq;
using namespace std::chrono_literals;

struct Coroutine {}; // what a coroutine returns

struct Used {
    const Client& client;
    const Sender& sender;
    SessionProcessor& processor;
    SessionReceiver& receiver;
    Completion completion;
    MessageContext& context;
    SessionContext& session;
};

void use([[maybe_unused]] Used in) {
    [[maybe_unused]] auto& [client, sender, processor, receiver, completion, context, session] = in;
    %s
}
"""

TAKES = "a handler of messages takes a MessageContext&"
RETURNS = "a coroutine becomes a handler by"
STARTS = "the arguments of the handler and a Completion"
COROUTINE = "a coroutine of a handler returns asio::awaitable<void> and takes a"
NAMED = "GiveTheReceiverAName"
MESSAGE_COPY = "take it by reference, copy message()"
SESSION_COPY = "take it by reference, copy session_id()"
UNIT = "it needs a unit: std::chrono::seconds{5}"

CASES = [
    # handlers
    ("processor.on_session_open([](SessionContext&) {});", None),
    ("processor.on_session_close([](SessionContext&, CloseReason) {});", None),
    ("processor.on_messages([](std::span<MessageContext>) {});", None),
    ("processor.on_error([one = std::make_unique<int>(1)](const ErrorContext&) {});", None),
    ("processor.on_message(MessageHandler::started_by([](MessageContext&, Completion) {}));", None),
    ("processor.on_message([](SessionContext&) {});", TAKES),
    ("processor.on_message([](MessageContext&, Completion) {});", TAKES),
    ("processor.on_message([](MessageContext) {});", TAKES),
    ("processor.on_message([](const ReceivedMessage&) {});", TAKES),
    ("processor.on_message([](std::span<MessageContext>) {});", TAKES),
    ("processor.on_messages([](MessageContext&) {});", TAKES),
    ("processor.on_session_open([](MessageContext&) {});", TAKES),
    ("processor.on_session_open([](SessionContext) {});", TAKES),
    ("processor.on_session_close([](SessionContext&) {});", TAKES),
    ("processor.on_session_close(SessionOpenHandler{});", TAKES),
    ("processor.on_message([](MessageContext&) { return true; });", "a handler returns nothing"),
    ("processor.on_session_open([](SessionContext&) { return Coroutine{}; });", RETURNS),
    ("processor.on_message([](MessageContext&) -> asio::awaitable<void> { co_return; });", RETURNS),
    ("processor.on_session_open(SessionOpenHandler::started_by([](SessionContext&) {}));", STARTS),
    ("processor.on_message(MessageHandler::started_by([](MessageContext&, Completion&) {}));",
     STARTS),
    ("processor.on_message(MessageHandler::started_by("
     "[](MessageContext&, Completion) { return Coroutine{}; }));", RETURNS),
    # handlers that are coroutines
    ("processor.on_message("
     "coroutine([](MessageContext&) -> asio::awaitable<void> { co_return; }));", None),
    ("processor.on_message("
     "coroutine([](MessageContext) -> asio::awaitable<void> { co_return; }));", COROUTINE),
    ("processor.on_message("
     "coroutine([](MessageContext&) -> asio::awaitable<int> { co_return 1; }));", COROUTINE),
    ("processor.on_message(coroutine([](MessageContext&) {}));", COROUTINE),
    # what ends with its statement or its handler
    ("const Completion copy = completion;", "Completion"),
    ("for (auto& each : receiver.receive(10)) { each.complete(); }", None),
    ('for (auto& each : SessionReceiver::accept(client, "orders", "ada").receive(10)) {'
     " each.complete(); }", NAMED),
    ('auto one = SessionReceiver::accept(client, "orders", "ada").receive_deferred({1});', NAMED),
    ('auto all = Receiver::open(client, "plain").receive(10);', NAMED),
    ('auto one = Receiver::open(client, "plain").receive_deferred({1});', NAMED),
    ("auto& same = context; auto session_of = context.session();", None),
    ("auto kept = context;", MESSAGE_COPY),
    ("std::vector<MessageContext> kept; kept.push_back(context);", "MessageContext"),
    ("auto later = [context] { context.message(); };", MESSAGE_COPY),
    ("auto kept = session;", SESSION_COPY),
    ("auto kept = std::move(session);", SESSION_COPY),
    # values
    ("PropertyValue text{\"x\"}; PropertyValue character{U'x'};", None),
    ("PropertyValue text{'x'};", "write \"x\", U'x' or int{c}"),
    ("sender.send(Message::of(\"x\"), {.timeout = 5s}); auto one = receiver.receive_one(5s);",
     None),
    ("auto one = receiver.receive_one(std::chrono::hours::max());", None),
    ("auto one = receiver.receive_one(5);", UNIT),
    ("processor.stop(StopOptions{.timeout = 5});", UNIT),
    ("auto soon = Deadline::in(5);", UNIT),
    ("SessionProcessorOptions options{.session_idle_timeout = 5};", UNIT),
]


class Compiler:
    """Compiles programs that begin with the headers."""

    def __init__(self, include: Path, compiler: str, folder: Path) -> None:
        self._command = [compiler, "-std=c++20", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT",
                         "-I", str(include)]
        version = subprocess.check_output([compiler, "--version"], text=True)
        if "clang" in version:  # else it instantiates the headers' templates in each case
            self._command.append("-fpch-instantiate-templates")
        self._headers = folder / "headers.hpp"
        self._headers.write_text(HEADERS, encoding="utf-8")
        subprocess.run(
            [*self._command, "-x", "c++-header", str(self._headers), "-o",
             str(self._headers) + ".gch"], check=True,
        )

    def problem(self, code: str, words: str | None) -> str | None:
        done = subprocess.run(
            [*self._command, "-fsyntax-only", "-include", str(self._headers), "-x", "c++", "-"],
            input=PROGRAM % code, capture_output=True, text=True, check=False,
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
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(arguments[0]), arguments[1], Path(folder))
        found = [compiler.problem(*case) for case in CASES]
    for each in filter(None, found):
        print(each)
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
