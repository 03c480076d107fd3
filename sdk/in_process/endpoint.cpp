// SPDX-License-Identifier: MIT
#include "in_process/endpoint.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/rule_book.hpp"
#include "core/message_size.hpp"

namespace sessionq::in_process {
namespace {

broker::ReceiveMode to_broker(ports::ReceiveMode mode) noexcept {
    return mode == ports::ReceiveMode::peek_lock ? broker::ReceiveMode::peek_lock
                                                 : broker::ReceiveMode::receive_and_delete;
}

core::Result<std::vector<Rule>> manage(broker::RuleBook& rules, ports::RulesRequest request) {
    if (const auto* const list = std::get_if<ports::ListRules>(&request.task)) {
        return rules.list(list->skip, list->top);
    }
    auto* const add = std::get_if<ports::AddRule>(&request.task);
    const auto changed = add != nullptr
                             ? rules.add(std::move(add->rule))
                             : rules.remove(std::get<ports::RemoveRule>(request.task).name);
    return changed ? core::Result<std::vector<Rule>>{std::vector<Rule>{}} : changed.failure();
}

/// Above the bytes that the messages take in AMQP's form, at little cost.
std::uint64_t most_bytes(const ports::SendRequest& request) noexcept {
    constexpr std::uint64_t beside_message = 320;
    constexpr std::uint64_t beside_property = 16;
    constexpr std::uint64_t beside_value = 40; // most of all a .NET type's name
    const auto most_of = [](const Message& message) {
        return core::size_of(message) + beside_message +
               beside_property * message.properties.size() +
               beside_value * core::values_in(message);
    };
    // A batch repeats parts of the first message.
    std::uint64_t most = request.messages.empty() ? 0 : most_of(request.messages.front());
    for (const Message& message : request.messages) {
        most += most_of(message);
    }
    return most;
}

} // namespace

Endpoint::Endpoint(std::shared_ptr<broker::Broker> broker, core::EventLoop& loop, Measure measure)
    : broker_{std::move(broker)},
      measure_{measure},
      turns_{std::make_shared<TurnQueue>(loop)},
      confirmations_{turns_.shared(), broker_->journal()},
      peeks_{turns_.shared(), confirmations_},
      accepts_{loop} {}

Endpoint::~Endpoint() {
    accepts_.close();
    peeks_.cancel();
    confirmations_.cancel();
}

const ports::Capabilities& Endpoint::capabilities() const noexcept {
    using ports::Capability;
    static const ports::Capabilities all{"the local broker",
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
                                          Capability::accept_any_entity,
                                          Capability::messages_in_process,
                                          Capability::plain_entities,
                                          Capability::message_lock_renewal,
                                          Capability::dead_letter_sub_queue,
                                          Capability::rules,
                                          Capability::batch_delete,
                                          Capability::session_ids_without_case}};
    return all;
}

ports::RequestId Endpoint::accept(ports::AcceptRequest request, ports::AcceptHandler handler) {
    const ports::RequestId id = confirmations_.next_id();
    const Deadline deadline = request.deadline;
    auto asking = ask(id, request);
    if (asking) {
        accepts_.add(id, deadline, std::move(handler), std::move(asking).value());
    } else {
        accepts_.add(id, deadline, std::move(handler));
        accepts_.answer(id, asking.failure());
    }
    return id;
}

Endpoint::Asking Endpoint::ask(ports::RequestId id, const ports::AcceptRequest& request) {
    const bool is_one = request.scope == ports::Scope::entity || request.further_entities.empty();
    return is_one ? ask_one(id, request) : ask_several(id, request);
}

Endpoint::Asking Endpoint::ask_one(ports::RequestId id, const ports::AcceptRequest& request) {
    auto queue = broker_->find(request.entity);
    if (!queue) {
        return queue.failure();
    }
    if (request.deadline.passed(loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    auto asking = make_asking(id, request, 1);
    if (request.scope == ports::Scope::entity) {
        asking->open(std::move(queue).value(), to_broker(request.mode), request.priority);
    } else {
        static_cast<void>(asking->ask(0, std::move(queue).value(), to_spec(request)));
    }
    return std::unique_ptr<ports::Asking>{std::move(asking)};
}

Endpoint::Asking Endpoint::ask_several(ports::RequestId id, const ports::AcceptRequest& request) {
    std::vector<std::string> entities{request.entity};
    std::ranges::copy(request.further_entities, std::back_inserter(entities));
    std::vector<broker::QueuePtr> queues;
    for (const std::string& entity : entities) {
        auto queue = broker_->find(entity);
        if (!queue) {
            return queue.failure();
        }
        queues.push_back(std::move(queue).value());
    }
    if (request.deadline.passed(loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    if (request.session_id) {
        return Failure{.code = Errc::invalid_argument,
                       .detail = "a session id belongs to one entity, and several are named"};
    }
    auto asking = make_asking(id, request, entities.size());
    for (const std::size_t at : ask_order_.order(entities)) {
        if (!asking->ask(at, std::move(queues[at]), to_spec(request))) {
            ask_order_.served(entities[at]);
            break;
        }
    }
    return std::unique_ptr<ports::Asking>{std::move(asking)};
}

std::unique_ptr<LocalAccept> Endpoint::make_asking(ports::RequestId id,
                                                   const ports::AcceptRequest& request,
                                                   std::size_t entities) {
    return std::make_unique<LocalAccept>(LocalAccept::Request{.book = accepts_,
                                                              .id = id,
                                                              .deadline = request.deadline,
                                                              .journal = broker_->journal(),
                                                              .scope = request.scope},
                                         turns_.shared(), entities);
}

broker::AcceptSpec Endpoint::to_spec(const ports::AcceptRequest& request) {
    return {.session_id = request.session_id,
            .mode = to_broker(request.mode),
            .priority = request.priority,
            .until = Deadline::after(request.wait, loop().now()).sooner(request.deadline).time()};
}

void Endpoint::give_up(ports::RequestId id) {
    accepts_.give_up(id);
    confirmations_.give_up(id);
    peeks_.give_up(id);
}

template <typename T, typename Operation>
core::Result<T> Endpoint::perform(const std::string& entity, Deadline deadline,
                                  Operation operation) {
    if (deadline.passed(loop().now())) {
        return Failure{.code = Errc::timeout};
    }
    auto queue = broker_->find(entity);
    if (!queue) {
        return queue.failure();
    }
    return operation(*queue.value(), turns_->now());
}

std::optional<ports::ReadySessions> Endpoint::ready_sessions(const std::string& entity) {
    const auto counts =
        perform<broker::QueueCounts>(entity, {}, [](broker::Queue& queue, broker::Instant at) {
            return core::Result<broker::QueueCounts>{queue.counts(at)};
        });
    return counts ? ports::ReadySessions{.count = counts.value().ready_sessions,
                                         .since = counts.value().ready_since}
                  : ports::ReadySessions{};
}

ports::RequestId Endpoint::sending_limit(std::string entity, Deadline deadline,
                                         ports::SendingLimitHandler handler) {
    return confirmations_.reply(
        std::move(handler),
        perform<ports::SendingLimit>(
            entity, deadline, [](const broker::Queue& queue, broker::Instant /*at*/) {
                return core::Result<ports::SendingLimit>{
                    ports::SendingLimit{.message_bytes = queue.options().max_message_bytes,
                                        .bytes = broker::max_batch_bytes(queue.options())}};
            }));
}

std::optional<Failure> Endpoint::refuse_too_large(const ports::SendRequest& request,
                                                  const broker::Queue& queue) const {
    const std::uint64_t limit = request.size() == 1 ? queue.options().max_message_bytes
                                                    : broker::max_batch_bytes(queue.options());
    const bool is_small = request.contents.empty() && most_bytes(request) <= limit;
    if (measure_ == nullptr || is_small) {
        return std::nullopt;
    }
    const std::uint64_t size = measure_(request);
    if (size <= limit) {
        return std::nullopt;
    }
    return Failure{.code = Errc::message_too_large,
                   .detail = "'" + request.entity + "': " + std::to_string(size) +
                             " bytes at once exceed the limit of " + std::to_string(limit)};
}

ports::RequestId Endpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    return confirmations_.confirm(std::move(handler),
                                  perform<std::vector<std::int64_t>>(
                                      request.entity, request.deadline,
                                      [&](broker::Queue& queue, broker::Instant at) {
                                          using Numbers = core::Result<std::vector<std::int64_t>>;
                                          if (auto refused = refuse_too_large(request, queue)) {
                                              return Numbers{*std::move(refused)};
                                          }
                                          return request.contents.empty()
                                                     ? queue.send(std::move(request.messages), at)
                                                     : queue.send(std::move(request.contents), at);
                                      }),
                                  request.deadline);
}

ports::RequestId Endpoint::cancel_scheduled(std::string entity,
                                            std::vector<std::int64_t> sequence_numbers,
                                            Deadline deadline, ports::DoneHandler handler) {
    return confirmations_.confirm(
        std::move(handler),
        perform<core::Done>(entity, deadline,
                            [&](broker::Queue& queue, broker::Instant at) {
                                return queue.cancel_scheduled(sequence_numbers, at);
                            }),
        deadline);
}

ports::RequestId Endpoint::peek(ports::PeekRequest request, ports::PeekHandler handler) {
    auto found = perform<std::vector<ReceivedMessage>>(
        request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
            return queue.peek(request.from_sequence_number, request.max_messages,
                              request.session_id, at);
        });
    const bool can_change = request.max_messages > 0 && request.wait > Duration::zero();
    if (found && found.value().empty() && can_change) {
        if (auto queue = broker_->find(request.entity)) {
            return peeks_.add(std::move(queue).value(), std::move(request), std::move(handler));
        }
    }
    return confirmations_.reply(std::move(handler), std::move(found));
}

ports::RequestId Endpoint::list_sessions(ports::ListSessionsRequest request,
                                         ports::ListSessionsHandler handler) {
    return confirmations_.reply(
        std::move(handler),
        perform<std::vector<std::string>>(
            request.entity, request.deadline, [&](broker::Queue& queue, broker::Instant at) {
                return request.state_set_after
                           ? queue.list_sessions_set_after(*request.state_set_after, request.skip,
                                                           request.top, at)
                           : queue.list_sessions(request.skip, request.top, at);
            }));
}

ports::RequestId Endpoint::delete_messages(ports::DeleteMessagesRequest request,
                                           ports::DeletedHandler handler) {
    return confirmations_.confirm(
        std::move(handler),
        perform<ports::DeletedMessages>(
            request.entity, request.deadline,
            [&](broker::Queue& queue, broker::Instant at) -> core::Result<ports::DeletedMessages> {
                const WallTime before =
                    request.enqueued_before.value_or(at.wall + WallTime::duration{1});
                const auto deleted =
                    queue.delete_messages({.max = request.max_messages,
                                           .enqueued_before = before,
                                           .session_id = std::move(request.session_id)},
                                          at);
                if (!deleted) {
                    return deleted.failure();
                }
                return ports::DeletedMessages{.count = deleted.value(), .enqueued_before = before};
            }),
        request.deadline);
}

ports::RequestId Endpoint::manage_rules(ports::RulesRequest request, ports::RulesHandler handler) {
    return confirmations_.confirm(
        std::move(handler),
        perform<std::vector<Rule>>(request.entity, request.deadline,
                                   [&](broker::Queue& queue, broker::Instant) {
                                       return queue.rules() != nullptr
                                                  ? manage(*queue.rules(), std::move(request))
                                                  : core::Result<std::vector<Rule>>{Failure{
                                                        .code = Errc::not_supported,
                                                        .detail = "only subscriptions have rules"}};
                                   }),
        request.deadline);
}

} // namespace sessionq::in_process
