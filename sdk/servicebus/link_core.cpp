#include "servicebus/link_core.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"
#include "core/log.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Map;
using amqp::OutcomeKind;
using amqp::Value;

constexpr std::string_view session_filter = "com.microsoft:session-filter";
constexpr std::string_view locked_until = "com.microsoft:locked-until-utc";
/// No entity locks for longer (documented). What lies outside is a difference between the clocks of the two sides, and says nothing of the lock but that it is
/// held now: it is taken for a short one, whose renewals come often enough for the shortest there are.
constexpr Duration longest_lock = std::chrono::minutes{5};
constexpr Duration clock_tolerance = std::chrono::seconds{30};
constexpr Duration shortest_lock = std::chrono::seconds{1};
constexpr Duration unknown_lock = std::chrono::seconds{5};

/// A handle fits a port tag; tags of deferred messages are odd, which no pointer is.
std::uint64_t tag_of(amqp::DeliveryHandle delivery) { return reinterpret_cast<std::uint64_t>(delivery.raw()); }
amqp::DeliveryHandle handle_of(std::uint64_t tag) { return amqp::DeliveryHandle{reinterpret_cast<pn_delivery_t*>(tag)}; }
bool is_deferred(std::uint64_t tag) { return (tag & 1U) != 0; }

amqp::Outcome to_outcome(const ports::Settlement& settlement) {
    switch (settlement.outcome) {
    case ports::Outcome::complete: return {.kind = OutcomeKind::accepted};
    case ports::Outcome::release: return {.kind = OutcomeKind::released};
    case ports::Outcome::dead_letter: {
        Map info{{"DeadLetterReason", settlement.dead_letter.reason}, {"DeadLetterErrorDescription", settlement.dead_letter.description}};
        for (auto& entry : LinkCore::to_map(settlement.properties_to_modify)) {
            info.push_back(std::move(entry));
        }
        return {.kind = OutcomeKind::rejected, .error = {.name = "com.microsoft:dead-letter", .info = amqp::encode(Value{std::move(info)})}};
    }
    case ports::Outcome::abandon:
    case ports::Outcome::defer: break;
    }
    Map annotations;
    for (auto& [name, value] : LinkCore::to_map(settlement.properties_to_modify)) {
        annotations.emplace_back(Value::symbol(name.text().value_or("")), value);
    }
    return {.kind = OutcomeKind::modified,
            .undeliverable_here = settlement.outcome == ports::Outcome::defer,
            .annotations = annotations.empty() ? std::string{} : amqp::encode(Value{std::move(annotations)})};
}

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
        finish_ask(Failure{.code = Errc::resource_exhausted, .detail = "the broker allows no more AMQP sessions on this connection"});
        return;
    }
    link_->set_listener(this);
    const bool removes = request_.mode == ports::ReceiveMode::receive_and_delete;
    const auto wait = std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(request_.wait).count(), 1, 0xffffffff);
    const auto properties =
        request_.session_id ? std::string{} : amqp::encode(Value::map({{Value::symbol("com.microsoft:timeout"), static_cast<std::uint32_t>(wait)}}));
    link_->open({.source = {.address = request_.entity,
                            .filter = amqp::encode(
                                Value::map({{Value::symbol(session_filter), request_.session_id ? Value{*request_.session_id} : Value{}}}))},
                 .target = {.address = link_name_},
                 .sender_mode = removes ? amqp::SenderSettleMode::settled : amqp::SenderSettleMode::unsettled,
                 .receiver_mode = removes ? amqp::ReceiverSettleMode::first : amqp::ReceiverSettleMode::second,
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
        finish_ask(Failure{.code = Errc::protocol_error, .detail = "the broker did not say which session it gave"});
        return;
    }
    session_id_ = *id;
    phase_ = Phase::held;
    const auto properties = amqp::decode(link_->remote_properties());
    const Value* ticks = properties ? properties->find(locked_until) : nullptr;
    if (const auto number = ticks != nullptr ? ticks->integer() : std::nullopt) {
        initial_lock_.length = lock_length(amqp::time_of(*number));
    } else {
        initial_lock_.length = shortest_lock; // to be renewed at once: the answer to that says more
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
        hub_->loop().post([done = std::move(done), failure = std::move(failure)]() mutable { done(std::move(failure)); });
    }
}

Duration LinkCore::lock_length(WallTime until) const {
    const auto left = std::chrono::duration_cast<Duration>(until - hub_->loop().wall_now());
    return left <= Duration::zero() || left > longest_lock + clock_tolerance ? unknown_lock : std::clamp(left, shortest_lock, longest_lock);
}

// Messages

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

void LinkCore::add_credit(std::uint32_t count) {
    if (link_) {
        link_->add_credit(count);
    }
}

void LinkCore::drain() {
    if (link_ && !link_->drain()) {
        hub_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->on_drained();
            }
        });
    }
}

void LinkCore::on_drained() {
    if (phase_ == Phase::held && !dead_) {
        events_->on_drained();
    }
}

void LinkCore::on_delivery(amqp::DeliveryHandle delivery) {
    const auto self = shared_from_this();
    const bool settled = link_->is_settled_by_sender(delivery);
    std::string bytes(link_->size(delivery), '\0');
    link_->read(delivery, bytes.data());
    if (phase_ != Phase::held || dead_ || events_ == nullptr) {
        return; // the broker has it back with the link
    }
    const std::size_t size = bytes.size();
    auto received = amqp::decode_delivery(std::move(bytes), hub_->reading());
    if (!received.ok()) {
        core::log(LogLevel::error, "servicebus", received.failure().to_string());
        if (!settled) {
            delivery.update({.kind = OutcomeKind::rejected, .error = {.name = "amqp:decode-error", .text = "the message cannot be decoded"}});
        }
        delivery.settle();
        if (!link_->is_draining()) {
            link_->add_credit(1); // for what nobody is told of
        }
        return;
    }
    ports::DeliveryPtr made = make_delivery(std::move(received).value(), size, tag_of(delivery), settled);
    if (settled) {
        delivery.settle();
    } else {
        delivery.set_context(made.get());
    }
    events_->on_delivery(std::move(made));
}

ports::DeliveryPtr LinkCore::make_delivery(amqp::ReceivedDelivery&& received, std::size_t bytes, std::uint64_t tag, bool settled) {
    ports::DeliveryPtr made = events_->new_delivery();
    made->message = ReceivedMessage{std::move(received.content), std::move(received.facts)};
    made->bytes = bytes;
    made->port_tag = tag;
    made->settled_by_sender = settled;
    return made;
}

void LinkCore::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settling_.push_back(&delivery);
    if (phase_ != Phase::held) {
        hub_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && self->phase_ != Phase::held) {
                self->fail_settlements({.code = Errc::lock_lost, .detail = "session '" + self->session_id_ + "' is held no more"});
            }
        });
        return;
    }
    if (is_deferred(delivery.port_tag)) {
        const core::Uuid token = deferred_.at(delivery.port_tag);
        deferred_.erase(delivery.port_tag);
        settle_deferred(delivery, token, settlement);
    } else {
        handle_of(delivery.port_tag).update(to_outcome(settlement));
    }
}

void LinkCore::on_disposition(amqp::DeliveryHandle delivery) {
    if (!delivery.remote_settled()) {
        return;
    }
    const auto self = shared_from_this();
    auto* told = static_cast<ports::Delivery*>(delivery.context());
    std::optional<Failure> why;
    if (delivery.remote_kind() == OutcomeKind::rejected) {
        if (const amqp::Outcome outcome = delivery.remote_outcome(); !outcome.error.empty()) {
            why = to_failure(outcome.error, "the settlement was refused");
        }
    }
    delivery.settle();
    if (told != nullptr && forget_settling(*told) && !dead_) {
        events_->on_settled(*told, why ? &*why : nullptr);
    }
}

// Answers come in order but for those to deferred messages: it is the first, as a rule.
bool LinkCore::forget_settling(const ports::Delivery& delivery) {
    const auto first = settling_.begin() + static_cast<std::ptrdiff_t>(first_settling_);
    const auto found = std::find(first, settling_.end(), &delivery);
    if (found == settling_.end()) {
        return false;
    }
    if (found != first) {
        settling_.erase(found);
        return true;
    }
    if (++first_settling_ * 2 >= settling_.size()) {
        settling_.erase(settling_.begin(), settling_.begin() + static_cast<std::ptrdiff_t>(first_settling_));
        first_settling_ = 0;
    }
    return true;
}

void LinkCore::fail_settlements(const Failure& why) {
    while (first_settling_ < settling_.size() && !dead_) {
        ports::Delivery& delivery = *settling_[first_settling_];
        static_cast<void>(forget_settling(delivery));
        events_->on_settled(delivery, &why);
    }
}

// The end

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
    Failure why =
        to_failure(condition, was == Phase::asking ? "a session of '" + request_.entity + "' was not given" : "session '" + session_id_ + "'");
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
    if (why.code != Errc::lock_lost && why.code != Errc::entity_not_found && why.code != Errc::entity_disabled && why.code != Errc::unauthorized) {
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
