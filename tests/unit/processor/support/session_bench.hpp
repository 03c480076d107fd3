// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "processor/session/session_machine.hpp"
#include "unit/processor/support/abandon_delay.hpp"

namespace sessionq::test {

/// A session machine beside a model of its lane. Handlers start and end when the test says so.
class SessionBench {
public:
    using Machine = detail::processor::SessionMachine;

    explicit SessionBench(SessionProcessorOptions given = {}, bool has_open = false,
                          bool has_close = false, bool ordered = true)
        : options{without_default_delay(std::move(given))},
          settings{.options = options,
                   .tuning = tuning,
                   .budget = budget,
                   .random = random,
                   .parked = parked,
                   .settling = settled,
                   .drain_time = drain_time,
                   .action_memory = action_memory,
                   .ordered = ordered,
                   .has_open = has_open,
                   .has_close = has_close},
          machine{settings,
                  {.limits = {.idle_timeout = options.session_idle_timeout,
                              .prefetch = options.prefetch},
                   .calls = options.max_concurrent_calls_per_session},
                  now} {
        parked.limit(1);
        settled.limit(1);
    }

    /// Gives the machine an input and performs its actions; returns them in words.
    template <typename... Wants, typename... Gives>
    std::string feed(void (detail::processor::SessionMachine::*input)(Wants...), Gives&&... gives) {
        std::string text;
        (machine.at(now).*input)(std::forward<Gives>(gives)...);
        CHECK(machine.actions().run([&](const auto& step) {
            const std::string word = word_of(step);
            text.append(text.empty() || word.empty() ? "" : " ").append(word);
            perform(step);
        }));
        return text;
    }

    std::string begin() { return feed(&Machine::begin); }
    std::string arrive() {
        messages.emplace_back();
        return feed(&Machine::arrived, messages.back(), 100U, options.receive_and_delete);
    }
    /// A worker takes the next message of the lane.
    detail::processor::MessageMachine& start() {
        detail::processor::MessageMachine& message = *lane.front();
        lane.pop_front();
        return message;
    }
    detail::processor::MessageMachine& arrive_and_start() {
        static_cast<void>(arrive());
        return start();
    }
    std::string end(detail::processor::MessageMachine& message,
                    const detail::processor::MessageEnd& end) {
        return feed(&Machine::ended, message, end);
    }
    std::string succeed(detail::processor::MessageMachine& message) { return end(message, {}); }
    /// As it is told where calls run one at a time.
    std::string fail(detail::processor::MessageMachine& message) {
        return end(message, {.ending = detail::processor::Ending::failed, .holds_lane = holds});
    }
    std::string answer(detail::processor::MessageMachine& message,
                       const Failure* failure = nullptr) {
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

    SessionProcessorOptions options;
    detail::processor::Tuning tuning{};
    core::ByteBudget budget{std::size_t{64} << 20U, 1024};
    core::Random random{1};
    detail::processor::SessionCount parked{};
    detail::processor::SessionCount settled{}; ///< sessions that settle without a slot
    detail::processor::DrainTime drain_time{};
    detail::processor::SessionActions::Spare action_memory{};
    TimePoint now{std::chrono::hours{1}};
    const detail::processor::SessionSettings settings;
    detail::processor::SessionMachine machine;
    std::deque<detail::processor::MessageMachine> messages{};
    std::deque<detail::processor::MessageMachine*> lane{};      ///< not started
    std::vector<detail::processor::MessageMachine*> settling{}; ///< not answered
    bool opening{false};                                        ///< on_session_open has not started
    bool closing{false};                                        ///< on_session_close runs
    bool link_closes{false}; ///< the link's close is not answered
    bool draining{false};    ///< the link's drain is not answered
    bool paused{false};      ///< the lane starts nothing
    bool opened{false};      ///< as it was left
    bool finished{false};
    std::uint32_t credit{0}; ///< of the link
    bool holds{true};

private:
    static std::string word_of(const detail::processor::action::CountOpened&) { return "opened"; }
    static std::string word_of(const detail::processor::action::RunOpen&) { return "run_open"; }
    static std::string word_of(const detail::processor::action::RunClose&) { return "run_close"; }
    static std::string word_of(const detail::processor::action::CountParked&) { return "parked"; }
    static std::string word_of(const detail::processor::action::FreeSlot&) { return "free_slot"; }
    static std::string word_of(const detail::processor::action::LetGo&) { return "let_go"; }
    static std::string word_of(const detail::processor::action::Finish&) { return "finish"; }
    static std::string word_of(const detail::processor::action::PauseLane&) { return "pause"; }
    static std::string word_of(const detail::processor::action::ResumeLane&) { return "resume"; }
    static std::string word_of(const detail::processor::action::ReleaseLane&) {
        return "release_lane";
    }
    static std::string word_of(const detail::processor::action::LimitLane&) { return "limit"; }
    static std::string word_of(const detail::processor::action::TakeBack&) { return "take_back"; }
    static std::string word_of(const detail::processor::action::Enqueue&) { return "enqueue"; }
    static std::string word_of(const detail::processor::action::PutBack&) { return "put_back"; }
    static std::string word_of(const detail::processor::action::Settle& step) {
        static constexpr const char* causes[] = {"failed", "expired", "session", "killer"};
        const auto& [outcome, cause] = step.resolution;
        return "settle:" + (outcome == ports::Outcome::dead_letter
                                ? std::string{causes[static_cast<std::size_t>(cause)]}
                                : std::string{ports::to_string(outcome)});
    }
    static std::string word_of(const detail::processor::action::Dispose&) { return "dispose"; }
    /// error_context_test.cpp looks at it.
    static std::string word_of(const detail::processor::action::ReportFailed&) { return ""; }
    static std::string word_of(const detail::processor::action::AddCredit&) { return "credit"; }
    static std::string word_of(const detail::processor::action::Drain&) { return "drain"; }
    static std::string word_of(const detail::processor::action::CloseLink&) { return "close_link"; }
    static std::string word_of(const detail::processor::action::DropLink&) { return "drop_link"; }
    static std::string word_of(const detail::processor::action::ShowLock&) { return "show"; }
    static std::string word_of(const detail::processor::action::RenewLock&) { return "renew"; }
    static std::string word_of(const detail::processor::action::WarnOfEnd&) { return "warn"; }
    static std::string word_of(const detail::processor::action::EndLock& step) {
        return step.lost ? "lost lock_over" : "lock_over";
    }
    static std::string word_of(const detail::processor::action::Report& step) {
        return step.source == ErrorSource::settlement                               ? "silent"
               : std::string_view{step.detail}.find("expired") != std::string::npos ? "expired"
                                                                                    : "slow";
    }
    static std::string word_of(const detail::processor::action::ReadRecord&) { return "read"; }
    static std::string word_of(const detail::processor::action::WriteDelay&) { return "write"; }
    static std::string word_of(const detail::processor::action::WriteAttempts&) { return "note"; }
    static std::string word_of(const detail::processor::action::TakeTurn&) { return "turn"; }
    static std::string word_of(const detail::processor::action::EndTurn&) { return "end_turn"; }

    template <typename Step>
    void perform(const Step&) {}
    void perform(const detail::processor::action::PauseLane&) { paused = true; }
    void perform(const detail::processor::action::ResumeLane&) { paused = false; }
    void perform(const detail::processor::action::RunOpen&) { opening = true; }
    void perform(const detail::processor::action::RunClose&) { closing = true; }
    void perform(const detail::processor::action::CloseLink&) { link_closes = true; }
    void perform(const detail::processor::action::AddCredit& step) { credit += step.messages; }
    void perform(const detail::processor::action::Drain&) { draining = true; }
    void perform(const detail::processor::action::DropLink&) { draining = link_closes = false; }
    void perform(const detail::processor::action::LetGo& step) { opened = step.opened; }
    void perform(const detail::processor::action::Finish&) { finished = true; }
    void perform(const detail::processor::action::Enqueue& step) { lane.push_back(step.message); }
    void perform(const detail::processor::action::PutBack& step) { lane.push_front(step.message); }
    void perform(const detail::processor::action::Settle& step) {
        settling.push_back(step.message);
    }
    void perform(const detail::processor::action::Dispose& step) {
        std::erase(settling, step.message);
    }
    void perform(const detail::processor::action::TakeBack&) {
        if (std::exchange(opening, false)) {
            machine.open_skipped();
        }
        while (!lane.empty()) {
            machine.taken_back(start());
        }
        machine.all_taken_back();
    }
};

} // namespace sessionq::test
