// SPDX-License-Identifier: MIT
#include "processor/attempt_book.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::AttemptBook;
using processor::NotedAttempts;
using Next = processor::AttemptBook::Next;
using Kind = processor::SessionAction::Kind;

namespace {

struct AttemptBench {
    explicit AttemptBench(std::optional<CrashGuard> guard) : options{.crash_guard = guard} {}

    std::string actions() {
        std::string text;
        CHECK(session.actions.run([&](const processor::SessionAction& action) {
            text.append(text.empty() ? "" : " ");
            text.append(action.kind == Kind::write_attempts ? "write"
                        : action.kind == Kind::take_turn    ? "turn"
                        : action.kind == Kind::end_turn     ? "end"
                                                            : "?");
        }));
        return text;
    }
    /// A holder that is lost in the handler leaves `book.noted()` behind.
    Next attempt(std::int64_t sequence, bool holder_lost) {
        const Next next = book.admit({.sequence = sequence, .holder_lost = holder_lost});
        if (actions() == "turn") {
            book.turn_came();
            CHECK(actions() == "write");
        }
        if (next == Next::wait) {
            CHECK(book.written());
        }
        return next;
    }

    ProcessorOptions options;
    processor::Tuning tuning{};
    core::ByteBudget budget{std::size_t{64} << 20U, 1024};
    core::Random random{1};
    processor::SessionCount parked{};
    processor::SessionCount settling{};
    processor::DrainTime drain_time{};
    processor::SessionState session{{.options = options,
                                     .tuning = tuning,
                                     .budget = budget,
                                     .random = random,
                                     .parked = parked,
                                     .settling = settling,
                                     .drain_time = drain_time},
                                    TimePoint{1h}};
    AttemptBook book{session};
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
    CHECK(bench.actions().empty());
}

TEST_CASE("attempt book: R9: an attempt that ended is no death, however often") {
    AttemptBench bench{CrashGuard{}};
    for (int i = 0; i < 10; ++i) {
        CHECK(bench.attempt(5, true) == Next::wait);
        bench.book.ended({.ending = processor::Ending::failed});
        static_cast<void>(bench.actions());
        CHECK_FALSE(bench.book.written());
        CHECK(bench.book.noted().begun == 1);
    }
    CHECK(bench.attempt(5, true) == Next::wait);
    bench.book.ended({});
    bench.book.gone();
    CHECK(bench.book.tidy());
    CHECK(bench.book.noted().begun == 0);
}

TEST_CASE(
    "attempt book: R9: a suspect that is nearly condemned waits for its turn, and ends it once") {
    AttemptBench bench{CrashGuard{.deaths = 3}};
    bench.book.known({.sequence = 5, .begun = 2});
    CHECK(bench.book.admit({.sequence = 5}) == Next::wait);
    CHECK(bench.actions() == "turn");
    CHECK_FALSE(bench.book.written());
    bench.book.turn_came();
    CHECK(bench.actions() == "write");
    CHECK(bench.book.written());
    bench.book.gone(); // an earlier one
    CHECK(bench.actions().empty());
    bench.book.ended({});
    bench.book.gone();
    CHECK(bench.actions() == "end");
    bench.book.end_turn();
    CHECK(bench.actions().empty());

    AttemptBench left{CrashGuard{.deaths = 2}};
    CHECK(left.book.admit({.sequence = 5, .holder_lost = true}) == Next::wait);
    CHECK_FALSE(left.book.tidy()); // the session is left before the turn has come
    CHECK(left.actions() == "turn end");
    left.book.turn_came();
    CHECK(left.actions().empty());
}

TEST_CASE("attempt book: R9: what was noted and never started goes before the session does") {
    AttemptBench bench{CrashGuard{}};
    CHECK(bench.book.admit({.sequence = 5}) == Next::wait);
    bench.book.turn_came();
    CHECK(bench.actions() == "turn write");
    CHECK(bench.book.tidy());
    CHECK(bench.actions() == "end write");
    CHECK(bench.book.noted().begun == 0);
    CHECK(bench.book.is_writing());
    CHECK_FALSE(bench.book.written());
    CHECK_FALSE(bench.book.written());
    CHECK_FALSE(bench.book.is_writing());
    CHECK_FALSE(bench.book.tidy());
}
