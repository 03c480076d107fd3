#include "servicebus/link_core.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Value;

constexpr std::string_view session_filter = "com.microsoft:session-filter";
constexpr std::string_view locked_until = "com.microsoft:locked-until-utc";

} // namespace

LinkCore::~LinkCore() {
    let_go();
    hub_->leave();
}

// Asking

void LinkCore::ask(AcceptDone done) {
    done_ = std::move(done);
    phase_ = Phase::asking;
    hub_->ready(request_.entity, [self = shared_from_this()](core::Result<amqp::Engine*> engine) {
        if (self->phase_ != Phase::asking) {
            return; // abandoned
        }
        if (engine.ok()) {
            self->attach();
        } else {
            self->finish_ask(engine.failure());
        }
    });
}

void LinkCore::attach() {
    session_ = hub_->session_for_link();
    link_name_ = "session-" + std::to_string(hub_->next_link_number());
    link_ = session_ ? session_->make_receiver(link_name_) : nullptr;
    if (link_ == nullptr) {
        session_.reset();
        hub_->note_full();
        finish_ask(Failure{.code = Errc::resource_exhausted,
                           .detail = "the broker allows no more AMQP sessions on this connection"});
        return;
    }
    link_->set_listener(this);
    const bool removes = request_.mode == ports::ReceiveMode::receive_and_delete;
    const auto wait = std::clamp<std::int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(request_.wait).count(), 1, 0xffffffff);
    const auto properties = request_.session_id
                                ? std::string{}
                                : amqp::encode(Value::map({{Value::symbol("com.microsoft:timeout"),
                                                            static_cast<std::uint32_t>(wait)}}));
    link_->open({.source = {.address = request_.entity,
                            .filter = amqp::encode(Value::map(
                                {{Value::symbol(session_filter),
                                  request_.session_id ? Value{*request_.session_id} : Value{}}}))},
                 .target = {.address = link_name_},
                 .sender_mode =
                     removes ? amqp::SenderSettleMode::settled : amqp::SenderSettleMode::unsettled,
                 .receiver_mode =
                     removes ? amqp::ReceiverSettleMode::first : amqp::ReceiverSettleMode::second,
                 .properties = properties});
}

void LinkCore::on_link_open() {
    const auto self = shared_from_this();
    if (link_->remote_has_source()) { // else the refusal follows
        granted();
    }
}

void LinkCore::granted() {
    const auto filter = amqp::decode(link_->remote_filter());
    const Value* said = filter ? filter->find(session_filter) : nullptr;
    if (said != nullptr && said->described() != nullptr) {
        said = &said->described()->value;
    }
    const auto id = said != nullptr ? said->text() : std::nullopt;
    if (!id || (request_.session_id && *id != *request_.session_id)) {
        finish_ask(Failure{.code = Errc::protocol_error,
                           .detail = "the broker did not say which session it gave"});
        return;
    }
    session_id_ = *id;
    phase_ = Phase::held;
    const auto properties = amqp::decode(link_->remote_properties());
    const Value* ticks = properties ? properties->find(locked_until) : nullptr;
    if (const auto number = ticks != nullptr ? ticks->integer() : std::nullopt) {
        initial_lock_ =
            take_lock(amqp::time_of(*number),
                      hub_->loop().now()); // when it was granted while we waited, it does not say
    } else {
        initial_lock_.length =
            LockClock::shortest_lock; // to be renewed at once: the answer to that says more
    }
    finish_ask(std::nullopt);
}

void LinkCore::abandon_ask() {
    done_ = nullptr;
    phase_ = Phase::over;
    let_go();
}

/// Tells by a later turn; a session granted after all is given back by whoever drops the link.
void LinkCore::finish_ask(std::optional<Failure> failure) {
    if (failure) {
        phase_ = Phase::over;
        let_go();
    }
    if (AcceptDone done = std::exchange(done_, nullptr)) {
        hub_->loop().post([done = std::move(done), failure = std::move(failure)]() mutable {
            done(std::move(failure));
        });
    }
}

ports::LockGrant LinkCore::take_lock(WallTime until, TimePoint asked) {
    locked_until_ = until;
    lock_asked_ = asked;
    lessons_ = hub_->locks().lessons();
    return {.length = hub_->locks().length(until, asked, hub_->reading())};
}

void LinkCore::note_lock_over() {
    if (locked_until_) {
        hub_->locks().has_ended(*locked_until_, lock_asked_, hub_->reading());
    }
}

// The end

void LinkCore::set_events(ports::LinkEvents& events) {
    events_ = &events;
    if (untold_loss_) {
        hub_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && !self->dead_ && !self->given_back_) {
                self->events_->on_lost(*self->untold_loss_);
            }
        });
    }
}

void LinkCore::on_link_closed(const amqp::Condition& condition, bool) {
    const auto self = shared_from_this();
    over(condition);
}
void LinkCore::on_link_gone(const amqp::Condition& condition) {
    const auto self = shared_from_this();
    hub_->loop().post([session = session_] {}); // not destroyed while it tells
    over(condition);
}

void LinkCore::over(const amqp::Condition& condition) {
    const Phase was = std::exchange(phase_, Phase::over);
    if (was == Phase::asking && condition.name == "amqp:resource-limit-exceeded") {
        hub_->note_full();
    }
    if (was == Phase::over) {
        return;
    }
    if (was == Phase::held && condition.name == "com.microsoft:session-lock-lost") {
        note_lock_over();
    }
    Failure why = to_failure(condition, was == Phase::asking
                                            ? "a session of '" + request_.entity + "' was not given"
                                            : "session '" + session_id_ + "'");
    if (why.code == Errc::unauthorized) {
        hub_->doubt(request_.entity);
    }
    if (was == Phase::asking) {
        if (condition.name == "com.microsoft:timeout") { // there was no session within the wait
            why.code = Errc::no_session_available;
        }
        finish_ask(std::move(why));
        return;
    }
    if (why.code != Errc::lock_lost && why.code != Errc::entity_not_found &&
        why.code != Errc::entity_disabled && why.code != Errc::unauthorized) {
        why.code = Errc::connection_lost;
    }
    fail_settlements(why);
    let_go();
    if (was == Phase::closing) {
        if (const auto handler = std::exchange(close_handler_, nullptr); handler && !dead_) {
            handler(core::Done{});
        }
    } else if (events_ == nullptr) {
        untold_loss_ = std::move(why);
    } else if (!dead_ && !given_back_) {
        events_->on_lost(why);
    }
}

void LinkCore::close(ports::SessionLink::DoneHandler handler) {
    given_back_ = true;
    if (phase_ != Phase::held || !link_) {
        hub_->loop().post([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    phase_ = Phase::closing;
    close_handler_ = std::move(handler);
    link_->close();
    session_->engine().commit(); // an accept that follows finds the session free
}

void LinkCore::destroy() noexcept {
    dead_ = true;
    close_handler_ = nullptr;
    phase_ = Phase::over;
    let_go();
}

void LinkCore::let_go() noexcept {
    if (link_ != nullptr) {
        session_->left();
    }
    link_.reset();
    session_.reset();
}

} // namespace sessionq::servicebus
