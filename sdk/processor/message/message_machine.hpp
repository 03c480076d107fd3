// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sessionq/deadline.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "core/intrusive_list.hpp"
#include "ports/capabilities.hpp"
#include "ports/delivery.hpp"
#include "processor/message/failure_decision.hpp"

namespace sessionq::detail::processor {

/// How the handler of a message ended.
enum class Ending : std::uint8_t {
    handled,
    failed,      ///< The handler threw.
    not_started, ///< The lock was ending. It may have been renewed meanwhile.
    expired,     ///< The message's own deadline had passed (R22).
    unexamined,  ///< The session's record may forbid its start.
    /// The message returns to its place in the lane, because the session waits or an earlier
    /// message of its batch failed. The message is handled when its turn comes.
    given_back,
};

[[nodiscard]] constexpr bool ran(Ending ending) noexcept {
    return ending == Ending::handled || ending == Ending::failed;
}

/// Why a message is dead-lettered without a decision of its handler.
enum class DeadLetterCause : std::uint8_t {
    handler_failed,
    deadline_passed,
    session_dead_lettered, ///< with the rest of its session
    consumers_lost,        ///< consumers were lost while they handled it
};

/// How a message is settled if its handler did not decide.
struct Resolution {
    ports::Outcome outcome{ports::Outcome::complete};
    DeadLetterCause cause{}; ///< used with `dead_letter` only

    friend bool operator==(const Resolution&, const Resolution&) = default;
};
[[nodiscard]] constexpr Resolution dead_letter(DeadLetterCause cause) noexcept {
    return {.outcome = ports::Outcome::dead_letter, .cause = cause};
}

/// Whether the message comes again, to this holder of the session or to another.
[[nodiscard]] constexpr bool goes_back(ports::Outcome outcome) noexcept {
    return outcome == ports::Outcome::abandon || outcome == ports::Outcome::release;
}

/// Returns the settlement for a resolution. `failure`: the text of the handler's exception; empty:
/// there was no exception.
[[nodiscard]] ports::Settlement settlement_for(const Resolution& resolution,
                                               std::string_view failure);

/// A message that is handled only after the session's record was read. The message may have killed
/// its consumers (`CrashGuard`), or the record may delay it (`retry_later`).
struct Suspect {
    std::int64_t sequence{0};
    bool holder_lost{false}; ///< the broker says that an earlier holder was lost
};

/// The end of a handler, as its worker reports it.
struct MessageEnd {
    Ending ending{Ending::handled};
    std::optional<ports::Outcome> decision{}; ///< the handler's decision; unset: it made none
    bool holds_lane{false}; ///< no message of the session starts before the lane is released
    bool lock_over{false};  ///< its own lock has ended: the broker has the message back
    const FailurePolicy* policy{nullptr}; ///< chosen for this failure; null: as configured
    const std::string* failure{nullptr};  ///< the text of the handler's exception; null: none
    std::uint32_t deliveries{0};          ///< deliveries that were counted before this one

    [[nodiscard]] std::string_view failure_text() const noexcept {
        return failure != nullptr ? std::string_view{*failure} : std::string_view{};
    }
};

/// The state of the session when a handler has ended.
struct Circumstances {
    bool usable{true};         ///< the lock is held
    bool may_wait{true};       ///< messages that no handler has begun need not go back
    FailureDecision failure{}; ///< if the handler failed, or released its message
    ExpiredMessageAction expired{ExpiredMessageAction::dead_letter};
};

/// Returns the fate of a message whose handler failed. The application is told this fate.
/// `removes`: the broker removed the message at its delivery.
[[nodiscard]] MessageFate fate_of(const MessageEnd& end, const Circumstances& session,
                                  bool removes) noexcept;

/// The step that a session takes next for one of its messages.
enum class MessageStep : std::uint8_t {
    none,
    enqueue,     ///< put it at the end of the lane
    put_back,    ///< put it back in its place in the lane
    settle,      ///< settle it by the resolution, or as the handler decided
    wait,        ///< wait for `retry_at`; others pass it
    park,        ///< wait until the session is left
    retry_later, ///< abandon it once the session's record has its delay
    examine,     ///< wait until the session's record is known
    rewind,      ///< abandon it after the messages behind it went back (R6)
    dispose,     ///< destroy it: it has left and is not in flight any more
};

/// The machine's answer to an input: the step that the session takes next. It fits in a register,
/// because each message has several.
struct MessageActions {
    MessageStep next{MessageStep::none};
    Resolution resolution{}; ///< of `settle`
    bool rest_too{false};    ///< with `settle`: the rest of the session is dead-lettered too
    bool lost{false};        ///< with `dispose`: the broker confirmed nothing
    bool counts{false};      ///< its handler is done with it, which counts for the turn (R14)
    bool releases{false};    ///< the next message may start, if this one holds the lane
};

/// Decides the next step of one message, from its arrival to the broker's answer (R6, R8-R10).
/// `SessionMachine` gives it each input on the loop, and performs the step that the input returns.
/// The decisions that workers need are static functions. No I/O, no clock.
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
        failed,         ///< to be abandoned once the messages behind it went back
        settling,       ///< waits for the broker's answer
        gone,           ///< completed, abandoned, released, dead-lettered, deferred or discarded
    };

    /// How a session takes a message that arrives.
    enum class Arrival : std::uint8_t {
        enqueue,
        gather,      ///< waits for more messages of its batch
        release,     ///< too late: it goes back at once, uncounted (R3)
        discard,     ///< the lock is lost: the broker has it back, so nothing is settled (R8)
        dead_letter, ///< the rest of the session is dead-lettered
    };

    /// Returns why a handler must not start, which is how its message ends then. Unset: it may
    /// start. `unexamined`: the message is a suspect, and the session's record is not known.
    [[nodiscard]] static std::optional<Ending> may_start(TimePoint now, TimePoint last_start,
                                                         Deadline deadline,
                                                         ExpiredMessageAction expired,
                                                         bool unexamined) noexcept;

    /// Whether a message is past its own deadline and must not be handled.
    [[nodiscard]] static bool has_expired(TimePoint now, Deadline deadline,
                                          ExpiredMessageAction expired) noexcept {
        return expired != ExpiredMessageAction::handle && deadline.passed(now);
    }

    /// Whether the message holds the lane until the session has dealt with it. Meanwhile no other
    /// message overtakes it. `ordered`: the messages have an order to keep. `confirm`: the next
    /// message waits until the broker has confirmed this settlement.
    [[nodiscard]] static bool holds_lane(Ending ending, std::optional<ports::Outcome> decision,
                                         bool ordered, bool confirm) noexcept;

    /// Marks the message as a suspect. Call it before `arrived`.
    void note_suspect(const Suspect& suspect) {
        suspect_ = std::make_unique<const Suspect>(suspect);
    }
    /// The message came. `removed`: the sender has settled it, so nothing is left to settle here.
    [[nodiscard]] MessageActions arrived(Arrival arrival, std::size_t bytes, bool removed) noexcept;
    /// The message waits for no more messages of its batch.
    [[nodiscard]] MessageActions gathered() noexcept;
    /// The handler settled the message and still runs.
    [[nodiscard]] MessageActions decided(ports::Outcome outcome, bool usable,
                                         bool ordered) noexcept;
    [[nodiscard]] MessageActions ended(const MessageEnd& end, const Circumstances& session,
                                       TimePoint now) noexcept;
    [[nodiscard]] MessageActions retry_due() noexcept;
    /// The message's own lock is lost. If the message waits for its next try or to go back, it is
    /// forgotten, because the broker has it.
    [[nodiscard]] MessageActions lock_ended() noexcept;
    /// The session's record is known, and the handler may start. `guarded`: the attempt is noted.
    [[nodiscard]] MessageActions examined(bool guarded) noexcept;
    /// The session's record says that the message has killed too many consumers.
    [[nodiscard]] MessageActions condemned(const CrashGuard& guard, TimePoint now) noexcept;
    /// The message goes back unstarted, from the lane or from its batch. `resolution` says how it
    /// is settled. Unset: the link is gone, and the broker has the message, so it is forgotten.
    [[nodiscard]] MessageActions taken_back(std::optional<Resolution> resolution) noexcept;
    /// The message need not wait any longer for the messages behind it: they went back, or will not
    /// go back. It is settled now. If the session is not `usable`, the broker has the message, so
    /// it is forgotten instead.
    [[nodiscard]] MessageActions let_back(bool usable) noexcept;
    /// The broker answered the settlement. Also called with `success` false if the link is gone,
    /// because no answer comes then.
    [[nodiscard]] MessageActions answered(bool success) noexcept;

    /// Whether the message holds the lane. Returns true once for each hold.
    [[nodiscard]] bool take_hold() noexcept { return std::exchange(holds_lane_, false); }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }
    /// Whether the session's record was read for the message.
    [[nodiscard]] bool is_examined() const noexcept { return examined_; }
    /// The attempt is noted in the session's record.
    [[nodiscard]] bool is_guarded() const noexcept { return guarded_; }
    /// The session's record must be read before the message is handled.
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
    std::optional<Resolution>
        returns_{}; ///< if set: the message is not tried again, and goes back by this
    std::uint32_t attempt_{1};
    std::unique_ptr<const Suspect> suspect_{}; ///< null for nearly all messages
    std::size_t size_{0};                      ///< in bytes
    TimePoint retry_at_{};
};

} // namespace sessionq::detail::processor
