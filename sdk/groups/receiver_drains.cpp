#include <algorithm>
#include <utility>

#include "amqp/engine.hpp"
#include "groups/conditions.hpp"
#include "groups/receiver.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {

using amqp::OutcomeKind;

namespace {

constexpr Duration drain_patience = std::chrono::milliseconds{300};
constexpr Duration longest_drain = std::chrono::seconds{10};

} // namespace

// Drains

void Receiver::want_drain() {
    if (state_ != State::attached) {
        return;
    }
    if (draining_) {
        drain_again_ = true;
        return;
    }
    draining_ = true;
    for (Waiter& each : waiters_) {
        each.probing = each.probes;
    }
    drain_until_ = loop().now() + longest_drain;
    loop().timers().arm(drain_guard_, loop().now() + drain_patience);
    if (!link_->drain()) {
        loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && self->draining_ && self->link_) {
                self->on_drained();
            }
        });
    }
}

void Receiver::on_drained() {
    const auto self = shared_from_this();
    draining_ = false;
    loop().timers().cancel(drain_guard_);
    if (state_ != State::attached) {
        return;
    }
    return_messages();
    for (auto each = waiters_.begin(); each != waiters_.end();) {
        const auto waiter = each++;
        if (waiter->probing) {
            answer_with(waiter, Failure{.code = Errc::no_session_available, .detail = "'" + terms_.entity + "' has no group to give"});
        }
    }
    for (GroupSession* each : std::vector{sessions_}) {
        if (terms_.session_id && each->is_draining()) {
            each->drained();
        }
    }
    if (is_unused() || (recycles_ && table_.is_empty())) {
        give_link_up();
    } else if (std::exchange(drain_again_, false)) {
        top_up();
        want_drain();
    } else {
        top_up();
    }
}

/// Artemis overlooks a drain that it gets while it is busy with the answer to the one before: it is asked again. If it is silent for long, what waits would wait for
/// ever (R16), and the link is of no more use.
void Receiver::on_drain_overdue() {
    const auto self = shared_from_this();
    if (loop().now() < drain_until_) {
        link_->add_credit(1); // so that there is something to be drained
        static_cast<void>(link_->drain());
        loop().timers().arm(drain_guard_, loop().now() + drain_patience);
    } else {
        link_over({.name = "amqp:link:detach-forced", .text = "a drain was not answered", .found = Errc::timeout});
    }
}

/// Nothing is on its way: messages that go back now come again in order.
void Receiver::return_messages() {
    for (Held* held : table_.take_returning()) {
        window_.gone(held->bytes);
        held->handle.update(held->failed ? amqp::Outcome{.kind = OutcomeKind::modified, .delivery_failed = true}
                                         : amqp::Outcome{.kind = OutcomeKind::released});
        held->handle.settle();
        table_.remove(*held);
    }
    for (GroupSession* each : sessions_) {
        each->returned();
    }
}

void Receiver::give_link_up() {
    for (Held* held : table_.take_waiting()) { // a detach may count them as delivered
        window_.gone(held->bytes);
        held->handle.update({.kind = OutcomeKind::released});
        held->handle.settle();
        table_.remove(*held);
    }
    state_ = State::closing;
    recycles_ = false;
    link_->close();
}

/// Whoever was answered may ask again.
void Receiver::look_unused_later() {
    loop().post([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && !self->shut_) {
            self->look_unused();
        }
    });
}

void Receiver::look_unused() {
    if (!is_unused()) {
        tell_left();
    } else if (state_ == State::attached) {
        want_drain();
    } else if (state_ == State::detached) {
        tell_left();
        if (over_) {
            loop().post([weak = weak_from_this()] {
                if (const auto self = weak.lock(); self && self->over_ && self->state_ == State::detached && self->is_unused()) {
                    self->over_();
                }
            });
        }
    }
}

void Receiver::tell_left() {
    for (const auto& each : std::exchange(left_, {})) {
        each();
    }
}

// Recycling

void Receiver::look_idle() {
    if (state_ == State::attached && dialect().recycle.pins_groups && came_ != 0 && table_.is_empty() && !terms_.session_id) {
        loop().timers().arm(idle_, loop().now() + dialect().recycle.idle);
    }
}

void Receiver::on_idle() {
    if (state_ == State::attached && table_.is_empty()) {
        recycles_ = true;
        want_drain();
    }
}

// The end

void Receiver::on_link_closed(const amqp::Condition& condition, bool) {
    const auto self = shared_from_this();
    link_over(condition);
}
void Receiver::on_session_ended(const amqp::Condition& condition) {
    const auto self = shared_from_this();
    link_over(condition);
}

void Receiver::link_over(const amqp::Condition& condition) {
    const State was = std::exchange(state_, State::detached);
    if (was == State::detached) {
        return;
    }
    draining_ = drain_again_ = recycles_ = false;
    loop().timers().cancel(idle_);
    loop().timers().cancel(drain_guard_);
    table_.visit_given([this](const Held& held) { unanswered_->held(held.message.message_id()); });
    if (was != State::closing) {
        unanswered_->lost();
    }
    window_.lost();
    const std::vector<GroupSession*> lost = std::exchange(sessions_, {});
    link_.reset();
    session_.reset();
    Failure why = to_failure(condition, "'" + terms_.entity + "'");
    if (was == State::attaching) {
        fail_waiters(why);
    }
    if (why.code != Errc::entity_not_found && why.code != Errc::unauthorized) {
        why.code = Errc::connection_lost;
    }
    for (GroupSession* each : lost) {
        each->shared_from_this()->lose(why);
    }
    table_.lose_all();
    loop().post([weak = weak_from_this()] { // the connection may be on its way out with the link
        if (const auto self = weak.lock(); self && !self->shut_) {
            self->want_link();
            self->look_unused();
        }
    });
}

void Receiver::on_sender(amqp::SenderLinkPtr link) { link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"}); }
void Receiver::on_receiver(amqp::ReceiverLinkPtr link) { link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"}); }

} // namespace sessionq::groups
