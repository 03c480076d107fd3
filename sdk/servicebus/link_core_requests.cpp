// What a session's link asks of its entity's $management.
#include "servicebus/link_core.hpp"

#include <utility>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"

namespace sessionq::servicebus {

using amqp::Map;
using amqp::Value;

Map LinkCore::to_map(const Properties& properties) {
    Map map;
    for (const auto& [name, value] : properties) {
        map.emplace_back(name, amqp::to_value(value));
    }
    return map;
}

template <typename Then>
void LinkCore::manage(std::string operation, Map body, Deadline deadline, Then then) {
    if (phase_ != Phase::held) {
        hub_->loop().post([weak = weak_from_this(), then = std::move(then)] {
            if (const auto self = weak.lock(); self && !self->dead_) {
                then(*self,
                     Failure{.code = Errc::lock_lost,
                             .detail = "session '" + self->session_id_ + "' is held no more"});
            }
        });
        return;
    }
    body.emplace_back("session-id", session_id_);
    Request request{.operation = std::move(operation),
                    .properties = {{"associated-link-name", link_name_}},
                    .body = Value{std::move(body)}};
    hub_->manage(request_.entity, std::move(request), deadline,
                 [weak = weak_from_this(), then = std::move(then)](core::Result<Response> answer) {
                     const auto self = weak.lock();
                     if (self && !self->dead_) {
                         then(*self, std::move(answer));
                     }
                 });
}

void LinkCore::renew_lock(Deadline deadline, ports::SessionLink::LockHandler handler) {
    manage("com.microsoft:renew-session-lock", {}, deadline,
           [handler = std::move(handler),
            asked = hub_->loop().now()](LinkCore& self, core::Result<Response> answer) {
               if (!answer.ok()) {
                   handler(answer.failure());
                   return;
               }
               const Response& response = answer.value();
               const Value* until = response.body.find("expiration");
               const auto time = until != nullptr ? until->integer() : std::nullopt;
               if (!response.is_success()) {
                   Failure why = response.to_failure("the lock of session '" + self.session_id_ +
                                                     "' was not renewed");
                   if (response.status == 410 || response.status == 404) {
                       why.code = Errc::lock_lost;
                       self.note_lock_over();
                   }
                   handler(std::move(why));
               } else if (!time) {
                   handler(Failure{.code = Errc::protocol_error,
                                   .detail = "the answer to a renewal names no expiration"});
               } else {
                   handler(self.take_lock(amqp::Timestamp{*time}.time(), asked));
               }
           });
}

void LinkCore::get_state(Deadline deadline, ports::SessionLink::StateHandler handler) {
    manage("com.microsoft:get-session-state", {}, deadline,
           [handler = std::move(handler)](LinkCore& self, core::Result<Response> answer) {
               if (!answer.ok()) {
                   handler(answer.failure());
               } else if (!answer.value().is_success()) {
                   handler(answer.value().to_failure("the state of session '" + self.session_id_ +
                                                     "'"));
               } else {
                   const Value* state = answer.value().body.find("session-state");
                   const auto bytes = state != nullptr ? state->bytes() : std::nullopt;
                   handler(bytes ? std::optional{std::string{*bytes}} : std::nullopt);
               }
           });
}

void LinkCore::set_state(const std::optional<std::string>& state, Deadline deadline,
                         ports::SessionLink::DoneHandler handler) {
    Map body{{"session-state", state ? Value::binary(*state) : Value{}}};
    manage("com.microsoft:set-session-state", std::move(body), deadline,
           [handler = std::move(handler)](LinkCore& self, core::Result<Response> answer) {
               if (!answer.ok()) {
                   handler(answer.failure());
               } else if (!answer.value().is_success()) {
                   handler(answer.value().to_failure("the state of session '" + self.session_id_ +
                                                     "'"));
               } else {
                   handler(core::Done{});
               }
           });
}

void LinkCore::receive_deferred(const std::vector<std::int64_t>& sequences, Deadline deadline,
                                ports::SessionLink::DeliveriesHandler handler) {
    amqp::Array numbers{.element = 0x81};
    numbers.items.assign(sequences.begin(), sequences.end());
    const bool removes = request_.mode == ports::ReceiveMode::receive_and_delete;
    Map body{{"sequence-numbers", std::move(numbers)},
             {"receiver-settle-mode", std::uint32_t{removes ? 0U : 1U}}};
    manage("com.microsoft:receive-by-sequence-number", std::move(body), deadline,
           [handler = std::move(handler), wanted = sequences.size(),
            removes](LinkCore& self, core::Result<Response> answer) {
               if (!answer.ok()) {
                   handler(answer.failure());
                   return;
               }
               if (!answer.value().is_success()) {
                   Failure why = answer.value().to_failure("deferred messages of session '" +
                                                           self.session_id_ + "'");
                   why.code = answer.value().status == 404 ? Errc::message_not_found : why.code;
                   handler(std::move(why));
                   return;
               }
               const Value* messages = answer.value().body.find("messages");
               std::vector<ports::DeliveryPtr> deliveries;
               for (const Value& each : messages != nullptr && messages->items() != nullptr
                                            ? *messages->items()
                                            : amqp::List{}) {
                   const Value* encoded = each.find("message");
                   const Value* token = each.find("lock-token");
                   const std::string_view bytes =
                       encoded != nullptr ? encoded->bytes().value_or("") : "";
                   auto received = amqp::decode_delivery(bytes, self.hub_->reading());
                   if (!received.ok() || self.events_ == nullptr) {
                       continue;
                   }
                   const auto* uuid = token != nullptr ? token->as<core::Uuid>() : nullptr;
                   const std::uint64_t tag = ++self.last_deferred_ << 1U | 1U;
                   self.deferred_[tag] =
                       uuid != nullptr ? *uuid : received.value().lock_token.value_or(core::Uuid{});
                   deliveries.push_back(
                       self.make_delivery(std::move(received).value(), bytes.size(), tag, removes));
               }
               if (deliveries.size() != wanted) {
                   handler(Failure{.code = Errc::message_not_found,
                                   .detail = "not all deferred messages asked for are there"});
               } else {
                   handler(std::move(deliveries));
               }
           });
}

void LinkCore::settle_deferred(ports::Delivery& delivery, const core::Uuid& token,
                               const ports::Settlement& settlement) {
    const auto status = [&] {
        switch (settlement.outcome) {
        case ports::Outcome::complete: return "completed";
        case ports::Outcome::defer: return "defered"; // as the service spells it
        case ports::Outcome::dead_letter: return "suspended";
        default: return "abandoned";
        }
    };
    Map body{{"lock-tokens", amqp::Array{.element = 0x98, .items = {Value{token}}}},
             {"disposition-status", status()}};
    if (settlement.outcome == ports::Outcome::dead_letter) {
        body.emplace_back("deadletter-reason", settlement.dead_letter.reason);
        body.emplace_back("deadletter-description", settlement.dead_letter.description);
    }
    if (!settlement.properties_to_modify.empty()) {
        body.emplace_back("properties-to-modify", to_map(settlement.properties_to_modify));
    }
    manage("com.microsoft:update-disposition", std::move(body), request_deadline(),
           [told = &delivery](LinkCore& self, core::Result<Response> answer) {
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
