// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "processor/gather_clock.hpp"
#include "processor/retry_queue.hpp"
#include "processor/session_state.hpp"

namespace sessionq::processor {

/// What messages want of their session.
struct BookEffects {
    bool gone{false};                 ///< a message has left
    bool makes_room{false};           ///< a message waits, and others may come in its place
    bool turn_over{false};            ///< `max_messages_per_turn` messages were handled (R14)
    bool rewinds{false};              ///< what is behind a failed message goes back first (R6)
    bool dead_letters{false};         ///< the rest of the session is dead-lettered
    const Suspect* examines{nullptr}; ///< if set: the session's record is asked for it
    TimePoint parks_until{};          ///< if set: the session is parked
    TimePoint retries_at{};           ///< if set: the same, and other holders wait too

    /// A message waits for the session.
    [[nodiscard]] bool waits() const noexcept {
        return examines != nullptr || parks_until != TimePoint{} || retries_at != TimePoint{};
    }
};

/// Decides the way of a session's messages: keeps each in the list of its phase, and turns what its
/// machine says into actions. It also keeps the calls that hold the lane, and bounds the wait for
/// settlements (R15).
class MessageBook {
public:
    explicit MessageBook(SessionState& session) noexcept;

    void arrived(MessageMachine& message, MessageMachine::Arrival arrival, std::size_t bytes,
                 bool removed);
    void ended(MessageMachine& message, const MessageEnd& end);
    void answered(MessageMachine& message, bool success);
    /// What waits for more messages of its batch goes to the lane, if that is over.
    void gather();
    /// The lane gave it back unstarted.
    void taken_back(MessageMachine& message) {
        follow(message, message.taken_back(session_.back_verdict()));
    }
    /// What waits for more goes back, too, after all that was in the lane.
    void take_back_gathered();
    /// When to call `gather`; TimePoint::max(): nothing waits, or it goes back.
    [[nodiscard]] TimePoint gather_by() const noexcept {
        return session_.hands_on() ? gathering_clock_.until() : TimePoint::max();
    }
    /// What failed or waits for its next try goes back, or is forgotten.
    void let_back();
    void retries_due();
    /// The message's own lock is lost: if it waits, the broker has it.
    void lock_ended(MessageMachine& message);
    /// The session's record is known: what waited for it may start. `guarded`: with a note.
    void examined(bool guarded);
    /// What waited for it has killed too many consumers.
    void condemned();
    /// The link is dropped: no settlement is answered any more.
    void drop_link();
    /// Performs what the machine of a message said to another input.
    void follow(MessageMachine& message, const MessageActions& actions);

    /// What messages wanted since it was asked last.
    [[nodiscard]] std::optional<BookEffects> take_effects() noexcept {
        return std::exchange(effects_, std::nullopt);
    }

    /// A call holds the lane.
    void hold() noexcept { ++holds_; }
    void release_holds() { release(holds_); }

    [[nodiscard]] bool handlers_run() const noexcept {
        return !in_lane_.empty() || !settling_early_.empty();
    }
    /// How long a message has waited for a worker while no handler of the session runs.
    [[nodiscard]] Duration ready_for(TimePoint now, std::uint32_t running) const noexcept {
        const bool waits = running == 0 && !in_lane_.empty() && holds_ == 0 && session_.hands_on();
        return waits ? now - session_.progress_at : Duration::zero();
    }
    [[nodiscard]] bool is_settling() const noexcept {
        return !settling_.empty() || !settling_early_.empty();
    }
    /// Messages may start, or handlers run, and nothing else is awaited.
    [[nodiscard]] bool needs_workers() const noexcept {
        return session_.hands_on() && session_.phase != SessionState::Phase::held_back &&
               session_.phase != SessionState::Phase::opening && handlers_run() && !is_settling();
    }
    /// Nothing but the broker's answers to settlements is awaited.
    [[nodiscard]] bool only_settles() const noexcept {
        return !settling_.empty() && !handlers_run() && retrying_.empty() && failed_.empty() &&
               examining_.empty() && gathering_.empty();
    }
    /// What keeps a session that is not idle, for people.
    [[nodiscard]] std::string_view words() const noexcept {
        if (only_settles()) {
            return "settlements";
        }
        if (!handlers_run()) {
            return gathering_.empty() ? "the session's record" : "more messages of a batch";
        }
        return is_settling() ? "handlers and settlements" : "handlers";
    }
    [[nodiscard]] bool is_retrying() const noexcept { return !retrying_.empty(); }
    [[nodiscard]] TimePoint retry_at() const noexcept { return retrying_.next(); }
    /// Messages that others pass because they wait alone. They take no place in the window.
    [[nodiscard]] std::uint32_t set_aside() const noexcept;
    /// When to ask `settlements_overdue`; TimePoint::max(): nothing is unanswered.
    [[nodiscard]] TimePoint settlements_due() const noexcept {
        return is_settling() ? settle_look_ : TimePoint::max();
    }
    /// Since when none of several settlements was answered; TimePoint::max(): none is unanswered.
    [[nodiscard]] TimePoint unanswered_since() const noexcept {
        return is_settling() ? settle_by_ - session_.terms.tuning.settle_timeout : TimePoint::max();
    }
    /// None of several settlements was answered for too long.
    [[nodiscard]] bool settlements_overdue() noexcept;
    /// Messages in the lane or with a handler that runs. Walks them.
    [[nodiscard]] std::uint32_t in_lane() const noexcept;
    /// How many more messages fit into the turn, beside `used` ones; no bound: `window`.
    [[nodiscard]] std::uint32_t turn_window(std::uint32_t window,
                                            std::uint32_t used) const noexcept;

private:
    using Kind = SessionAction::Kind;
    using Messages = core::IntrusiveList<MessageMachine, MessageMachine>;

    template <typename Input>
    void each_of(Messages& messages, Input input);
    [[nodiscard]] Messages* list_of(MessageMachine::Phase phase) noexcept;
    void put_back(MessageMachine& message);
    [[nodiscard]] BookEffects& effects() noexcept {
        return effects_ ? *effects_ : effects_.emplace();
    }
    void release(std::uint32_t count);

    SessionState& session_;
    std::optional<BookEffects> effects_{};
    Messages gathering_{}; ///< waiting for more of their batch
    GatherClock gathering_clock_;
    Messages in_lane_{};        ///< waiting for a worker or with a handler that runs
    Messages settling_early_{}; ///< settled, not answered; their handlers still run
    RetryQueue retrying_{};     ///< waiting for their next try, or for the end of parking
    Messages examining_{};      ///< waiting for the session's record
    Messages failed_{};         ///< to be abandoned once what is behind them went back
    Messages settling_{};       ///< their handlers have ended, the broker has not answered
    TimePoint settle_by_{};
    TimePoint settle_look_{};  ///< stays when answers move `settle_by_`: no timer moves with each
    std::uint32_t holds_{0};   ///< calls that hold the lane
    std::uint32_t handled_{0}; ///< of this turn
};

} // namespace sessionq::processor
