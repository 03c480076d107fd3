// SPDX-License-Identifier: MIT
#include "processor/message/message_machine.hpp"

namespace sessionq::detail::processor {

ports::Settlement settlement_for(const Resolution& resolution, std::string_view failure) {
    ports::Settlement settlement{.outcome = resolution.outcome};
    if (resolution.outcome != ports::Outcome::dead_letter) {
        return settlement;
    }
    switch (resolution.cause) {
    case DeadLetterCause::handler_failed:
        settlement.dead_letter = ports::to_dead_letter("HandlerFailed", failure);
        break;
    case DeadLetterCause::deadline_passed: settlement.dead_letter.reason = "DeadlinePassed"; break;
    case DeadLetterCause::session_dead_lettered:
        settlement.dead_letter.reason = "SessionDeadLettered";
        break;
    case DeadLetterCause::consumers_lost:
        settlement.dead_letter = {.reason = "ConsumerLost",
                                  .description = "consumers were lost while they handled it, as "
                                                 "often as crash_guard allows"};
        break;
    }
    return settlement;
}

MessageFate fate_of(const MessageEnd& end, const Circumstances& session, bool removes) noexcept {
    using Action = FailurePolicy::Action;
    if (end.decision) {
        const bool returns = goes_back(*end.decision) || !session.usable;
        return returns ? MessageFate::comes_again : MessageFate::settled;
    }
    if (removes) {
        const bool stays = session.usable && !session.failure.action;
        return stays ? MessageFate::tried_again : MessageFate::removed;
    }
    if (!session.usable) {
        return MessageFate::comes_again;
    }
    if (!session.failure.action) {
        return MessageFate::tried_again;
    }
    switch (*session.failure.action) {
    case Action::abandon: return MessageFate::abandoned;
    case Action::dead_letter:
    case Action::dead_letter_session: return MessageFate::dead_lettered;
    case Action::park_session: return MessageFate::parked;
    case Action::retry_later: return MessageFate::retried_later;
    }
    return MessageFate::none;
}

std::optional<Ending> MessageMachine::may_start(TimePoint now, TimePoint last_start,
                                                Deadline deadline, ExpiredMessageAction expired,
                                                bool unexamined) noexcept {
    if (now >= last_start) {
        return Ending::not_started;
    }
    if (has_expired(now, deadline, expired)) {
        return Ending::expired;
    }
    if (unexamined) {
        return Ending::unexamined;
    }
    return std::nullopt;
}

bool MessageMachine::holds_lane(Ending ending, std::optional<ports::Outcome> decision, bool ordered,
                                bool confirm) noexcept {
    if (!ordered) {
        return false;
    }
    const bool returns = decision ? goes_back(*decision) : ending == Ending::failed;
    return confirm || returns || ending == Ending::not_started || ending == Ending::unexamined ||
           ending == Ending::given_back;
}

MessageActions MessageMachine::arrived(Arrival arrival, std::size_t bytes, bool removed) noexcept {
    if (phase_ != Phase::received) {
        return {};
    }
    size_ = bytes;
    removed_ = removed;
    switch (arrival) {
    case Arrival::enqueue: phase_ = Phase::in_lane; return {.next = MessageStep::enqueue};
    case Arrival::gather: phase_ = Phase::gathering; return {};
    case Arrival::release: return settle({ports::Outcome::release});
    case Arrival::discard: return dispose(false);
    case Arrival::dead_letter: return settle(dead_letter(DeadLetterCause::session_dead_lettered));
    }
    return {};
}

MessageActions MessageMachine::gathered() noexcept {
    if (phase_ != Phase::gathering) {
        return {};
    }
    phase_ = Phase::in_lane;
    return {.next = MessageStep::enqueue};
}

MessageActions MessageMachine::decided(ports::Outcome outcome, bool usable, bool ordered) noexcept {
    const bool waits_for_rewind = goes_back(outcome) && ordered;
    if (phase_ != Phase::in_lane || !usable || waits_for_rewind ||
        outcome == ports::Outcome::release) { // a released message waits anyway
        return {};
    }
    phase_ = Phase::settling_early;
    return {.next = MessageStep::settle};
}

MessageActions MessageMachine::ended(const MessageEnd& end, const Circumstances& session,
                                     TimePoint now) noexcept {
    if (phase_ != Phase::in_lane && phase_ != Phase::settling_early &&
        phase_ != Phase::settled_early) {
        return {};
    }
    holds_lane_ = end.holds_lane;
    if (!session.usable) {
        if (phase_ == Phase::settling_early) { // the link answers, or is dropped
            phase_ = Phase::settling;
            return {};
        }
        return dispose(false);
    }
    if (ran(end.ending) && end.decision == ports::Outcome::release) {
        returns_ = Resolution{ports::Outcome::release};
        return after_failure(session.failure, end.holds_lane, now);
    }
    switch (end.ending) {
    case Ending::handled: return settle_as_decided(end);
    case Ending::failed:
        if (end.decision || (removed_ && session.failure.action)) {
            return settle_as_decided(end); // the settlement before the exception stands
        }
        return after_failure(session.failure, end.holds_lane, now);
    case Ending::given_back:
        if (removed_) { // it cannot go back to the broker, so it is handled first
            return {.next = MessageStep::put_back};
        }
        [[fallthrough]];
    case Ending::not_started:
        return session.may_wait ? MessageActions{.next = MessageStep::put_back}
                                : settle({ports::Outcome::release});
    case Ending::unexamined:
        if (!session.may_wait) {
            return settle({ports::Outcome::release});
        }
        phase_ = Phase::examining;
        return {.next = MessageStep::examine};
    case Ending::expired:
        return settle(session.expired == ExpiredMessageAction::dead_letter
                          ? dead_letter(DeadLetterCause::deadline_passed)
                          : Resolution{});
    }
    return {};
}

MessageActions MessageMachine::settle_as_decided(const MessageEnd& end) noexcept {
    if (phase_ == Phase::settling_early) {
        phase_ = Phase::settling;
        return {.counts = true};
    }
    if (phase_ == Phase::settled_early) {
        MessageActions actions = dispose(true);
        actions.counts = true;
        return actions;
    }
    return end.decision == ports::Outcome::abandon ? abandon(end.holds_lane) : settle({}, true);
}

MessageActions MessageMachine::after_failure(const FailureDecision& failure, bool holds,
                                             TimePoint now) noexcept {
    using Action = FailurePolicy::Action;
    const auto wait = [&](MessageStep next) {
        phase_ = Phase::retrying;
        retry_at_ = Deadline::after(failure.delay, now).time();
        return MessageActions{.next = next};
    };
    if (!failure.action) {
        if (std::exchange(guarded_, false)) {
            examined_ = false; // the next attempt is noted as well
        }
        return wait(MessageStep::wait);
    }
    switch (*failure.action) {
    case Action::park_session: return wait(MessageStep::park);
    case Action::retry_later: return wait(MessageStep::retry_later);
    case Action::dead_letter: return settle(dead_letter(DeadLetterCause::handler_failed), true);
    case Action::dead_letter_session:
        phase_ = Phase::settling;
        return {.next = MessageStep::settle,
                .resolution = dead_letter(DeadLetterCause::handler_failed),
                .rest_too = true};
    case Action::abandon: break;
    }
    if (failure.delay == Duration::zero()) {
        return abandon(holds);
    }
    returns_ = returns_.value_or(Resolution{ports::Outcome::abandon});
    return wait(MessageStep::wait);
}

/// Abandons the message. If the message holds the lane, the messages behind it go back before it. A
/// message holds no lane if its session has no order to keep.
MessageActions MessageMachine::abandon(bool holds) noexcept {
    if (!holds) {
        return settle({ports::Outcome::abandon}, true);
    }
    phase_ = Phase::failed;
    return {.next = MessageStep::rewind, .counts = true};
}

MessageActions MessageMachine::retry_due() noexcept {
    if (phase_ != Phase::retrying) {
        return {};
    }
    if (returns_) {
        return settle(*returns_, true);
    }
    phase_ = Phase::in_lane;
    ++attempt_;
    return {.next = holds_lane_ ? MessageStep::put_back : MessageStep::enqueue};
}

MessageActions MessageMachine::lock_ended() noexcept {
    return phase_ == Phase::retrying ? dispose(false) : MessageActions{};
}

MessageActions MessageMachine::examined(bool guarded) noexcept {
    if (phase_ != Phase::examining) {
        return {};
    }
    phase_ = Phase::in_lane;
    examined_ = true;
    guarded_ = guarded;
    return {.next = holds_lane_ ? MessageStep::put_back : MessageStep::enqueue};
}

MessageActions MessageMachine::condemned(const CrashGuard& guard, TimePoint now) noexcept {
    if (phase_ != Phase::examining) {
        return {};
    }
    if (guard.then == CrashGuard::Action::dead_letter) {
        return settle(dead_letter(DeadLetterCause::consumers_lost), true);
    }
    phase_ = Phase::retrying;
    retry_at_ = Deadline::after(guard.park_for, now).time();
    return {.next = MessageStep::park};
}

MessageActions MessageMachine::taken_back(std::optional<Resolution> resolution) noexcept {
    if (phase_ != Phase::in_lane && phase_ != Phase::gathering) {
        return {};
    }
    return resolution ? settle(*resolution) : dispose(false);
}

MessageActions MessageMachine::let_back(bool usable) noexcept {
    if (phase_ != Phase::failed && phase_ != Phase::retrying && phase_ != Phase::examining) {
        return {};
    }
    const Resolution resolution{phase_ == Phase::examining ? ports::Outcome::release
                                                           : ports::Outcome::abandon};
    return usable ? settle(resolution) : dispose(false);
}

MessageActions MessageMachine::answered(bool success) noexcept {
    if (phase_ == Phase::settling) {
        return dispose(success);
    }
    if (phase_ == Phase::settling_early) {
        phase_ = Phase::settled_early;
    }
    return {};
}

MessageActions MessageMachine::settle(Resolution resolution, bool counts) noexcept {
    if (removed_) {
        MessageActions actions = dispose(true);
        actions.counts = counts;
        return actions;
    }
    phase_ = Phase::settling;
    return {.next = MessageStep::settle, .resolution = resolution, .counts = counts};
}

MessageActions MessageMachine::dispose(bool releases) noexcept {
    const bool lost = !releases && phase_ != Phase::settled_early && !removed_;
    phase_ = Phase::gone;
    return {.next = MessageStep::dispose, .lost = lost, .releases = releases};
}

} // namespace sessionq::detail::processor
