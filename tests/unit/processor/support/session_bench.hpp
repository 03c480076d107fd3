// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "processor/session_machine.hpp"
#include "unit/processor/support/abandon_delay.hpp"

namespace sessionq::test {

/// A session machine beside a model of its lane. Handlers start and end when the test says so.
class SessionBench {
public:
    using Machine = processor::SessionMachine;

    explicit SessionBench(ProcessorOptions given = {}, bool has_open = false,
                          bool has_close = false, bool ordered = true)
        : options{without_default_delay(std::move(given))},
          machine{{.options = options,
                   .tuning = tuning,
                   .budget = budget,
                   .random = random,
                   .parked = parked,
                   .settling = settled,
                   .drain_time = drain_time,
                   .limits = {.idle_timeout = options.session_idle_timeout,
                              .prefetch = options.prefetch},
                   .calls = options.max_concurrent_calls_per_session,
                   .ordered = ordered,
                   .has_open = has_open,
                   .has_close = has_close},
                  now} {
        parked.limit(1);
        settled.limit(1);
    }

    /// Gives the machine an input and performs its actions; returns them in words.
    template <typename... Wants, typename... Gives>
    std::string feed(void (processor::SessionMachine::*input)(Wants...), Gives&&... gives) {
        std::string text;
        (machine.at(now).*input)(std::forward<Gives>(gives)...);
        CHECK(machine.actions().run([&](const processor::SessionAction& action) {
            if (action.kind == processor::SessionAction::Kind::report_failed) {
                return; // error_context_test.cpp looks at it
            }
            text.append(text.empty() ? "" : " ").append(word(action));
            perform(action);
        }));
        return text;
    }

    std::string begin() { return feed(&Machine::begin); }
    std::string arrive() {
        messages.emplace_back();
        return feed(&Machine::arrived, messages.back(), 100U, options.receive_and_delete);
    }
    /// A worker takes the next message of the lane.
    processor::MessageMachine& start() {
        processor::MessageMachine& message = *lane.front();
        lane.pop_front();
        return message;
    }
    processor::MessageMachine& arrive_and_start() {
        static_cast<void>(arrive());
        return start();
    }
    std::string end(processor::MessageMachine& message, const processor::MessageEnd& end) {
        return feed(&Machine::ended, message, end);
    }
    std::string succeed(processor::MessageMachine& message) { return end(message, {}); }
    /// As it is told where calls run one at a time.
    std::string fail(processor::MessageMachine& message) {
        return end(message, {.ending = processor::Ending::failed, .holds_lane = holds});
    }
    std::string answer(processor::MessageMachine& message, const Failure* failure = nullptr) {
        return feed(&Machine::answered, message, failure);
    }
    std::string drained() { return feed(&Machine::drained); }
    std::string leave(CloseReason why) { return feed(&Machine::leave, why); }
    std::string lose(Errc why = Errc::lock_lost) { return feed(&Machine::link_lost, why); }
    std::string open_ended(bool succeeded, std::uint32_t failed_before = 0) {
        opening = false;
        return feed(&Machine::open_ended, succeeded, failed_before);
    }
    /// Time passes, and the machine is called if it wants to be.
    std::string pass(Duration length) {
        now += length;
        return machine.next() > now ? std::string{} : feed(&Machine::due);
    }

    ProcessorOptions options;
    processor::Tuning tuning{};
    core::ByteBudget budget{std::size_t{64} << 20U, 1024};
    core::Random random{1};
    processor::SessionCount parked{};
    processor::SessionCount settled{}; ///< sessions that settle without a slot
    processor::DrainTime drain_time{};
    TimePoint now{std::chrono::hours{1}};
    processor::SessionMachine machine;
    std::deque<processor::MessageMachine> messages{};
    std::deque<processor::MessageMachine*> lane{};      ///< not started
    std::vector<processor::MessageMachine*> settling{}; ///< not answered
    bool opening{false};                                ///< on_session_open has not started
    bool closing{false};                                ///< on_session_close runs
    bool link_closes{false};                            ///< the link's close is not answered
    bool draining{false};                               ///< the link's drain is not answered
    bool opened{false};                                 ///< as it was left
    bool finished{false};
    std::uint32_t credit{0}; ///< of the link
    bool holds{true};

private:
    static std::string word(const processor::SessionAction& action) {
        static constexpr const char* kinds[] = {
            "opened",     "lock_over", "pause",     "resume", "release_lane", "limit",
            "take_back",  "enqueue",   "put_back",  "settle", "dispose",      "credit",
            "drain",      "run_open",  "run_close", "silent", "parked",       "drop_link",
            "close_link", "free_slot", "let_go",    "finish", "show",         "renew",
            "expired",    "warn",      "slow",      "read",   "write",        "note",
            "turn",       "end_turn"};
        static constexpr const char* verdicts[] = {"complete", "abandon", "release", "failed",
                                                   "expired",  "session", "killer"};
        std::string text = kinds[static_cast<std::size_t>(action.kind)];
        if (action.kind == processor::SessionAction::Kind::lock_over && action.count != 0) {
            text.insert(0, "lost ");
        }
        if (action.kind == processor::SessionAction::Kind::settle) {
            text.append(":").append(verdicts[static_cast<std::size_t>(action.verdict)]);
        }
        return text;
    }

    void perform(const processor::SessionAction& action) {
        using Kind = processor::SessionAction::Kind;
        switch (action.kind) {
        case Kind::run_open: opening = true; break;
        case Kind::run_close: closing = true; break;
        case Kind::close_link: link_closes = true; break;
        case Kind::add_credit: credit += action.count; break;
        case Kind::drain: draining = true; break;
        case Kind::drop_link: draining = link_closes = false; break;
        case Kind::let_go: opened = action.count != 0; break;
        case Kind::finish: finished = true; break;
        case Kind::enqueue: lane.push_back(action.message); break;
        case Kind::put_back: lane.push_front(action.message); break;
        case Kind::settle: settling.push_back(action.message); break;
        case Kind::dispose: std::erase(settling, action.message); break;
        case Kind::take_back:
            if (std::exchange(opening, false)) {
                machine.open_skipped();
            }
            while (!lane.empty()) {
                machine.taken_back(start());
            }
            machine.all_taken_back();
            break;
        default: break;
        }
    }
};

} // namespace sessionq::test
