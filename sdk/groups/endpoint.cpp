#include "groups/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/message_codec.hpp"
#include "groups/conditions.hpp"
#include "groups/delivery_time.hpp"
#include "groups/durable.hpp"

namespace sessionq::groups {

using ports::Capability;

Endpoint::Endpoint(core::EventLoop& loop, asio::io_context& io, const EndpointSettings& settings)
    : connection_{loop, io, settings},
      replies_{loop},
      context_{.connection = connection_,
               .replies = replies_,
               .unanswered = unanswered_,
               .finished = [this](const ReceiverTerms& terms) { on_finished(terms); }} {}

Endpoint::~Endpoint() {
    const Failure why{.code = Errc::cancelled, .detail = "the client is closed"};
    for (const auto& [terms, receiver] : receivers_) {
        receiver->accepts().fail_all(why);
    }
    receivers_.clear();
    senders_.clear();
    connection_.close();
    replies_.flush();
}

Failure Endpoint::not_supported(Capability capability) const {
    return {.code = Errc::not_supported,
            .detail =
                capabilities().broker() + " does not have: " + std::string{to_string(capability)}};
}

template <typename T>
ports::RequestId Endpoint::reply(std::function<void(core::Result<T>)> handler,
                                 core::Result<T> result) {
    replies_.push([handler = std::move(handler), result = std::move(result)]() mutable {
        handler(std::move(result));
    });
    return ++last_request_;
}

void Endpoint::connect(ports::DoneHandler handler) {
    connection_.when_open(
        [this, handler = std::move(handler)](const core::Result<amqp::Engine*>& engine) {
            reply<core::Done>(handler, engine.ok() ? core::Result<core::Done>{core::Done{}}
                                                   : core::Result<core::Done>{engine.failure()});
        });
}

void Endpoint::give_up(ports::RequestId id) {
    for (const auto& [terms, receiver] : receivers_) {
        receiver->accepts().give_up(id);
    }
    for (const auto& [entity, sender] : senders_) {
        sender->give_up(id);
    }
}

// Sessions

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    if (auto why = refusal(request)) {
        return reply<ports::SessionLinkPtr>(std::move(handler), *std::move(why));
    }
    const ports::RequestId id = ++last_request_;
    receiver_for({.entity = request.entity,
                  .session_id = request.session_id,
                  .mode = request.mode,
                  .priority = request.priority})
        .accept(id, request, std::move(handler));
    return id;
}

std::optional<Failure> Endpoint::refusal(const ports::AcceptRequest& request) const {
    if (request.deadline.passed(connection_.loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    if (!request.session_id) {
        return std::nullopt;
    }
    if (!capabilities().has(Capability::accept_named)) {
        return not_supported(Capability::accept_named);
    }
    const bool is_held = std::ranges::any_of(receivers_, [&](const auto& each) {
        return each.first.entity == request.entity && each.second->has(*request.session_id);
    });
    return is_held ? std::optional{Failure{.code = Errc::session_locked_elsewhere,
                                           .detail = "session '" + *request.session_id +
                                                     "' is held by this client"}}
                   : std::nullopt;
}

GroupReceiver& Endpoint::receiver_for(const ReceiverTerms& terms) {
    auto& receiver = receivers_[terms];
    if (receiver == nullptr) {
        receiver = std::make_unique<GroupReceiver>(context_, terms);
    }
    return *receiver;
}

void Endpoint::on_finished(const ReceiverTerms& terms) {
    replies_.push([this, terms] {
        const auto found = receivers_.find(terms);
        if (found != receivers_.end() && found->second->is_finished()) {
            receivers_.erase(found);
        }
    });
}

// Sending

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    using Numbers = std::vector<std::int64_t>;
    if (auto why = refusal(request)) {
        return reply<Numbers>(std::move(handler), *std::move(why));
    }
    const std::size_t count = request.messages.size();
    if (count == 0) {
        return reply<Numbers>(std::move(handler), Numbers{});
    }
    std::vector<std::string> encoded;
    encoded.reserve(count);
    const amqp::ClockReading at = connection_.reading();
    for (const Message& message : request.messages) {
        std::string made = amqp::encode_message(message, at);
        if (message.scheduled_enqueue_time) {
            made = with_delivery_time(std::move(made), connection_.dialect()->delivery_time,
                                      *message.scheduled_enqueue_time);
        }
        encoded.push_back(make_durable(std::move(made)));
    }
    const ports::RequestId id = ++last_request_;
    sender_for(request.entity)
        .send(id, std::move(encoded), request.deadline,
              [handler = std::move(handler), count](const core::Result<core::Done>& result) {
                  handler(result.ok() ? core::Result<Numbers>{Numbers(count, 0)}
                                      : core::Result<Numbers>{result.failure()});
              });
    return id;
}

std::optional<Failure> Endpoint::refusal(const ports::SendRequest& request) const {
    const bool is_scheduled = std::ranges::any_of(
        request.messages, [](const Message& m) { return m.scheduled_enqueue_time.has_value(); });
    return is_scheduled && !capabilities().has(Capability::schedule)
               ? std::optional{not_supported(Capability::schedule)}
               : std::nullopt;
}

amqp::SenderChannel& Endpoint::sender_for(const std::string& entity) {
    auto& sender = senders_[entity];
    if (sender == nullptr) {
        sender = std::make_unique<amqp::SenderChannel>(
            loop(), amqp::SenderTerms{.entity = entity, .explain = to_failure},
            [this](amqp::SenderChannel::EngineHandler handler) {
                connection_.when_open(std::move(handler));
            });
    }
    return *sender;
}

// Requests these brokers do not have

ports::RequestId Endpoint::cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                            ports::DoneHandler handler) {
    return reply<core::Done>(std::move(handler), not_supported(Capability::cancel_scheduled));
}
ports::RequestId Endpoint::peek(ports::PeekRequest, ports::PeekHandler handler) {
    return reply<std::vector<ReceivedMessage>>(std::move(handler), not_supported(Capability::peek));
}
ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest,
                                         ports::ListSessionsHandler handler) {
    return reply<std::vector<std::string>>(std::move(handler),
                                           not_supported(Capability::list_sessions));
}

} // namespace sessionq::groups
