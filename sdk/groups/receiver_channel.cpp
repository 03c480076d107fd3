// When the link is attached, when it is given up, and what becomes of all that hangs on it.
#include <algorithm>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "amqp/engine.hpp"
#include "core/uuid.hpp"
#include "groups/conditions.hpp"
#include "groups/receiver.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {
namespace {

using amqp::OutcomeKind;
using amqp::Value;

constexpr std::uint64_t selector_code = 0x0000468C00000004; // apache.org:selector-filter:string

} // namespace

// Attaching

void Receiver::want_link() {
    if (state_ != State::detached || waiters_.empty() || shut_) {
        return;
    }
    state_ = State::waiting;
    hub_->ready([weak = weak_from_this()](core::Result<amqp::Engine*> engine) {
        const auto self = weak.lock();
        if (!self || self->shut_) {
            return;
        }
        if (engine.ok()) {
            self->attach(*engine.value());
            return;
        }
        self->state_ = State::detached;
        self->waiters_.answer_all(engine.failure());
        self->look_unused_later();
    });
}

void Receiver::attach(amqp::Engine& engine) {
    state_ = State::attaching;
    came_ = 0;
    draining_ = drain_again_ = recycles_ = marks_first_ = false;
    session_ = engine.begin_session();
    link_ =
        session_ ? session_->make_receiver("groups-" + core::Uuid::make().to_string()) : nullptr;
    if (link_ == nullptr) {
        session_.reset();
        state_ = State::detached;
        waiters_.answer_all(
            {.code = Errc::resource_exhausted,
             .detail = "the broker allows no more AMQP sessions on this connection"});
        return;
    }
    session_->set_listener(this);
    link_->set_listener(this);
    amqp::Attach attach{.source = {.address = terms_.entity},
                        .target = {.address = std::string{link_->name()}},
                        .sender_mode = amqp::SenderSettleMode::unsettled,
                        .receiver_mode = dialect().returns.settles_in_turn
                                             ? amqp::ReceiverSettleMode::second
                                             : amqp::ReceiverSettleMode::first};
    if (terms_.session_id) {
        attach.source.filter = amqp::encode(
            Value::map({{Value::symbol("jms-selector"),
                         Value::described(std::uint64_t{selector_code},
                                          selector_for(dialect(), *terms_.session_id))}}));
    }
    // Also the lowest: to Broker-J a consumer that says none comes before all others.
    attach.properties = amqp::encode(Value::map({{Value::symbol(dialect().priority_property),
                                                  static_cast<std::int32_t>(terms_.priority)}}));
    link_->open(attach);
}

void Receiver::on_link_open() {
    if (!link_->remote().source.present) {
        return; // the refusal follows
    }
    const auto self = shared_from_this();
    state_ = State::attached;
    serve();
    top_up();
    if (waiters_.has_probes()) {
        want_drain();
    }
    look_unused();
}

// Of no more use

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
                if (const auto self = weak.lock();
                    self && self->over_ && self->state_ == State::detached && self->is_unused()) {
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

// Idle

/// Not of a queue that deals its groups anew when a consumer comes: it would at the return of the
/// link, for everybody. Of what it tells, that it marks the first of a group is all that points to
/// it.
void Receiver::look_idle() {
    if (state_ == State::attached && dialect().recycle.pins_groups && !marks_first_ && came_ != 0 &&
        table_.is_empty() && !terms_.session_id) {
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
        waiters_.answer_all(why);
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

void Receiver::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}
void Receiver::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}

} // namespace sessionq::groups
