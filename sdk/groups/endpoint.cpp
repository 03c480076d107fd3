// SPDX-License-Identifier: MIT
#include "groups/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/message_codec.hpp"
#include "groups/conditions.hpp"
#include "groups/wire_message.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {

using ports::Capability;

namespace {

using Receivers = std::map<ReceiverSettings, std::unique_ptr<GroupReceiver>>;

/// Returns why an accept fails before any I/O. Nothing: it does not fail here.
std::optional<Failure> refusal(const ports::AcceptRequest& request, const Receivers& receivers,
                               const ports::Capabilities& capabilities, TimePoint now) {
    if (request.deadline.passed(now)) {
        return Failure{.code = Errc::timeout};
    }
    if (!request.further_entities.empty()) {
        return capabilities.missing(Capability::accept_any_entity);
    }
    if (!request.session_id) {
        return std::nullopt;
    }
    if (!capabilities.has(Capability::accept_named)) {
        return capabilities.missing(Capability::accept_named);
    }
    const auto holds = [&](const auto& each) {
        const auto& [terms, receiver] = each;
        return terms.entity == request.entity &&
               (terms.session_id ? receiver->table().holder(*request.session_id) != nullptr
                                 : receiver->table().has(*request.session_id));
    };
    if (std::ranges::any_of(receivers, holds)) {
        return Failure{.code = Errc::session_locked_elsewhere,
                       .detail = "session '" + *request.session_id + "' is held by this client"};
    }
    return std::nullopt;
}

} // namespace

Endpoint::Endpoint(core::EventLoop& loop, asio::io_context& io, const EndpointSettings& settings)
    : connection_{loop, io, settings},
      replies_{loop},
      accepts_{loop},
      context_{.loop = loop,
               .connection = connection_,
               .accepts = accepts_,
               .replies = replies_,
               .unanswered = unanswered_,
               .finished = [this](const ReceiverSettings& terms) { on_finished(terms); }} {}

Endpoint::~Endpoint() {
    accepts_.close();
    receivers_.clear();
    while (EntityLink* const each = entity_links_.pop_front()) {
        each->forget_endpoint();
    }
    senders_.clear();
    connection_.close();
    replies_.flush();
}

template <typename Handler, typename Result>
ports::RequestId Endpoint::reply(Handler handler, Result result) {
    replies_.push([handler = std::move(handler), result = std::move(result)]() mutable {
        handler(std::move(result));
    });
    return ++last_request_;
}

void Endpoint::connect(ports::DoneHandler handler) {
    connection_.when_open(
        [this, handler = std::move(handler)](const core::Result<amqp::Engine*>& engine) {
            reply(handler, engine.ok() ? core::Result<core::Done>{core::Done{}} : engine.failure());
        });
}

void Endpoint::give_up(ports::RequestId id) {
    accepts_.give_up(id);
    for (const auto& [entity, sender] : senders_) {
        sender->give_up(id);
    }
}

// Sessions

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = ++last_request_;
    if (request.scope == ports::Scope::entity) {
        open_entity(id, std::move(request), std::move(handler));
        return id;
    }
    accepts_.add(id, request.deadline, std::move(handler));
    if (auto why = refusal(request, receivers_, capabilities(), loop().now())) {
        accepts_.answer(id, *std::move(why));
    } else {
        const ReceiverSettings terms{.entity = request.entity,
                                     .session_id = request.session_id,
                                     .mode = request.mode,
                                     .priority = request.priority};
        auto& receiver = receivers_[terms];
        if (receiver == nullptr) {
            receiver = std::make_unique<GroupReceiver>(context_, terms);
        }
        receiver->accept(id, request);
    }
    expire_accepts();
    return id;
}

void Endpoint::open_entity(ports::RequestId id, ports::AcceptRequest request,
                           ports::AcceptHandler handler) {
    auto opening =
        std::make_unique<EntityOpening>(context_, entity_links_, id,
                                        ReceiverSettings{.entity = std::move(request.entity),
                                                         .mode = request.mode,
                                                         .priority = request.priority});
    EntityOpening& started = *opening;
    accepts_.add(id, request.deadline, std::move(handler), std::move(opening));
    started.start();
    expire_accepts();
}

void Endpoint::expire_accepts() {
    const TimePoint now = loop().now();
    loop().timers().set_due(accept_timer_, accepts_.expire(now).time());
}

void Endpoint::on_finished(const ReceiverSettings& terms) {
    replies_.push([this, terms] {
        const auto found = receivers_.find(terms);
        if (found != receivers_.end() && found->second->is_finished()) {
            receivers_.erase(found);
        }
    });
}

// Sending

ports::RequestId Endpoint::sending_limit(std::string entity, Deadline deadline,
                                         ports::SendingLimitHandler handler) {
    const ports::RequestId id = ++last_request_;
    sender_for(entity).ask_limits(
        id, deadline, [handler = std::move(handler)](const core::Result<amqp::SizeLimits>& limits) {
            using Answer = core::Result<ports::SendingLimit>;
            handler(limits.ok()
                        ? Answer{ports::SendingLimit{.message_bytes = limits.value().message,
                                                     .bytes = limits.value().together,
                                                     .beside_message = most_beside_message}}
                        : Answer{limits.failure()});
        });
    return id;
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    using Numbers = std::vector<std::int64_t>;
    const bool is_scheduled = std::ranges::any_of(
        request.messages, [](const Message& m) { return m.scheduled_enqueue_time.has_value(); });
    if (is_scheduled && !capabilities().has(Capability::schedule)) {
        return reply(std::move(handler), capabilities().missing(Capability::schedule));
    }
    const std::size_t count = request.size();
    if (count == 0) {
        return reply(std::move(handler), Numbers{});
    }
    std::vector<std::string> encoded;
    encoded.reserve(count);
    for (const Message& message : request.messages) {
        encoded.push_back(
            encode_for_broker(message, is_scheduled ? connection_.dialect()->delivery_time : "",
                              connection_.reading()));
    }
    for (const MessageContentPtr& content : request.contents) {
        encoded.push_back(amqp::encode_content(*content, connection_.reading()));
    }
    const ports::RequestId id = ++last_request_;
    sender_for(request.entity)
        .send(id, std::move(encoded), request.deadline,
              [handler = std::move(handler), count](const core::Result<amqp::SizeLimits>& result) {
                  handler(result.ok() ? core::Result<Numbers>{Numbers(count, 0)}
                                      : result.failure());
              });
    return id;
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
    return reply(std::move(handler), capabilities().missing(Capability::cancel_scheduled));
}
ports::RequestId Endpoint::peek(ports::PeekRequest, ports::PeekHandler handler) {
    return reply(std::move(handler), capabilities().missing(Capability::peek));
}
ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest,
                                         ports::ListSessionsHandler handler) {
    return reply(std::move(handler), capabilities().missing(Capability::list_sessions));
}
ports::RequestId Endpoint::delete_messages(ports::DeleteMessagesRequest,
                                           ports::DeletedHandler handler) {
    return reply(std::move(handler), capabilities().missing(Capability::batch_delete));
}
ports::RequestId Endpoint::manage_rules(ports::RulesRequest, ports::RulesHandler handler) {
    return reply(std::move(handler), capabilities().missing(Capability::rules));
}

} // namespace sessionq::groups
