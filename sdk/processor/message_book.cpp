// SPDX-License-Identifier: MIT
#include "processor/message_book.hpp"

#include <algorithm>

namespace sessionq::processor {
namespace {

/// Each keeps its lock and its bytes, so there must be an end.
constexpr std::uint32_t most_set_aside = 1000;

/// Half of a bound. Zero: there is none.
Duration half_of(Duration bound) noexcept {
    return bound == Duration::zero() ? Duration::max() : bound / 2;
}

} // namespace

MessageBook::MessageBook(SessionState& session) noexcept
    : session_{session},
      gathering_clock_{
          session.terms.batch, half_of(session.terms.options.max_lock_renewal),
          Deadline::after(half_of(session.terms.options.max_hold.value_or(Duration::zero())),
                          session.now)
              .time()} {}

void MessageBook::arrived(MessageMachine& message, MessageMachine::Arrival arrival,
                          std::size_t bytes, bool removed) {
    session_.credit.arrived(bytes);
    session_.fetch.arrived(session_.credit.credit() == 0, session_.now);
    session_.idle.begin(); // R2: arrival disarms
    if (arrival == MessageMachine::Arrival::enqueue && gathering_clock_.is_used()) {
        arrival = MessageMachine::Arrival::gather;
        gathering_clock_.arrived(session_.now);
    }
    follow(message, message.arrived(arrival, bytes, removed));
    gather();
}

void MessageBook::ended(MessageMachine& message, const MessageEnd& end) {
    holds_ += end.holds_lane ? 1 : 0;
    Circumstances session{.usable = session_.usable() && !end.lock_over,
                          .may_wait = !session_.gives_back(),
                          .expired = session_.terms.options.expired_message};
    const FailedAttempt attempt{.attempt = message.attempt(),
                                .deliveries = end.deliveries,
                                .may_wait = !session_.is_leaving(),
                                .ordered = session_.terms.ordered};
    if (end.decision == ports::Outcome::release) {
        session.failure =
            decide_release(session_.terms.options.failure_policy, attempt, session_.terms.random);
    } else if (end.ending == Ending::failed) {
        session.failure = decide_failure(
            end.policy != nullptr ? *end.policy : session_.terms.options.failure_policy, attempt,
            session_.terms.random);
        if (!session.failure.action && session_.is_rewinding()) {
            session.failure = {}; // it goes back with the others instead of being tried again
        }
    }
    if (end.ending == Ending::failed) {
        session_.add({.kind = Kind::report_failed,
                      .fate = fate_of(end, session, session_.removes()),
                      .message = &message});
    }
    follow(message, message.ended(end, session, session_.now));
    session_.fetch.ended(session_.idle.in_flight() - set_aside(), in_lane_.empty(), session_.now);
}

void MessageBook::answered(MessageMachine& message, bool success) {
    // The others have their time again.
    settle_by_ = session_.now + session_.terms.tuning.settle_timeout;
    follow(message, message.answered(success));
}

template <typename Input>
void MessageBook::each_of(Messages& messages, Input input) {
    Messages all;
    all.splice_back(messages);
    while (MessageMachine* message = all.pop_front()) {
        follow(*message, input(*message));
    }
}

void MessageBook::gather() {
    if (gathering_.empty()) {
        return;
    }
    const bool more_may_come =
        !session_.is_leaving() &&
        (session_.credit.credit() != 0 || session_.idle.in_flight() > gathering_clock_.count());
    if (session_.hands_on() && gathering_clock_.is_over(session_.now, more_may_come)) {
        gathering_clock_.gone();
        each_of(gathering_, [](MessageMachine& message) { return message.gathered(); });
    }
}

void MessageBook::take_back_gathered() {
    gathering_clock_.gone();
    each_of(gathering_, [verdict = session_.back_verdict()](MessageMachine& message) {
        return message.taken_back(verdict);
    });
}

void MessageBook::let_back() {
    const auto let_back = [usable = session_.usable()](MessageMachine& message) {
        return message.let_back(usable);
    };
    each_of(failed_, let_back);
    while (MessageMachine* message = retrying_.take()) {
        follow(*message, let_back(*message));
    }
    each_of(examining_, let_back);
}

void MessageBook::retries_due() {
    while (MessageMachine* message = retrying_.take_due(session_.now)) {
        follow(*message, message->retry_due());
    }
}

void MessageBook::lock_ended(MessageMachine& message) {
    if (retrying_.remove(message)) {
        follow(message, message.lock_ended());
    }
}

void MessageBook::examined(bool guarded) {
    each_of(examining_, [guarded](MessageMachine& message) { return message.examined(guarded); });
}

void MessageBook::condemned() {
    each_of(examining_, [this](MessageMachine& message) {
        return message.condemned(*session_.terms.options.crash_guard, session_.now);
    });
}

void MessageBook::drop_link() {
    session_.add(Kind::drop_link);
    for (Messages* messages : {&settling_, &settling_early_}) {
        each_of(*messages, [](MessageMachine& message) { return message.answered(false); });
    }
}

void MessageBook::follow(MessageMachine& message, const MessageActions& actions) {
    using Next = MessageActions::Next;
    const bool was_settling = is_settling();
    Messages::remove(message);
    if (Messages* const list = list_of(message.phase())) {
        list->push_back(message);
    }
    if (actions.counts && ++handled_ == session_.terms.options.max_messages_per_turn) {
        effects().turn_over = true;
    }
    if (actions.releases && message.take_hold() && !session_.keeps_holds()) {
        release(1);
    }
    switch (actions.next) {
    case Next::nothing: break;
    case Next::enqueue: session_.add({.kind = Kind::enqueue, .message = &message}); break;
    case Next::put_back: put_back(message); break;
    case Next::send_session: effects().dead_letters = true; [[fallthrough]];
    case Next::send:
        if (!was_settling) {
            settle_by_ = settle_look_ = session_.now + session_.terms.tuning.settle_timeout;
        }
        session_.add({.kind = Kind::settle,
                      .verdict = actions.verdict,
                      .count = actions.verdict == Verdict::release ? 1U : 0U,
                      .message = &message});
        break;
    case Next::wait:
        retrying_.add(message);
        effects().makes_room = set_aside() != 0;
        break;
    case Next::park:
        retrying_.add(message);
        effects().parks_until = message.retry_at();
        break;
    case Next::retry_later:
        retrying_.add(message);
        effects().retries_at = message.retry_at();
        break;
    case Next::examine: effects().examines = &message.suspect(); break;
    case Next::rewind: effects().rewinds = true; break;
    case Next::dispose:
        effects().gone = true;
        session_.credit.left(message.size());
        session_.idle.end(session_.now);
        session_.add({.kind = Kind::dispose, .count = actions.lost ? 1U : 0U, .message = &message});
        break;
    }
}

/// Null: it is in none.
MessageBook::Messages* MessageBook::list_of(MessageMachine::Phase phase) noexcept {
    using In = MessageMachine::Phase;
    switch (phase) {
    case In::gathering: return &gathering_;
    case In::in_lane:
    case In::settled_early: return &in_lane_;
    case In::settling_early: return &settling_early_;
    case In::examining: return &examining_;
    case In::failed: return &failed_;
    case In::settling: return &settling_;
    case In::retrying: // `retrying_` has it
    case In::received:
    case In::gone: break;
    }
    return nullptr;
}

void MessageBook::put_back(MessageMachine& message) {
    const bool held = message.take_hold();
    if (!held) {
        session_.add(Kind::pause_lane);
    }
    session_.add({.kind = Kind::put_back, .message = &message});
    if (held) {
        release(1);
    } else if (session_.phase != SessionState::Phase::parked) {
        session_.add(Kind::resume_lane);
    }
}

void MessageBook::release(std::uint32_t count) {
    if (count != 0) {
        holds_ -= count;
        session_.add(Kind::release_lane, count);
    }
}

std::uint32_t MessageBook::set_aside() const noexcept {
    const std::size_t waiting = session_.terms.ordered ? 0 : retrying_.size();
    return static_cast<std::uint32_t>(std::min<std::size_t>(waiting, most_set_aside));
}

bool MessageBook::settlements_overdue() noexcept {
    const bool overdue = is_settling() && session_.now >= settle_by_;
    if (!overdue && session_.now >= settle_look_) {
        settle_look_ = settle_by_;
    }
    return overdue;
}

std::uint32_t MessageBook::in_lane() const noexcept {
    std::uint32_t count = 0;
    for (const Messages* messages : {&in_lane_, &settling_early_}) {
        for (const MessageMachine* each = messages->front(); each != nullptr;
             each = messages->next(*each)) {
            ++count;
        }
    }
    return count;
}

std::uint32_t MessageBook::turn_window(std::uint32_t window, std::uint32_t used) const noexcept {
    const std::uint32_t most = session_.terms.options.max_messages_per_turn;
    if (most == 0) {
        return window;
    }
    return std::min(window, std::max(used, most > handled_ ? most - handled_ : 0));
}

} // namespace sessionq::processor
