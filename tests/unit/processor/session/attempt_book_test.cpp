// SPDX-License-Identifier: MIT
#include "processor/session/attempt_book.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::AttemptBook;
using detail::processor::NotedAttempts;
using Next = detail::processor::AttemptBook::Next;

namespace {

std::string words(const detail::processor::AttemptSteps& steps) {
    return std::string{steps.write ? "write" : ""} + (steps.write && steps.end_turn ? " " : "") +
           (steps.end_turn ? "end" : "");
}

struct AttemptBench {
    explicit AttemptBench(std::optional<CrashGuard> given) : guard{given} {}

    /// A holder that is lost in the handler leaves `book.noted()` behind.
    Next attempt(std::int64_t sequence, bool holder_lost) {
        const Next next = book.admit({.sequence = sequence, .holder_lost = holder_lost});
        if (next == Next::wait || next == Next::wait_alone) {
            CHECK(words(book.turn_came()) == "write");
            CHECK(book.written());
        }
        return next;
    }

    std::optional<CrashGuard> guard;
    AttemptBook book{guard};
};

/// How many consumers a message kills until it is out.
std::uint32_t kills(const CrashGuard& guard, bool broker_tells) {
    std::uint32_t dead = broker_tells ? 1 : 0; // before anything was noted
    NotedAttempts kept{};
    for (;; ++dead) {
        AttemptBench bench{guard};
        bench.book.known(kept);
        if (bench.attempt(5, broker_tells) == Next::out) {
            return dead;
        }
        kept = bench.book.noted();
    }
}

} // namespace

TEST_CASE("attempt book: R9: a message kills exactly n consumers") {
    for (std::uint32_t deaths = 2; deaths < 12; ++deaths) {
        CHECK(kills({.deaths = deaths}, true) == deaths);
        CHECK(kills({.deaths = deaths}, false) == deaths);
    }
}

TEST_CASE("attempt book: R9: without a guard everything starts, and nothing is written") {
    AttemptBench bench{std::nullopt};
    bench.book.known({.sequence = 5, .begun = 9});
    CHECK(bench.book.admit({.sequence = 5, .holder_lost = true}) == Next::start);
    CHECK_FALSE(bench.book.is_writing());
}

TEST_CASE("attempt book: R9: an attempt that ended is no death, however often") {
    AttemptBench bench{CrashGuard{}};
    for (int i = 0; i < 10; ++i) {
        CHECK(bench.attempt(5, true) == Next::wait);
        CHECK(words(bench.book.ended({.ending = detail::processor::Ending::failed})) ==
              "write end");
        CHECK_FALSE(bench.book.written());
        CHECK(bench.book.noted().begun == 1);
    }
    CHECK(bench.attempt(5, true) == Next::wait);
    CHECK(words(bench.book.ended({})).empty());
    CHECK(words(bench.book.gone()) == "end");
    CHECK(words(bench.book.tidy()) == "write");
    CHECK(bench.book.noted().begun == 0);
}

TEST_CASE(
    "attempt book: R9: a suspect that is nearly condemned waits for its turn, and ends it once") {
    AttemptBench bench{CrashGuard{.deaths = 3}};
    bench.book.known({.sequence = 5, .begun = 2});
    CHECK(bench.book.admit({.sequence = 5}) == Next::wait_alone);
    CHECK_FALSE(bench.book.written());
    CHECK(words(bench.book.turn_came()) == "write");
    CHECK(bench.book.written());
    CHECK(words(bench.book.gone()).empty()); // an earlier one
    CHECK(words(bench.book.ended({})).empty());
    CHECK(words(bench.book.gone()) == "end");
    CHECK_FALSE(bench.book.end_turn());

    AttemptBench left{CrashGuard{.deaths = 2}};
    CHECK(left.book.admit({.sequence = 5, .holder_lost = true}) == Next::wait_alone);
    CHECK(words(left.book.tidy()) == "end"); // the session is left before the turn has come
    CHECK(words(left.book.turn_came()).empty());
}

TEST_CASE("attempt book: R9: what was noted and never started goes before the session does") {
    AttemptBench bench{CrashGuard{}};
    CHECK(bench.book.admit({.sequence = 5}) == Next::wait);
    CHECK(words(bench.book.turn_came()) == "write");
    CHECK(words(bench.book.tidy()) == "write end");
    CHECK(bench.book.noted().begun == 0);
    CHECK(bench.book.is_writing());
    CHECK_FALSE(bench.book.written());
    CHECK_FALSE(bench.book.written());
    CHECK_FALSE(bench.book.is_writing());
    CHECK(words(bench.book.tidy()).empty());
}
