// SPDX-License-Identifier: MIT
#include "servicebus/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/message_codec.hpp"
#include "servicebus/conditions.hpp"
#include "servicebus/entity_codec.hpp"
#include "servicebus/rules_codec.hpp"
#include "servicebus/session_accept.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::detail::servicebus {

using amqp::Map;
using amqp::Value;
using Numbers = std::vector<std::int64_t>;

Endpoint::Endpoint(core::EventLoop& loop, asio::io_context& io, EndpointSettings settings)
    : loop_{loop},
      connections_{loop, io, std::move(settings)},
      first_{connections_.first()},
      replies_{loop},
      accepts_{loop} {}

const ports::Capabilities& Endpoint::capabilities() const noexcept {
    using ports::Capability;
    static const ports::Capabilities all{"Azure Service Bus",
                                         {Capability::accept_named,
                                          Capability::accept_next,
                                          Capability::lock_renewal,
                                          Capability::session_state,
                                          Capability::list_sessions,
                                          Capability::defer,
                                          Capability::dead_letter,
                                          Capability::dead_letter_reason,
                                          Capability::schedule,
                                          Capability::cancel_scheduled,
                                          Capability::peek,
                                          Capability::refuse_held,
                                          Capability::refuse_sessionless,
                                          Capability::sequence_numbers,
                                          Capability::modify_properties,
                                          Capability::receive_and_delete,
                                          Capability::plain_entities,
                                          Capability::message_lock_renewal,
                                          Capability::dead_letter_sub_queue,
                                          Capability::transfer_dead_letter_sub_queue,
                                          Capability::rules,
                                          Capability::lock_tokens,
                                          Capability::batch_delete,
                                          Capability::session_ids_without_case},
                                         "servicebus",
                                         std::chrono::minutes{10}}; // documented
    return all;
}

void Endpoint::connect(const std::string& entity, ports::DoneHandler handler) {
    first_.when_usable(
        entity, [handler = std::move(handler)](const core::Result<amqp::Engine*>& engine) {
            handler(engine.ok() ? core::Result<core::Done>{core::Done{}} : engine.failure());
        });
}

void Endpoint::give_up(ports::RequestId id) {
    accepts_.give_up(id);
    first_.give_up(id);
    for (const auto& [entity, sender] : senders_) {
        sender->give_up(id);
    }
}

// Sessions

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = first_.next_request_id();
    const Deadline deadline = request.deadline;
    accepts_.add(id, deadline, std::move(handler));
    if (!request.further_entities.empty()) {
        accepts_.answer(id, capabilities().missing(ports::Capability::accept_any_entity));
        return id;
    }
    auto made = std::make_unique<SessionAccept>(
        connections_.for_session(), first_credit_, std::move(request),
        [this, id](core::Result<ports::SessionLinkPtr> answer) {
            accepts_.answer(id, std::move(answer));
        });
    SessionAccept& asking = *made;
    accepts_.ask(id, std::move(made));
    if (deadline.passed(loop_.now())) {
        expire_accepts();
        return id;
    }
    if (!accept_timer_.is_armed() || deadline.time() < accept_timer_.due()) {
        loop_.timers().arm(accept_timer_, deadline.time());
    }
    asking.start();
    return id;
}

void Endpoint::expire_accepts() {
    const Deadline next = accepts_.expire(loop_.now());
    loop_.timers().arm(accept_timer_, next.time());
}

// Sending

amqp::SenderChannel& Endpoint::sender_to(const std::string& entity) {
    auto& sender = senders_[entity];
    if (sender == nullptr) {
        sender = std::make_unique<amqp::SenderChannel>(
            loop_, amqp::SenderTerms{.entity = entity, .batches = true, .explain = to_failure},
            [this, entity](amqp::SenderChannel::EngineHandler ready) {
                first_.when_usable(entity, std::move(ready));
            });
    }
    return *sender;
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    const bool is_scheduled =
        std::any_of(request.messages.begin(), request.messages.end(),
                    [](const Message& m) { return m.scheduled_enqueue_time.has_value(); });
    if (is_scheduled) {
        return schedule(std::move(request), std::move(handler));
    }
    const ports::RequestId id = first_.next_request_id();
    if (request.size() == 0) {
        replies_.push([handler = std::move(handler)] { handler(Numbers{}); });
        return id;
    }
    std::vector<std::string> encoded;
    encoded.reserve(request.size());
    const amqp::ClockReading at = first_.reading();
    for (const Message& message : request.messages) {
        encoded.push_back(amqp::encode_message(message, at));
    }
    for (const MessageContentPtr& content : request.contents) {
        encoded.push_back(amqp::encode_content(*content, at));
    }
    const std::size_t count = encoded.size();
    sender_to(request.entity)
        .send(id, std::move(encoded), request.deadline,
              [this, entity = request.entity, count,
               handler = std::move(handler)](const core::Result<amqp::SizeLimits>& result) {
                  if (result.ok()) {
                      handler(Numbers(count, 0));
                      return;
                  }
                  first_.failed(entity, result.failure());
                  handler(result.failure());
              });
    return id;
}

ports::RequestId Endpoint::sending_limit(std::string entity, Deadline deadline,
                                         ports::SendingLimitHandler handler) {
    const ports::RequestId id = first_.next_request_id();
    sender_to(entity).ask_limits(
        id, deadline,
        [this, entity, handler = std::move(handler)](const core::Result<amqp::SizeLimits>& limits) {
            if (!limits.ok()) {
                first_.failed(entity, limits.failure());
                handler(limits.failure());
                return;
            }
            handler(ports::SendingLimit{.message_bytes = limits.value().message,
                                        .bytes = limits.value().together});
        });
    return id;
}

// A transfer is not answered with sequence numbers, so scheduled messages are sent by request.
ports::RequestId Endpoint::schedule(ports::SendRequest request, ports::SendHandler handler) {
    return ask(request.entity, "com.microsoft:schedule-message",
               scheduled_messages(request.messages, first_.reading()), request.deadline,
               reading(std::move(handler), [count = request.messages.size(),
                                            entity = request.entity](const Response& response) {
                   return read_sequence_numbers(response, count, entity);
               }));
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    return ask(entity, "com.microsoft:cancel-scheduled-message",
               {{"sequence-numbers", to_array(sequence_numbers)}}, deadline,
               reading(std::move(handler), read_cancellation));
}

// Looking

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    Map body{
        {"from-sequence-number", request.from_sequence_number},
        {"message-count", static_cast<std::int32_t>(std::min(request.max_messages, 0x7fffffffU))}};
    if (request.session_id) {
        body.emplace_back("session-id", *request.session_id);
    }
    return ask(request.entity, "com.microsoft:peek-message", std::move(body), request.deadline,
               reading(std::move(handler),
                       [this, entity = request.entity](const Response& response) {
                           return read_peeked(response, first_.brokers_reading(), entity);
                       }),
               request.wait);
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    // The last instant of the year 9999: sessions that have messages or state (observed).
    constexpr amqp::Timestamp latest{253'402'300'799'999};
    const amqp::Timestamp since =
        request.state_set_after ? amqp::Timestamp::of(*request.state_set_after) : latest;
    return ask(request.entity, "com.microsoft:get-message-sessions",
               {{"last-updated-time", since},
                {"skip", static_cast<std::int32_t>(request.skip)},
                {"top", static_cast<std::int32_t>(request.top)}},
               request.deadline,
               reading(std::move(handler), [entity = request.entity](const Response& response) {
                   return read_session_ids(response, entity);
               }));
}

ports::RequestId Endpoint::delete_messages(ports::DeleteMessagesRequest request,
                                           ports::DeletedHandler handler) {
    // The millisecond that has begun counts as now, so that messages that were just sent go too.
    const amqp::Timestamp before =
        request.enqueued_before
            ? amqp::Timestamp::of(*request.enqueued_before)
            : amqp::Timestamp::later(std::max(first_.reading().wall, first_.brokers_reading().wall),
                                     std::chrono::milliseconds{1});
    return ask(request.entity, "com.microsoft:batch-delete-messages", deletion(request, before),
               request.deadline,
               reading(std::move(handler),
                       [before = before.time(), entity = request.entity](const Response& response) {
                           return read_deleted(response, before, entity);
                       }));
}

ports::RequestId Endpoint::manage_rules(ports::RulesRequest request, ports::RulesHandler handler) {
    auto [operation, body] = rules_request(request.task);
    return ask(request.entity, std::move(operation), std::move(body), request.deadline,
               reading(std::move(handler), [task = std::move(request.task),
                                            entity = request.entity](const Response& response) {
                   return read_rules(response, task, entity);
               }));
}

ports::RequestId Endpoint::ask(const std::string& entity, std::string operation, Map body,
                               Deadline deadline, ResponseHandler handler, Duration wait) {
    const ports::RequestId id = first_.next_request_id();
    first_.manage(id, entity,
                  {.operation = std::move(operation), .body = Value{std::move(body)}, .wait = wait},
                  deadline, std::move(handler));
    return id;
}

} // namespace sessionq::detail::servicebus
