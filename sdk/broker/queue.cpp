#include "broker/queue.hpp"

#include <utility>

#include "broker/queue_pair.hpp"

namespace sessionq::broker {

template <typename Operation>
auto Queue::perform(Instant at, Operation operation) {
    return pair_.perform(at, std::move(operation));
}

const QueueOptions& Queue::options() const noexcept { return entity_.options(); }

EntityKind Queue::kind() const noexcept { return pair_.kind(); }

std::optional<Failure> Queue::find_send_fault() const { return entity_.find_send_fault(); }

std::optional<Failure> Queue::find_receive_fault() const { return entity_.find_receive_fault(); }

RuleBook* Queue::rules() noexcept { return this == &pair_.queue() ? pair_.rules() : nullptr; }

core::Result<std::vector<std::int64_t>> Queue::send(std::vector<Message> messages, Instant at) {
    std::vector<MessageContentPtr> contents;
    contents.reserve(messages.size());
    for (Message& message : messages) {
        contents.push_back(std::make_shared<DecodedContent>(std::move(message)));
    }
    return send(std::move(contents), at);
}

core::Result<std::vector<std::int64_t>> Queue::send(std::vector<MessageContentPtr> messages,
                                                    Instant at) {
    return perform(at, [&] { return entity_.send(std::move(messages)); });
}

core::Result<core::Done> Queue::cancel_scheduled(std::span<const std::int64_t> sequences,
                                                 Instant at) {
    return perform(at, [&] { return entity_.cancel_scheduled(sequences); });
}

OperationId Queue::accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target, Instant at) {
    return perform(at, [&] { return entity_.accept(std::move(spec), std::move(target)); });
}

bool Queue::cancel_accept(OperationId id, Instant at) {
    return perform(at, [&] { return entity_.cancel_accept(id); });
}

core::Result<ConsumerPtr> Queue::open(ReceiveMode mode, int priority,
                                      std::shared_ptr<ConsumerTarget> target, Instant at) {
    return perform(at, [&] { return entity_.open(mode, priority, std::move(target)); });
}

void Queue::close(Consumer& consumer, Instant at) {
    perform(at, [&] {
        entity_.close(consumer);
        return true;
    });
}

bool Queue::pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to, Instant at) {
    return perform(at, [&] { return entity_.pull(consumer, max, to); });
}

void Queue::withdraw(Consumer& consumer, Instant at) {
    perform(at, [&] {
        entity_.withdraw(consumer);
        return true;
    });
}

core::Result<core::Done> Queue::receive_deferred(Consumer& consumer,
                                                 std::span<const std::int64_t> sequences,
                                                 std::vector<Delivered>& to, Instant at) {
    return perform(at, [&] { return entity_.receive_deferred(consumer, sequences, to); });
}

void Queue::settle(Consumer& consumer, std::span<SettleOrder> orders, Instant at) {
    perform(at, [&] {
        for (SettleOrder& order : orders) {
            entity_.settle(consumer, order);
        }
        return true;
    });
}

core::Result<TimePoint> Queue::renew(Consumer& consumer, Instant at) {
    return perform(at, [&] { return entity_.renew(consumer); });
}

core::Result<TimePoint> Queue::renew_message(Consumer& consumer, DeliveryTable::Token token,
                                             Instant at) {
    return perform(at, [&] { return entity_.renew_message(consumer, token); });
}

core::Result<std::optional<std::string>> Queue::get_state(Consumer& consumer, Instant at) {
    return perform(at, [&] { return entity_.get_state(consumer); });
}

core::Result<core::Done> Queue::set_state(Consumer& consumer, std::optional<std::string> state,
                                          Instant at) {
    return perform(at, [&] { return entity_.set_state(consumer, std::move(state)); });
}

std::vector<ReceivedMessage> Queue::peek(std::int64_t from, std::uint32_t max,
                                         const std::optional<std::string>& session_id, Instant at) {
    return perform(at, [&] { return entity_.peek(from, max, session_id); });
}

std::vector<std::string> Queue::list_sessions(std::size_t skip, std::size_t top, Instant at) {
    return perform(at, [&] { return entity_.list_sessions(skip, top); });
}

QueueCounts Queue::counts(Instant at) {
    return perform(at, [&] {
        return QueueCounts{.active = entity_.message_count(Place::active),
                           .deferred = entity_.message_count(Place::deferred),
                           .scheduled = entity_.message_count(Place::scheduled),
                           .bytes = entity_.bytes(),
                           .sessions = entity_.session_count(),
                           .waiting_accepts = entity_.waiting_accepts()};
    });
}

} // namespace sessionq::broker
