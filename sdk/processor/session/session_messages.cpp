// SPDX-License-Identifier: MIT
// The messages of a session: the next step of each message, and questions about the messages. If a
// message needs another phase of the session, this wish waits for the end of the input
// (`SessionMachine::react`).

#include <algorithm>
#include <limits>

#include "processor/session/session_machine.hpp"
#include "processor/slots/slot_machine.hpp"

namespace sessionq::detail::processor {
namespace {

/// The most messages that wait alone without a place in the window. Each of them takes memory and
/// has a lock to renew, so their number must be limited.
constexpr std::size_t most_set_aside = 1000;

} // namespace

// Inputs

void SessionMachine::arrived(MessageMachine& message, std::size_t bytes, bool removed) {
    using Arrival = MessageMachine::Arrival;
    const bool joins_the_rest =
        usable() && (phase_ == Phase::draining || (phase_ == Phase::leaving && removes()));
    Arrival arrival = dead_letters_ ? Arrival::dead_letter : Arrival::enqueue;
    if (is_leaving() && !joins_the_rest) {
        arrival = usable() ? Arrival::release : Arrival::discard;
    } else if (in_flight() == 0) {
        progress_at_ = now_;
    }
    had_messages_ = true;
    flow_.arrived(bytes, now_);
    idle_.begin(); // R2: arrival disarms
    if (arrival == Arrival::enqueue && gather_clock_.is_used()) {
        arrival = Arrival::gather;
        gather_clock_.arrived(now_);
    }
    follow(message, message.arrived(arrival, bytes, removed));
    gather();
    react();
}

void SessionMachine::decided(MessageMachine& message, ports::Outcome outcome) {
    follow(message, message.decided(outcome, usable(), settings_.ordered));
}

void SessionMachine::ended(MessageMachine& message, const MessageEnd& end) {
    progress_at_ = now_;
    has_handled_ = has_handled_ || ran(end.ending);
    holds_ += end.holds_lane ? 1 : 0;
    if (message.is_guarded() && ran(end.ending) && usable()) {
        keep(attempts_.ended(end));
    }
    const Circumstances session = circumstances(message, end);
    if (end.ending == Ending::failed) {
        add(action::ReportFailed{.message = &message, .fate = fate_of(end, session, removes())});
    }
    follow(message, message.ended(end, session, now_));
    flow_.handled(idle_.in_flight() - set_aside(), !lists_.awaits_worker(), now_);
    if (lost_ && !lists_.handlers_run()) { // the link was kept until the last handler ended
        drop_link();
    }
    react();
    if (let_back()) {
        react();
    }
}

Circumstances SessionMachine::circumstances(const MessageMachine& message, const MessageEnd& end) {
    const SessionProcessorOptions& options = settings_.options;
    Circumstances session{.usable = usable() && !end.lock_over,
                          .may_wait = !gives_back(),
                          .expired = options.expired_message};
    const FailedAttempt attempt{.attempt = message.attempt(),
                                .deliveries = end.deliveries,
                                .may_wait = !is_leaving(),
                                .ordered = settings_.ordered};
    if (end.decision == ports::Outcome::release) {
        session.failure = decide_release(options.failure_policy, attempt, settings_.random);
    } else if (end.ending == Ending::failed) {
        session.failure =
            decide_failure(end.policy != nullptr ? *end.policy : options.failure_policy, attempt,
                           settings_.random);
        if (!session.failure.action && is_rewinding()) {
            session.failure = {}; // it goes back with the others instead of being tried again
        }
    }
    return session;
}

void SessionMachine::answered(MessageMachine& message, const Failure* failure) {
    settle_wait_.answered(now_);
    follow(message, message.answered(failure == nullptr));
    react();
    if (failure != nullptr && failure->code != Errc::lock_lost) {
        leave(CloseReason::unresponsive); // the message may be settled at the broker, or not
    } else if (failure != nullptr && settings_.ordered) { // else the message's own lock is lost
        lock_.lose_soon(CloseReason::lock_lost);
    }
}

void SessionMachine::taken_back(MessageMachine& message) {
    follow(message, message.taken_back(way_back()));
    react();
}

void SessionMachine::lock_ended(MessageMachine& message) {
    if (lists_.retrying().remove(message)) { // the message waits, and the broker has it back
        follow(message, message.lock_ended());
    }
    react();
}

// The way of a message

void SessionMachine::follow(MessageMachine& message, MessageActions actions) {
    if (actions.next == MessageStep::settle && !lists_.is_settling()) {
        settle_wait_.begin(now_);
    }
    lists_.place(message);
    if (actions.counts && ++handled_ == settings_.options.max_messages_per_turn) {
        wish().turn_over = true;
    }
    if (actions.releases && message.take_hold() && !keeps_holds()) {
        release(1);
    }
    switch (actions.next) {
    case MessageStep::none: break;
    case MessageStep::enqueue: add(action::Enqueue{&message}); break;
    case MessageStep::put_back: put_back(message); break;
    case MessageStep::settle:
        if (actions.rest_too) {
            wish().dead_letters = true;
        }
        add(action::Settle{.message = &message, .resolution = actions.resolution});
        break;
    case MessageStep::wait:
        lists_.retrying().add(message);
        if (set_aside() != 0) {
            wish().makes_room = true;
        }
        break;
    case MessageStep::park:
        lists_.retrying().add(message);
        wish().parks_until = message.retry_at();
        break;
    case MessageStep::retry_later:
        lists_.retrying().add(message);
        wish().retries_at = message.retry_at();
        break;
    case MessageStep::examine: wish().suspect = &message.suspect(); break;
    case MessageStep::rewind: wish().rewinds = true; break;
    case MessageStep::dispose:
        wish().gone = true;
        flow_.left(message.size());
        idle_.end(now_);
        add(action::Dispose{.message = &message, .lost = actions.lost});
        break;
    }
}

void SessionMachine::put_back(MessageMachine& message) {
    const bool held = message.take_hold();
    if (!held) {
        add(action::PauseLane{});
    }
    add(action::PutBack{&message});
    if (held) {
        release(1);
    } else if (phase_ != Phase::parked) {
        add(action::ResumeLane{});
    }
}

/// Puts the messages that wait for more of their batch into the lane, if the wait is over.
void SessionMachine::gather() {
    if (!lists_.is_gathering()) {
        return;
    }
    const bool more_may_come =
        !is_leaving() && (flow_.credit() != 0 || idle_.in_flight() > gather_clock_.count());
    if (hands_on() && gather_clock_.is_over(now_, more_may_come)) {
        gather_clock_.gone();
        MessageLists::each_of(lists_.gathering(), [this](MessageMachine& message) {
            follow(message, message.gathered());
        });
    }
}

/// Gives back the messages that wait for more of their batch. They follow the messages of the lane.
void SessionMachine::take_back_gathered() {
    gather_clock_.gone();
    const auto resolution = way_back();
    MessageLists::each_of(lists_.gathering(), [this, resolution](MessageMachine& message) {
        follow(message, message.taken_back(resolution));
    });
}

/// Gives back the messages that failed or wait for their next try. Forgets them if the session is
/// not usable.
void SessionMachine::let_all_back() {
    const auto let_back = [this, usable = usable()](MessageMachine& message) {
        follow(message, message.let_back(usable));
    };
    MessageLists::each_of(lists_.failed(), let_back);
    while (MessageMachine* message = lists_.retrying().take()) {
        let_back(*message);
    }
    MessageLists::each_of(lists_.examining(), let_back);
}

void SessionMachine::release(std::uint32_t calls) {
    if (calls != 0) {
        holds_ -= calls;
        add(action::ReleaseLane{calls});
    }
}

/// Ends the link. It answers no settlement any more, so all unanswered settlements count as failed.
void SessionMachine::drop_link() {
    add(action::DropLink{});
    for (MessageLists::Messages* list : {&lists_.settling(), &lists_.settling_early()}) {
        MessageLists::each_of(
            *list, [this](MessageMachine& message) { follow(message, message.answered(false)); });
    }
}

// The session's record

void SessionMachine::examine(const Suspect& suspect) {
    suspect_ = suspect;
    switch (delay_.examine()) {
    case RetryDelay::Reading::never: add(action::ReadRecord{}); break;
    case RetryDelay::Reading::asked: break;
    case RetryDelay::Reading::known: admit(); break;
    }
}

void SessionMachine::examined(const core::Result<std::optional<Duration>>& delay,
                              NotedAttempts noted) {
    attempts_.known(noted);
    if (!delay.ok()) {
        leave(CloseReason::unresponsive);
        return;
    }
    delay_.known();
    const Duration left = delay.value().value_or(Duration::zero());
    if (delay.value() == Duration::zero()) { // the delay has expired: remove it from the record
        add(action::WriteDelay{delay_.end()});
    }
    if (left != Duration::zero()) {
        wait(now_ + left);
    } else if (!is_leaving() && phase_ != Phase::parked) {
        admit();
    }
    react();
}

/// Decides about the message that waited for the session's record: it starts, waits for its turn,
/// or is condemned.
void SessionMachine::admit() {
    switch (attempts_.admit(suspect_)) {
    case AttemptBook::Next::start:
        MessageLists::each_of(lists_.examining(), [this](MessageMachine& message) {
            follow(message, message.examined(false));
        });
        break;
    case AttemptBook::Next::wait: add(action::TakeTurn{.alone = false}); break;
    case AttemptBook::Next::wait_alone: add(action::TakeTurn{.alone = true}); break;
    case AttemptBook::Next::out:
        MessageLists::each_of(lists_.examining(), [this](MessageMachine& message) {
            follow(message, message.condemned(*settings_.options.crash_guard, now_));
        });
        break;
    }
}

void SessionMachine::turn_came() {
    if (!is_leaving() && phase_ != Phase::parked) {
        keep(attempts_.turn_came());
    }
    react();
}

void SessionMachine::attempts_kept() {
    const bool works = !is_leaving() && phase_ != Phase::parked;
    if (attempts_.written() && works) {
        MessageLists::each_of(lists_.examining(), [this](MessageMachine& message) {
            follow(message, message.examined(true));
        });
    }
    let_back();
    step();
    react();
}

void SessionMachine::delay_kept() {
    delay_.written();
    let_back();
    step();
    react();
}

void SessionMachine::keep(const AttemptSteps& steps) {
    if (steps.write) {
        add(action::WriteAttempts{attempts_.noted()});
    }
    if (steps.end_turn) {
        add(action::EndTurn{});
    }
}

bool SessionMachine::is_writing() const noexcept {
    return delay_.is_writing() || attempts_.is_writing();
}

// Answers

bool SessionMachine::is_rewinding() const noexcept {
    return phase_ == Phase::rewinding || phase_ == Phase::putting_back;
}

/// Whether the session may ask for messages. With receive_and_delete it asks only after
/// on_session_open has ended. If on_session_open failed, messages that the broker has removed could
/// not go back.
bool SessionMachine::may_fetch() const noexcept {
    return phase_ == Phase::working || (phase_ == Phase::opening && !removes());
}

/// Whether unstarted messages go back to the broker. A parked session keeps them until its drain is
/// answered. Before the answer, they would come again on the credit that is left.
bool SessionMachine::gives_back() const noexcept {
    return is_leaving() || phase_ == Phase::putting_back ||
           (phase_ == Phase::parked && !removes() && !flow_.is_draining());
}

/// Whether messages of the session go to handlers in this phase.
bool SessionMachine::hands_on() const noexcept {
    return phase_ <= Phase::working || phase_ == Phase::idling_out || (is_leaving() && removes());
}

/// Whether the lane stays on hold after the message that holds it was settled.
bool SessionMachine::keeps_holds() const noexcept {
    return is_rewinding() || (is_leaving() && !removes());
}

/// Whether the session awaits only the answers to its settlements and is left then. It is left even
/// if a settlement fails.
bool SessionMachine::only_settles() const noexcept {
    const bool ends =
        phase_ == Phase::working ? rolls() : phase_ == Phase::leaving && !is_fault(reason_);
    return ends && !closes_ && !lost_ && lists_.only_settles();
}

/// Returns how a message that no handler has begun goes back. Unset: the lock is lost and the
/// broker has the message, so it is forgotten.
std::optional<Resolution> SessionMachine::way_back() const noexcept {
    if (lost_) {
        return std::nullopt;
    }
    return dead_letters_ && !is_leaving() ? dead_letter(DeadLetterCause::session_dead_lettered)
                                          : Resolution{ports::Outcome::release};
}

/// Returns how many messages take no place in the window, because they wait for a retry while
/// others pass them. At most `most_set_aside`. Zero if the messages have an order: none pass then.
std::uint32_t SessionMachine::set_aside() const noexcept {
    const std::size_t waiting = settings_.ordered ? 0 : lists_.retries();
    return static_cast<std::uint32_t>(std::min(waiting, most_set_aside));
}

/// Returns how many messages the session may have in this turn: the messages in flight, and the
/// messages that its credit may bring. The limit (`max_messages_per_turn`) applies here, because a
/// message that is not fetched cannot start.
std::uint32_t SessionMachine::turn_room() const noexcept {
    const std::uint32_t most = settings_.options.max_messages_per_turn;
    if (most == 0) {
        return std::numeric_limits<std::uint32_t>::max();
    }
    return std::max(in_flight() + flow_.credit(), most > handled_ ? most - handled_ : 0);
}

/// When to call `gather`; TimePoint::max(): no message waits, or the messages go back.
TimePoint SessionMachine::gather_by() const noexcept {
    return hands_on() ? gather_clock_.until() : TimePoint::max();
}

Duration SessionMachine::ready_for(std::uint32_t running, TimePoint now) const noexcept {
    const bool waits = running == 0 && lists_.awaits_worker() && holds_ == 0 && hands_on();
    return waits ? now - progress_at_ : Duration::zero();
}

bool SessionMachine::needs_workers() const noexcept {
    return hands_on() && phase_ != Phase::held_back && phase_ != Phase::opening &&
           lists_.handlers_run() && !lists_.is_settling();
}

std::string_view SessionMachine::wait_words() const noexcept {
    if (lists_.only_settles()) {
        return "settlements";
    }
    if (!lists_.handlers_run()) {
        return lists_.is_gathering() ? "more messages of a batch" : "the session's record";
    }
    return lists_.is_settling() ? "handlers and settlements" : "handlers";
}

SlotStatus SessionMachine::status() const noexcept {
    const auto wait_of_open = [this]() -> std::string_view {
        if (lists_.is_retrying() && (settings_.ordered || !lists_.handlers_run())) {
            return "the next try of a message";
        }
        if (in_flight() != 0 || flow_.is_draining()) {
            return in_flight() != 0 ? wait_words() : "the drain's answer";
        }
        return flow_.credit() != 0 || idle_.runs() ? "messages" : "";
    };
    switch (phase_) {
    case Phase::held_back: return {"open", "the handlers of an earlier lock"};
    case Phase::parked:
        return {"parked", flow_.is_draining() ? "the drain's answer" : "the end of parking"};
    case Phase::opening: return {"opening", "on_session_open"};
    case Phase::working:
    case Phase::idling_out: return {"open", wait_of_open()};
    case Phase::rewinding: return {"rewinding", "the drain's answer"};
    case Phase::putting_back: return {"rewinding", "settlements"};
    case Phase::draining: return {"leaving", "the drain's answer"};
    case Phase::leaving: return {"leaving", wait_words()};
    case Phase::closing_call: return {"closing", "on_session_close"};
    case Phase::closing_link:
    case Phase::finished: return {"closing", "the close's answer"};
    }
    return {};
}

} // namespace sessionq::detail::processor
