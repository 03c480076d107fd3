// What must not cross with messages under way waits for the answer to a drain.
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

void Receiver::want_drain() {
    if (state_ != State::attached) {
        return;
    }
    if (draining_) {
        drain_again_ = true;
        return;
    }
    draining_ = true;
    waiters_.begin_probe();
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
    waiters_.end_probe();
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

/// Artemis overlooks a drain that it gets while it is busy with the answer to the one before: it is
/// asked again. If it is silent for long, what waits would wait for ever (R16), and the link is of
/// no more use.
void Receiver::on_drain_overdue() {
    const auto self = shared_from_this();
    if (loop().now() < drain_until_) {
        link_->add_credit(1); // so that there is something to be drained
        static_cast<void>(link_->drain());
        loop().timers().arm(drain_guard_, loop().now() + drain_patience);
    } else {
        link_over({.name = "amqp:link:detach-forced",
                   .text = "a drain was not answered",
                   .found = Errc::timeout});
    }
}

/// Nothing is on its way: messages that go back now come again in order.
void Receiver::return_messages() {
    for (Held* held : table_.take_returning()) {
        window_.gone(held->bytes);
        held->handle.update(
            held->failed ? amqp::Outcome{.kind = OutcomeKind::modified, .delivery_failed = true}
                         : amqp::Outcome{.kind = OutcomeKind::released});
        held->handle.settle();
        table_.remove(*held);
    }
    for (GroupSession* each : sessions_) {
        each->returned();
    }
}

} // namespace sessionq::groups
