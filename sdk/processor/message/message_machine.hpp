// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <sessionq/deadline.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "core/intrusive_list.hpp"
#include "ports/capabilities.hpp"
#include "ports/delivery.hpp"
#include "processor/message/failure_decision.hpp"

namespace sessionq::processor {

/// How the handler of a message ended.
enum class Ending : std::uint8_t {
    handled,
    failed,      ///< The handler threw.
    not_started, ///< The lock was ending. It may have been renewed meanwhile.
    expired,     ///< The message's own deadline had passed (R22).
    unexamined,  ///< The session's record may say that it is not to start.
    /// Its session waits, or a message before it in its batch failed. It starts in its turn.
    given_back,
};

[[nodiscard]] constexpr bool ran(Ending ending) noexcept {
    return ending == Ending::handled || ending == Ending::failed;
}

/// Why a message is dead-lettered for which its handler did not decide.
enum class DeadLetterCause : std::uint8_t {
    handler_failed,
    deadline_passed,
    session_dead_lettered, ///< with the rest of its session
    consumers_lost,        ///< while they handled it
};

/// How a message is settled, unless its handler decided.
struct Resolution {
    ports::Outcome outcome{ports::Outcome::complete};
    DeadLetterCause cause{}; ///< counts with `dead_letter` only

    friend bool operator==(const Resolution&, const Resolution&) = default;
};
[[nodiscard]] constexpr Resolution dead_letter(DeadLetterCause cause) noexcept {
    return {.outcome = ports::Outcome::dead_letter, .cause = cause};
}

/// It comes again, to this session's holder or to another.
[[nodiscard]] constexpr bool goes_back(ports::Outcome outcome) noexcept {
    return outcome == ports::Outcome::abandon || outcome == ports::Outcome::release;
}

/// `failure`: what the handler threw, if it did.
[[nodiscard]] ports::Settlement settlement_for(const Resolution& resolution,
                                               std::string_view failure);

/// A message that may have killed its consumers.
struct Suspect {
    std::int64_t sequence{0};
    bool holder_lost{false}; ///< the broker says that an earlier holder of it was lost
};

/// What a worker tells of a handler that ended.
struct MessageEnd {
    Ending ending{Ending::handled};
    std::optional<ports::Outcome> decision{}; ///< what the handler decided
    bool holds_lane{false};               ///< nothing of the session starts before it is released
    bool lock_over{false};                ///< its own lock has ended: the broker has it
    const FailurePolicy* policy{nullptr}; ///< chosen for this failure; null: as configured
    const std::string* failure{nullptr};  ///< what the handler threw; null: nothing
    std::uint32_t deliveries{0};          ///< counted before this one

    [[nodiscard]] std::string_view failure_text() const noexcept {
        return failure != nullptr ? std::string_view{*failure} : std::string_view{};
    }
};

/// What the session says of itself when a handler has ended.
struct Circumstances {
    bool usable{true};         ///< the lock is held
    bool may_wait{true};       ///< what no handler has begun need not go back
    FailureDecision failure{}; ///< also of a handler that released its message
    ExpiredMessageAction expired{ExpiredMessageAction::dead_letter};
};

/// What becomes of a message whose handler failed. `removes`: the broker removed it at its
/// delivery.
[[nodiscard]] MessageFate fate_of(const MessageEnd& end, const Circumstances& session,
                                  bool removes) noexcept;

/// The steps of a message: `MessageMachine` names them, its session takes them.
namespace step {

struct Enqueue {}; ///< at the end of the lane
struct PutBack {}; ///< to its place in the lane
struct Settle {    ///< by the resolution, or as its handler decided
    Resolution resolution{};
    bool rest_too{false}; ///< the rest of the session is dead-lettered
};
struct Wait {};       ///< for `retry_at`; others pass it
struct Park {};       ///< until the session is left
struct RetryLater {}; ///< it is abandoned once its delay is kept with the session
struct Examine {};    ///< it waits until the session's record is known
struct Rewind {};     ///< it is abandoned after the messages behind it went back (R6)
struct Dispose {      ///< it has left: nothing of it is in flight
    bool lost{false}; ///< the broker confirmed nothing
};

} // namespace step

/// The session's answer to an input of a message.
struct MessageActions {
    using Next =
        std::variant<std::monostate, step::Enqueue, step::PutBack, step::Settle, step::Wait,
                     step::Park, step::RetryLater, step::Examine, step::Rewind, step::Dispose>;
    Next next{};
    bool counts{false};   ///< the handler is done with it: one more of the turn (R14)
    bool releases{false}; ///< the next message may start, if this one holds the lane
};

/// Decides the way of one message from arrival to the broker's answer (R6, R8-R10). No I/O, no
/// clock, one thread. What a worker decides is asked with the static functions.
class MessageMachine : public core::ListHook<MessageMachine> {
public:
    enum class Phase : std::uint8_t {
        received,       ///< made, and not yet looked at
        gathering,      ///< waits for more messages of its batch
        in_lane,        ///< waits for a worker, or its handler runs
        settling_early, ///< its handler settled it and still runs; the broker has not answered
        settled_early,  ///< its handler still runs; there is nothing left to settle
        retrying,       ///< waits for its next try, or to go back
        examining,      ///< waits until the session's record is known
        failed,         ///< to be abandoned once what is behind it went back
        settling,       ///< waits for the broker's answer
        gone,           ///< completed, abandoned, released, dead-lettered, deferred or discarded
    };

    /// What becomes of a message that arrives.
    enum class Arrival : std::uint8_t {
        enqueue,
        gather,      ///< waits for more
        release,     ///< too late: goes back at once, uncounted (R3)
        discard,     ///< the lock is lost: the broker has it back, nothing is settled (R8)
        dead_letter, ///< the rest of the session is dead-lettered
    };

    /// Whether a handler may start: null if it may, else how the message ends unstarted.
    [[nodiscard]] static std::optional<Ending> may_start(TimePoint now, TimePoint last_start,
                                                         Deadline deadline,
                                                         ExpiredMessageAction expired,
                                                         bool unexamined) noexcept;

    /// A message past its own deadline is not handled.
    [[nodiscard]] static bool has_expired(TimePoint now, Deadline deadline,
                                          ExpiredMessageAction expired) noexcept {
        return expired != ExpiredMessageAction::handle && deadline.passed(now);
    }

    /// Whether the lane is held until the message is dealt with, so that nothing overtakes it.
    /// `ordered`: the messages have an order to keep.
    [[nodiscard]] static bool holds_lane(Ending ending, std::optional<ports::Outcome> decision,
                                         bool ordered, bool confirm) noexcept;

    /// Before it arrives: the session's record is looked at before it is handled.
    void note_suspect(const Suspect& suspect) {
        suspect_ = std::make_unique<const Suspect>(suspect);
    }
    /// `removed`: the sender has settled it, there is nothing to settle here.
    [[nodiscard]] MessageActions arrived(Arrival arrival, std::size_t bytes, bool removed) noexcept;
    /// It waits for no more messages of its batch.
    [[nodiscard]] MessageActions gathered() noexcept;
    /// The handler settled it and still runs.
    [[nodiscard]] MessageActions decided(ports::Outcome outcome, bool usable,
                                         bool ordered) noexcept;
    [[nodiscard]] MessageActions ended(const MessageEnd& end, const Circumstances& session,
                                       TimePoint now) noexcept;
    [[nodiscard]] MessageActions retry_due() noexcept;
    /// Its own lock is lost. If it waits, it is forgotten: the broker has it.
    [[nodiscard]] MessageActions lock_ended() noexcept;
    /// The session's record is known: its handler may start. `guarded`: the attempt is noted.
    [[nodiscard]] MessageActions examined(bool guarded) noexcept;
    /// The session's record says that it has killed too many consumers.
    [[nodiscard]] MessageActions condemned(const CrashGuard& guard, TimePoint now) noexcept;
    /// It was in no handler, and goes back unstarted. No resolution: it is forgotten, the broker
    /// has it.
    [[nodiscard]] MessageActions taken_back(std::optional<Resolution> resolution) noexcept;
    /// What was behind it went back, or will not: it is abandoned now, or forgotten.
    [[nodiscard]] MessageActions let_back(bool usable) noexcept;
    /// Without success also when the link is gone, and no answer comes any more.
    [[nodiscard]] MessageActions answered(bool success) noexcept;

    /// Whether the lane is held for it; asked once for each hold.
    [[nodiscard]] bool take_hold() noexcept { return std::exchange(holds_lane_, false); }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }
    /// It does not wait for the session's record any more.
    [[nodiscard]] bool is_examined() const noexcept { return examined_; }
    /// Its attempt is noted with the session.
    [[nodiscard]] bool is_guarded() const noexcept { return guarded_; }
    /// The session's record is looked at before it is handled.
    [[nodiscard]] bool is_suspect() const noexcept { return suspect_ != nullptr; }
    /// Requires `is_suspect`.
    [[nodiscard]] const Suspect& suspect() const noexcept { return *suspect_; }
    [[nodiscard]] TimePoint retry_at() const noexcept { return retry_at_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    [[nodiscard]] MessageActions settle(Resolution resolution, bool counts = false) noexcept;
    [[nodiscard]] MessageActions settle_as_decided(const MessageEnd& end) noexcept;
    [[nodiscard]] MessageActions abandon(bool holds) noexcept;
    [[nodiscard]] MessageActions dispose(bool releases) noexcept;
    [[nodiscard]] MessageActions after_failure(const FailureDecision& failure, bool holds,
                                               TimePoint now) noexcept;

    Phase phase_{Phase::received};
    bool removed_{false};
    bool holds_lane_{false};
    bool examined_{false};
    bool guarded_{false};
    std::optional<Resolution> returns_{}; ///< it is not tried again, and goes back so
    std::uint32_t attempt_{1};
    std::unique_ptr<const Suspect> suspect_{}; ///< null for nearly all
    std::size_t size_{0};                      ///< in bytes
    TimePoint retry_at_{};
};

} // namespace sessionq::processor
