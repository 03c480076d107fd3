#pragma once

#include <deque>
#include <string>
#include <vector>

#include "processor/session_machine.hpp"

namespace sessionq::test {

/// A session machine beside a model of its lane. Handlers start and end when the test says so.
class SessionBench {
public:
    explicit SessionBench(ProcessorOptions given = {}, bool has_open = false,
                          bool has_close = false)
        : options{std::move(given)},
          machine{{.options = options,
                   .tuning = tuning,
                   .budget = budget,
                   .random = random,
                   .idle_timeout = options.session_idle_timeout,
                   .calls = options.max_concurrent_calls_per_session,
                   .has_open = has_open,
                   .has_close = has_close},
                  now} {}

    /// Gives the machine an input and performs its actions; returns them in words.
    template <typename Input>
    std::string feed(Input input) {
        std::string text;
        processor::SessionActions actions;
        input(machine, actions);
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const processor::SessionAction action = actions[i];
            text.append(text.empty() ? "" : " ").append(word(action));
            perform(action, actions);
        }
        return text;
    }

    std::string begin() {
        return feed([this](auto& m, auto& out) { m.begin(now, out); });
    }
    std::string arrive() {
        messages.emplace_back();
        processor::MessageMachine& message = messages.back();
        return feed([&](auto& m, auto& out) {
            m.arrived(message, 100, options.receive_and_delete, now, out);
        });
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
        return feed([&](auto& m, auto& out) { m.ended(message, end, now, out); });
    }
    std::string succeed(processor::MessageMachine& message) { return end(message, {}); }
    /// As it is told where calls run one at a time.
    std::string fail(processor::MessageMachine& message) {
        return end(message, {.ending = processor::Ending::failed, .holds_lane = holds});
    }
    std::string answer(processor::MessageMachine& message, const Failure* failure = nullptr) {
        return feed([&](auto& m, auto& out) { m.answered(message, failure, now, out); });
    }
    std::string drained() {
        return feed([this](auto& m, auto& out) { m.drained(now, out); });
    }
    std::string leave(CloseReason why) {
        return feed([&](auto& m, auto& out) { m.leave(why, now, out); });
    }
    std::string lose(CloseReason why = CloseReason::lock_lost) {
        return feed([&](auto& m, auto& out) { m.lose(why, now, out); });
    }
    std::string open_ended(bool succeeded) {
        opening = false;
        return feed([&](auto& m, auto& out) { m.open_ended(succeeded, now, out); });
    }
    /// Time passes, and the machine is called if it wants to be.
    std::string pass(Duration length) {
        now += length;
        return machine.next() > now ? std::string{}
                                    : feed([this](auto& m, auto& out) { m.due(now, out); });
    }

    ProcessorOptions options;
    processor::Tuning tuning{};
    core::ByteBudget budget{std::size_t{64} << 20U};
    core::Random random{1};
    TimePoint now{std::chrono::hours{1}};
    processor::SessionMachine machine;
    std::deque<processor::MessageMachine> messages{};
    std::deque<processor::MessageMachine*> lane{};      ///< not started
    std::vector<processor::MessageMachine*> settling{}; ///< not answered
    bool opening{false};                                ///< on_session_open has not started
    bool closing{false};                                ///< on_session_close runs
    bool link_closes{false};                            ///< the link's close is not answered
    bool draining{false};                               ///< the link's drain is not answered
    bool finished{false};
    std::uint32_t credit{0}; ///< of the link
    bool holds{true};

private:
    static std::string word(const processor::SessionAction& action) {
        static constexpr const char* kinds[] = {
            "opened",     "lock_over",  "pause",     "resume", "release_lane", "limit",
            "take_back",  "enqueue",    "put_first", "settle", "dispose",      "credit",
            "drain",      "run_open",   "run_close", "lost",   "silent",       "drop_link",
            "close_link", "leave_slot", "finish"};
        static constexpr const char* verdicts[] = {"complete", "abandon", "release",
                                                   "failed",   "expired", "session"};
        std::string text = kinds[static_cast<std::size_t>(action.kind)];
        if (action.kind == processor::SessionAction::Kind::settle) {
            text.append(":").append(verdicts[static_cast<std::size_t>(action.verdict)]);
        }
        return text;
    }

    void perform(const processor::SessionAction& action, processor::SessionActions& actions) {
        using Kind = processor::SessionAction::Kind;
        switch (action.kind) {
        case Kind::run_open: opening = true; break;
        case Kind::run_close: closing = true; break;
        case Kind::close_link: link_closes = true; break;
        case Kind::add_credit: credit += action.count; break;
        case Kind::drain: draining = true; break;
        case Kind::drop_link: draining = link_closes = false; break;
        case Kind::finish: finished = true; break;
        case Kind::enqueue: lane.push_back(action.message); break;
        case Kind::put_first: lane.push_front(action.message); break;
        case Kind::settle: settling.push_back(action.message); break;
        case Kind::dispose: std::erase(settling, action.message); break;
        case Kind::take_back:
            if (std::exchange(opening, false)) {
                machine.open_skipped(now, actions);
            }
            while (!lane.empty()) {
                machine.taken_back(start(), now, actions);
            }
            machine.all_taken_back(now, actions);
            break;
        default: break;
        }
    }
};

} // namespace sessionq::test
