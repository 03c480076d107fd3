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

Map to_map(const Properties& properties) {
    Map map;
    for (const auto& [name, value] : properties) {
        map.emplace_back(name, amqp::to_value(value));
    }
    return map;
}

amqp::Outcome to_outcome(const ports::Settlement& settlement) {
    switch (settlement.outcome) {
    case ports::Outcome::complete: return {.kind = OutcomeKind::accepted};
    case ports::Outcome::release: return {.kind = OutcomeKind::released};
    case ports::Outcome::dead_letter: {
        Map info = to_map(settlement.properties_to_modify);
        info.emplace_back("DeadLetterReason", settlement.dead_letter.reason);
        info.emplace_back("DeadLetterErrorDescription", settlement.dead_letter.description);
        return {.kind = OutcomeKind::rejected, .error = {.name = "com.microsoft:dead-letter", .info = amqp::encode(Value{std::move(info)})}};
    }
    case ports::Outcome::abandon:
    case ports::Outcome::defer: break;
    }
    Map annotations;
    for (auto& [name, value] : to_map(settlement.properties_to_modify)) {
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
    } else if (!dead_ && events_ != nullptr) {
        events_->on_lost(why);
    }
}

void LinkCore::close(ports::SessionLink::DoneHandler handler) {
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

// What is asked of $management

template <typename Then>
void LinkCore::manage(std::string operation, Map body, Then then) {
    if (phase_ != Phase::held) {
        hub_->loop().post([weak = weak_from_this(), then = std::move(then)] {
            if (const auto self = weak.lock(); self && !self->dead_) {
                then(*self, Failure{.code = Errc::lock_lost, .detail = "session '" + self->session_id_ + "' is held no more"});
            }
        });
        return;
    }
    body.emplace_back("session-id", session_id_);
    Request request{.operation = std::move(operation), .properties = {{"associated-link-name", link_name_}}, .body = Value{std::move(body)}};
    hub_->manage(request_.entity, std::move(request), request_deadline(),
                 [weak = weak_from_this(), then = std::move(then)](core::Result<Response> answer) {
                     const auto self = weak.lock();
                     if (self && !self->dead_) {
                         then(*self, std::move(answer));
                     }
                 });
}

void LinkCore::renew_lock(ports::SessionLink::LockHandler handler) {
    manage("com.microsoft:renew-session-lock", {}, [handler = std::move(handler)](LinkCore& self, core::Result<Response> answer) {
        if (!answer.ok()) {
            handler(answer.failure());
            return;
        }
        const Response& response = answer.value();
        const Value* until = response.body.find("expiration");
        const auto time = until != nullptr ? until->integer() : std::nullopt;
        if (!response.is_success()) {
            Failure why = response.to_failure("the lock of session '" + self.session_id_ + "' was not renewed");
            if (response.status == 410 || response.status == 404) {
                why.code = Errc::lock_lost;
            }
            handler(std::move(why));
        } else if (!time) {
            handler(Failure{.code = Errc::protocol_error, .detail = "the answer to a renewal names no expiration"});
        } else {
            handler(ports::LockGrant{.length = self.lock_length(amqp::Timestamp{*time}.time())});
        }
    });
}

void LinkCore::get_state(ports::SessionLink::StateHandler handler) {
    manage("com.microsoft:get-session-state", {}, [handler = std::move(handler)](LinkCore& self, core::Result<Response> answer) {
        if (!answer.ok()) {
            handler(answer.failure());
        } else if (!answer.value().is_success()) {
            handler(answer.value().to_failure("the state of session '" + self.session_id_ + "'"));
        } else {
            const Value* state = answer.value().body.find("session-state");
            const auto bytes = state != nullptr ? state->bytes() : std::nullopt;
            handler(bytes ? std::optional{std::string{*bytes}} : std::nullopt);
        }
    });
}

void LinkCore::set_state(const std::optional<std::string>& state, ports::SessionLink::DoneHandler handler) {
    Map body{{"session-state", state ? Value::binary(*state) : Value{}}};
    manage("com.microsoft:set-session-state", std::move(body), [handler = std::move(handler)](LinkCore& self, core::Result<Response> answer) {
        if (!answer.ok()) {
            handler(answer.failure());
        } else if (!answer.value().is_success()) {
            handler(answer.value().to_failure("the state of session '" + self.session_id_ + "'"));
        } else {
            handler(core::Done{});
        }
    });
}

void LinkCore::receive_deferred(const std::vector<std::int64_t>& sequences, ports::SessionLink::DeliveriesHandler handler) {
    amqp::Array numbers{.element = 0x81};
    numbers.items.assign(sequences.begin(), sequences.end());
    const bool removes = request_.mode == ports::ReceiveMode::receive_and_delete;
    Map body{{"sequence-numbers", std::move(numbers)}, {"receiver-settle-mode", std::uint32_t{removes ? 0U : 1U}}};
    manage("com.microsoft:receive-by-sequence-number", std::move(body),
           [handler = std::move(handler), wanted = sequences.size(), removes](LinkCore& self, core::Result<Response> answer) {
               if (!answer.ok()) {
                   handler(answer.failure());
                   return;
               }
               if (!answer.value().is_success()) {
                   Failure why = answer.value().to_failure("deferred messages of session '" + self.session_id_ + "'");
                   why.code = answer.value().status == 404 ? Errc::message_not_found : why.code;
                   handler(std::move(why));
                   return;
               }
               const Value* messages = answer.value().body.find("messages");
               std::vector<ports::DeliveryPtr> deliveries;
               for (const Value& each : messages != nullptr && messages->items() != nullptr ? *messages->items() : amqp::List{}) {
                   const Value* encoded = each.find("message");
                   const Value* token = each.find("lock-token");
                   const std::string bytes{encoded != nullptr ? encoded->bytes().value_or("") : ""};
                   auto received = amqp::decode_delivery(bytes, self.hub_->reading());
                   if (!received.ok() || self.events_ == nullptr) {
                       continue;
                   }
                   const auto* uuid = token != nullptr ? token->as<core::Uuid>() : nullptr;
                   const std::uint64_t tag = ++self.last_deferred_ << 1U | 1U;
                   self.deferred_[tag] = uuid != nullptr ? *uuid : received.value().lock_token.value_or(core::Uuid{});
                   deliveries.push_back(self.make_delivery(std::move(received).value(), bytes.size(), tag, removes));
               }
               if (deliveries.size() != wanted) {
                   handler(Failure{.code = Errc::message_not_found, .detail = "not all deferred messages asked for are there"});
               } else {
                   handler(std::move(deliveries));
               }
           });
}

void LinkCore::settle_deferred(ports::Delivery& delivery, const core::Uuid& token, const ports::Settlement& settlement) {
    const auto status = [&] {
        switch (settlement.outcome) {
        case ports::Outcome::complete: return "completed";
        case ports::Outcome::defer: return "defered"; // as the service spells it
        case ports::Outcome::dead_letter: return "suspended";
        default: return "abandoned";
        }
    };
    Map body{{"lock-tokens", amqp::Array{.element = 0x98, .items = {Value{token}}}}, {"disposition-status", status()}};
    if (settlement.outcome == ports::Outcome::dead_letter) {
        body.emplace_back("deadletter-reason", settlement.dead_letter.reason);
        body.emplace_back("deadletter-description", settlement.dead_letter.description);
    }
    if (!settlement.properties_to_modify.empty()) {
        body.emplace_back("properties-to-modify", to_map(settlement.properties_to_modify));
    }
    manage("com.microsoft:update-disposition", std::move(body), [told = &delivery](LinkCore& self, core::Result<Response> answer) {
        if (!self.forget_settling(*told)) {
            return; // it was answered when the link ended
        }
        std::optional<Failure> why;
        if (!answer.ok()) {
            why = answer.failure();
        } else if (!answer.value().is_success()) {
            why = answer.value().to_failure("the settlement was refused");
        }
        self.events_->on_settled(*told, why ? &*why : nullptr);
    });
}

} // namespace sessionq::servicebus
