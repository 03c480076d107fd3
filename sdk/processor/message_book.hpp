#pragma once

#include "processor/credit_window.hpp"
#include "processor/idle_clock.hpp"
#include "processor/session_actions.hpp"
#include "processor/session_terms.hpp"

namespace sessionq::processor {

/// What the phase of a session means for its messages.
struct BookStance {
    bool usable{true};       ///< the lock is held
    bool leaving{false};     ///< nothing is tried again
    bool keeps_holds{false}; ///< a message that is settled does not let the next one start
    bool parked{false};      ///< the lane stays paused
};

/// What messages want of their session.
struct BookEffects {
    bool gone{false};           ///< a message has left
    bool turn_over{false};      ///< `max_messages_per_turn` messages were handled (R14)
    bool rewinds{false};        ///< what is behind a failed message goes back first (R6)
    bool dead_letters{false};   ///< the rest of the session is dead-lettered
    bool began_settling{false}; ///< a settlement is unanswered, and none was before
    TimePoint parks_until{};    ///< if set: the session is parked
};

/// Decides the way of a session's messages: keeps each in the list of its phase, and turns what its
/// machine says into actions. It also keeps the calls that hold the lane.
class MessageBook {
public:
    MessageBook(const SessionTerms& terms, IdleClock& idle, CreditWindow& credit) noexcept
        : terms_{terms}, idle_{idle}, credit_{credit} {}

    BookEffects arrived(MessageMachine& message, MessageMachine::Arrival arrival, std::size_t bytes,
                        bool removed, const BookStance& stance, TimePoint now, SessionActions& out);
    BookEffects decided(MessageMachine& message, ports::Outcome outcome, bool strict,
                        const BookStance& stance, TimePoint now, SessionActions& out);
    BookEffects ended(MessageMachine& message, const MessageEnd& end, const BookStance& stance,
                      TimePoint now, SessionActions& out);
    BookEffects taken_back(MessageMachine& message, std::optional<Verdict> verdict,
                           const BookStance& stance, TimePoint now, SessionActions& out);
    BookEffects answered(MessageMachine& message, bool success, const BookStance& stance,
                         TimePoint now, SessionActions& out);
    /// What failed or waits for its next try goes back, or is forgotten.
    BookEffects let_back(const BookStance& stance, TimePoint now, SessionActions& out);
    BookEffects retries_due(const BookStance& stance, TimePoint now, SessionActions& out);
    /// The link is dropped: no settlement is answered any more.
    BookEffects drop_link(const BookStance& stance, TimePoint now, SessionActions& out);

    /// A call holds the lane.
    void hold() noexcept { ++holds_; }
    void release_holds(SessionActions& out) { release(holds_, out); }

    [[nodiscard]] bool handlers_run() const noexcept {
        return !in_lane_.empty() || !settling_early_.empty();
    }
    [[nodiscard]] bool is_settling() const noexcept {
        return !settling_.empty() || !settling_early_.empty();
    }
    [[nodiscard]] bool is_retrying() const noexcept { return !retrying_.empty(); }
    [[nodiscard]] TimePoint retry_at() const noexcept;
    /// Messages in the lane or with a handler that runs. Walks them.
    [[nodiscard]] std::uint32_t in_lane() const noexcept;
    /// How many more messages fit into the turn, beside `used` ones; no bound: `window`.
    [[nodiscard]] std::uint32_t turn_window(std::uint32_t window,
                                            std::uint32_t used) const noexcept;

private:
    using Kind = SessionAction::Kind;
    using Messages = core::IntrusiveList<MessageMachine, MessageMachine>;

    BookEffects follow(MessageMachine& message, const MessageActions& actions,
                       const BookStance& stance, TimePoint now, SessionActions& out);
    template <typename Input>
    BookEffects each_of(Messages& messages, Input input, const BookStance& stance, TimePoint now,
                        SessionActions& out);
    void place(MessageMachine& message) noexcept;
    void put_first(MessageMachine& message, const BookStance& stance, SessionActions& out);
    void release(std::uint32_t count, SessionActions& out);

    const SessionTerms& terms_;
    IdleClock& idle_;
    CreditWindow& credit_;
    Messages in_lane_{};        ///< waiting for a worker or with a handler that runs
    Messages settling_early_{}; ///< settled, not answered; their handlers still run
    Messages retrying_{};       ///< waiting for their next try, or for the end of parking
    Messages failed_{};         ///< to be abandoned once what is behind them went back
    Messages settling_{};       ///< their handlers have ended, the broker has not answered
    std::uint32_t holds_{0};    ///< calls that hold the lane
    std::uint32_t handled_{0};  ///< of this turn
};

} // namespace sessionq::processor
