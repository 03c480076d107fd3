// SPDX-License-Identifier: MIT
#include "broker/queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t few_messages = 16;

} // namespace

const std::string& Queue::name() const noexcept { return entity_.state.name; }

const QueueOptions& Queue::options() const noexcept { return entity_.state.options; }

EntityKind Queue::kind() const noexcept { return pair_.kind(); }

std::optional<Failure> Queue::find_send_fault() const { return entity_.state.find_send_fault(); }

std::optional<Failure> Queue::find_receive_fault() const {
    return entity_.state.find_receive_fault();
}

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
    // A few messages exceed the bound of a topic by little.
    const std::size_t copies = messages.size() > few_messages ? pair_.most_copies() : 1;
    return pair_.perform(at, [&] { return entity_.send(std::move(messages), copies); });
}

bool Queue::when_forwarded(std::function<void()> done) {
    return pair_.when_forwarded(std::move(done));
}

core::Result<core::Done> Queue::cancel_scheduled(std::span<const std::int64_t> sequences,
                                                 Instant at) {
    return pair_.perform(at, [&] { return entity_.cancel_scheduled(sequences); });
}

OperationId Queue::accept(AcceptSpec spec, std::shared_ptr<ConsumerTarget> target, Instant at) {
    return pair_.perform(
        at, [&] { return entity_.consumers.accept(std::move(spec), std::move(target)); });
}

bool Queue::cancel_accept(OperationId id, Instant at) {
    return pair_.perform(at, [&] { return entity_.consumers.cancel_accept(id); });
}

core::Result<Deleted> Queue::delete_some(const DeleteSpec& spec, Instant at) {
    return pair_.perform(at, [&] { return entity_.deletions.run(spec); });
}

core::Result<std::uint32_t> Queue::delete_messages(DeleteSpec spec, Instant at) {
    spec.max = std::min(spec.max, most_deleted);
    std::uint32_t count = 0;
    while (true) {
        const auto deleted = delete_some(spec, at);
        if (!deleted) {
            return count != 0 ? core::Result<std::uint32_t>{count} : deleted.failure();
        }
        count += deleted.value().count;
        if (deleted.value().is_complete) {
            return count;
        }
        spec.max -= deleted.value().count;
        spec.from = deleted.value().searched_to;
    }
}

core::Result<ConsumerPtr> Queue::open(ReceiveMode mode, int priority,
                                      std::shared_ptr<ConsumerTarget> target, Instant at) {
    return pair_.perform(at,
                         [&] { return entity_.consumers.open(mode, priority, std::move(target)); });
}

void Queue::close(Consumer& consumer, Instant at) {
    pair_.perform(at, [&] {
        entity_.consumers.close(consumer);
        return true;
    });
}

void Queue::vanish(Consumer& consumer, Instant at) {
    pair_.perform(at, [&] {
        entity_.consumers.vanish(consumer);
        return true;
    });
}

void Queue::retire(Consumer& consumer, Instant at) {
    pair_.perform(at, [&] {
        entity_.consumers.retire(consumer);
        return true;
    });
}

bool Queue::pull(Consumer& consumer, std::uint32_t max, std::vector<Delivered>& to, Instant at,
                 std::uint64_t max_bytes) {
    return pair_.perform(at, [&] { return entity_.deliveries.pull(consumer, max, max_bytes, to); });
}

void Queue::withdraw(Consumer& consumer, Instant at) {
    pair_.perform(at, [&] {
        entity_.consumers.set_wanted(consumer, 0);
        return true;
    });
}

core::Result<core::Done> Queue::receive_deferred(Consumer& consumer,
                                                 std::span<const std::int64_t> sequences,
                                                 std::vector<Delivered>& to, Instant at,
                                                 std::uint64_t max_bytes) {
    return pair_.perform(at, [&] {
        return entity_.deliveries.receive_deferred(consumer, sequences, max_bytes, to);
    });
}

void Queue::settle(Consumer& consumer, std::span<SettleOrder> orders, Instant at) {
    pair_.perform(at, [&] {
        for (SettleOrder& order : orders) {
            entity_.deliveries.settle(consumer, order);
        }
        return true;
    });
}

core::Result<TimePoint> Queue::renew(Consumer& consumer, Instant at) {
    return pair_.perform(at, [&] { return entity_.consumers.renew(consumer); });
}

core::Result<TimePoint> Queue::renew_message(Consumer& consumer, DeliveryTable::Token token,
                                             Instant at) {
    return pair_.perform(at, [&] { return entity_.deliveries.renew_message(consumer, token); });
}

core::Result<std::optional<std::string>> Queue::get_state(Consumer& consumer, Instant at) {
    return pair_.perform(at, [&] { return entity_.consumers.get_state(consumer); });
}

core::Result<core::Done> Queue::set_state(Consumer& consumer, std::optional<std::string> state,
                                          Instant at) {
    return pair_.perform(at,
                         [&] { return entity_.consumers.set_state(consumer, std::move(state)); });
}

Peeked Queue::peek_some(std::int64_t from, std::uint32_t max,
                        const std::optional<std::string>& session_id, Instant at) {
    return pair_.perform(at, [&] { return entity_.state.peek(from, max, session_id); });
}

std::vector<ReceivedMessage> Queue::peek(std::int64_t from, std::uint32_t max,
                                         const std::optional<std::string>& session_id, Instant at) {
    Peeked all = peek_some(from, max, session_id, at);
    while (!all.is_complete) {
        const auto left = static_cast<std::uint32_t>(max - all.messages.size());
        Peeked more = peek_some(all.searched_to, left, session_id, at);
        std::ranges::move(more.messages, std::back_inserter(all.messages));
        all.searched_to = more.searched_to;
        all.is_complete = more.is_complete;
    }
    return std::move(all.messages);
}

OperationId Queue::browse(BrowseSpec spec, std::shared_ptr<BrowserTarget> target, Instant at) {
    return pair_.perform(at,
                         [&] { return entity_.browsers.wait(std::move(spec), std::move(target)); });
}

void Queue::cancel_browse(OperationId id, Instant at) {
    pair_.perform(at, [&] {
        entity_.browsers.cancel(id);
        return true;
    });
}

std::vector<std::string> Queue::list_sessions(std::size_t skip, std::size_t top, Instant at) {
    return pair_.perform(at, [&] { return entity_.state.sessions.list(skip, top); });
}

std::vector<std::string> Queue::list_sessions_set_after(WallTime since, std::size_t skip,
                                                        std::size_t top, Instant at) {
    return pair_.perform(at,
                         [&] { return entity_.state.sessions.list_set_after(since, skip, top); });
}

QueueCounts Queue::counts(Instant at) {
    return pair_.perform(at, [&] {
        const EntityState& state = entity_.state;
        const Session* const first = state.sessions.first_ready();
        return QueueCounts{.active = state.store.count(Place::active),
                           .deferred = state.store.count(Place::deferred),
                           .scheduled = state.store.count(Place::scheduled),
                           .bytes = state.store.bytes(),
                           .sessions = state.sessions.size(),
                           .ready_sessions = state.sessions.ready(),
                           .ready_since = first != nullptr ? first->ready_since : TimePoint::max(),
                           .waiting_accepts = entity_.consumers.waiting_accepts(),
                           .waiting_browsers = entity_.browsers.size()};
    });
}

} // namespace sessionq::broker
