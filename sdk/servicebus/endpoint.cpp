#include "servicebus/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/message_codec.hpp"
#include "servicebus/link.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Map;
using amqp::Value;
using ports::Capability;

} // namespace

Endpoint::Endpoint(core::EventLoop& loop, asio::io_context& io, HubSettings settings)
    : hubs_{loop, io, std::move(settings)},
      hub_{hubs_.first()},
      owed_{std::make_shared<std::map<std::uint64_t, std::function<void(const Failure&)>>>()} {}

Endpoint::~Endpoint() {
    const Failure why{.code = Errc::cancelled, .detail = "the client is closed"};
    for (auto& [id, accept] : std::exchange(accepts_, {})) {
        accept.core->abandon_ask();
        accept.handler(why);
    }
    for (auto& [id, fail] : std::exchange(*owed_, {})) {
        fail(why);
    }
    senders_.clear();
    hubs_.close();
}

const ports::Capabilities& Endpoint::capabilities() const noexcept {
    static const ports::Capabilities all{
        "Azure Service Bus",
        {Capability::accept_named, Capability::accept_next, Capability::lock_renewal,
         Capability::session_state, Capability::list_sessions, Capability::defer,
         Capability::dead_letter, Capability::dead_letter_reason, Capability::schedule,
         Capability::cancel_scheduled, Capability::peek, Capability::refuse_held,
         Capability::refuse_sessionless, Capability::sequence_numbers,
         Capability::modify_properties, Capability::receive_and_delete}};
    return all;
}

template <typename T>
std::function<void(core::Result<T>)> Endpoint::owed(std::function<void(core::Result<T>)> handler) {
    const std::uint64_t id = ++last_owed_;
    const auto shared = std::make_shared<std::function<void(core::Result<T>)>>(std::move(handler));
    owed_->emplace(id, [shared](const Failure& why) { (*shared)(why); });
    return [owed = owed_, id, shared](core::Result<T> result) {
        if (owed->erase(id) != 0) {
            (*shared)(std::move(result));
        }
    };
}

void Endpoint::connect(const std::string& entity, ports::DoneHandler handler) {
    hub_->ready(entity, [answer = owed(std::move(handler))](core::Result<amqp::Engine*> engine) {
        if (engine.ok()) {
            answer(core::Done{});
        } else {
            answer(engine.failure());
        }
    });
}

// Sessions

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = ++last_accept_;
    auto core = std::make_shared<LinkCore>(hubs_.for_session(), std::move(request));
    accepts_.emplace(id, Accept{core, std::move(handler)});
    core->ask(
        [this, id](std::optional<Failure> failure) { finish_accept(id, std::move(failure)); });
    return id;
}

void Endpoint::finish_accept(ports::RequestId id, std::optional<Failure> failure) {
    const auto found = accepts_.find(id);
    if (found == accepts_.end()) {
        return; // cancelled; its core gives a session back when it goes
    }
    Accept accept = std::move(found->second);
    accepts_.erase(found);
    if (failure) {
        accept.handler(std::move(*failure));
    } else {
        accept.handler(ports::SessionLinkPtr{std::make_unique<Link>(std::move(accept.core))});
    }
}

void Endpoint::give_up(ports::RequestId id) {
    const auto found = accepts_.find(id);
    if (found == accepts_.end()) {
        return;
    }
    Accept accept = std::move(found->second);
    accepts_.erase(found);
    accept.core->abandon_ask();
    auto answer = owed<ports::SessionLinkPtr>(std::move(accept.handler));
    loop().post([answer = std::move(answer)] {
        answer(Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
    });
}

// Sending

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    const bool is_scheduled =
        std::any_of(request.messages.begin(), request.messages.end(),
                    [](const Message& m) { return m.scheduled_enqueue_time.has_value(); });
    if (is_scheduled) {
        schedule(std::move(request), std::move(handler));
        return 0;
    }
    std::vector<std::string> encoded;
    encoded.reserve(request.messages.size());
    const amqp::ClockReading at = hub_->reading();
    for (const Message& message : request.messages) {
        encoded.push_back(amqp::encode_message(message, at));
    }
    auto answer = owed(std::move(handler));
    if (encoded.empty()) {
        loop().post([answer = std::move(answer)] { answer(std::vector<std::int64_t>{}); });
        return 0;
    }
    const std::string entity = request.entity;
    hub_->ready(entity, [this, alive = std::weak_ptr{owed_}, entity, encoded = std::move(encoded),
                         answer](core::Result<amqp::Engine*> engine) mutable {
        if (alive.expired()) {
            return; // answered when the endpoint went
        }
        if (!engine.ok()) {
            loop().post([answer, why = engine.failure()] { answer(why); });
            return;
        }
        auto& channel = senders_[entity];
        if (channel == nullptr || channel->is_lost()) {
            channel = std::make_unique<SenderChannel>(loop(), *engine.value(), entity);
        }
        channel->send(std::move(encoded), [answer, entity, hub = std::weak_ptr{hub_}](
                                              core::Result<std::vector<std::int64_t>> result) {
            if (const auto there = hub.lock();
                there && !result.ok() && result.failure().code == Errc::unauthorized) {
                there->doubt(entity);
            }
            answer(std::move(result));
        });
    });
    return 0;
}

/// Asks for sequence numbers, which a transfer does not tell.
void Endpoint::schedule(ports::SendRequest request, ports::SendHandler handler) {
    amqp::List messages;
    for (const Message& message : request.messages) {
        Map entry{{"message-id", message.message_id},
                  {"message", Value::binary(amqp::encode_message(message, hub_->reading()))}};
        if (message.session_id) {
            entry.emplace_back("session-id", *message.session_id);
        }
        messages.push_back(Value{std::move(entry)});
    }
    const std::size_t count = messages.size();
    auto answer = owed(std::move(handler));
    hub_->manage(request.entity,
                 {.operation = "com.microsoft:schedule-message",
                  .body = Value::map({{"messages", std::move(messages)}})},
                 request.deadline,
                 [answer, count, entity = request.entity](core::Result<Response> response) {
                     if (!response.ok()) {
                         answer(response.failure());
                         return;
                     }
                     if (!response.value().is_success()) {
                         answer(
                             response.value().to_failure("'" + entity + "' refused to schedule"));
                         return;
                     }
                     const Value* numbers = response.value().body.find("sequence-numbers");
                     std::vector<std::int64_t> sequences;
                     for (const Value& each : numbers != nullptr && numbers->items() != nullptr
                                                  ? *numbers->items()
                                                  : amqp::List{}) {
                         sequences.push_back(each.integer().value_or(0));
                     }
                     sequences.resize(count, 0);
                     answer(std::move(sequences));
                 });
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    amqp::Array numbers{.element = 0x81};
    numbers.items.assign(sequence_numbers.begin(), sequence_numbers.end());
    auto answer = owed(std::move(handler));
    hub_->manage(entity,
                 {.operation = "com.microsoft:cancel-scheduled-message",
                  .body = Value::map({{"sequence-numbers", std::move(numbers)}})},
                 deadline, [answer](core::Result<Response> response) {
                     if (!response.ok()) {
                         answer(response.failure());
                     } else if (response.value().is_success()) {
                         answer(core::Done{});
                     } else {
                         Failure why =
                             response.value().to_failure("a scheduled message was not cancelled");
                         why.code =
                             response.value().status == 404 ? Errc::message_not_found : why.code;
                         answer(std::move(why));
                     }
                 });
    return 0;
}

// Looking

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    Map body{
        {"from-sequence-number", request.from_sequence_number},
        {"message-count", static_cast<std::int32_t>(std::min(request.max_messages, 0x7fffffffU))}};
    if (request.session_id) {
        body.emplace_back("session-id", *request.session_id);
    }
    auto answer = owed(std::move(handler));
    hub_->manage(
        request.entity, {.operation = "com.microsoft:peek-message", .body = Value{std::move(body)}},
        request.deadline,
        [answer, hub = hub_, entity = request.entity](core::Result<Response> response) {
            if (!response.ok()) {
                answer(response.failure());
                return;
            }
            const Response& said = response.value();
            if (said.status == 204 || said.condition == "com.microsoft:message-not-found") {
                answer(std::vector<ReceivedMessage>{});
                return;
            }
            if (!said.is_success()) {
                answer(said.to_failure("'" + entity + "' cannot be looked into"));
                return;
            }
            const Value* messages = said.body.find("messages");
            std::vector<ReceivedMessage> seen;
            for (const Value& each : messages != nullptr && messages->items() != nullptr
                                         ? *messages->items()
                                         : amqp::List{}) {
                const Value* encoded = each.find("message");
                const auto bytes = encoded != nullptr ? encoded->bytes() : std::nullopt;
                auto received = amqp::decode_delivery(bytes.value_or(""), hub->reading());
                if (!received.ok()) {
                    answer(received.failure());
                    return;
                }
                seen.emplace_back(std::move(received.value().content),
                                  std::move(received.value().facts));
            }
            answer(std::move(seen));
        });
    return 0;
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    constexpr std::int64_t latest =
        253'402'300'799'999; // the last instant of the year 9999: sessions with messages or state (observed)
    Map body{{"last-updated-time", amqp::Timestamp{latest}},
             {"skip", static_cast<std::int32_t>(request.skip)},
             {"top", static_cast<std::int32_t>(request.top)}};
    auto answer = owed(std::move(handler));
    hub_->manage(
        request.entity,
        {.operation = "com.microsoft:get-message-sessions", .body = Value{std::move(body)}},
        request.deadline, [answer, entity = request.entity](core::Result<Response> response) {
            if (!response.ok()) {
                answer(response.failure());
            } else if (response.value().status != 204 && !response.value().is_success()) {
                answer(response.value().to_failure("the sessions of '" + entity + "'"));
            } else {
                const Value* ids = response.value().body.find("sessions-ids");
                std::vector<std::string> sessions;
                for (const Value& each :
                     ids != nullptr && ids->items() != nullptr ? *ids->items() : amqp::List{}) {
                    sessions.emplace_back(each.text().value_or(""));
                }
                answer(std::move(sessions));
            }
        });
    return 0;
}

} // namespace sessionq::servicebus
