// SPDX-License-Identifier: MIT
#include "server/held_locks.hpp"

#include <algorithm>

#include "server/lock_token.hpp"

namespace sessionq::server {
namespace {

// The target of a consumer that only receives deferred messages and never waits.
class DeferredOnlyTarget final : public broker::ConsumerTarget {
public:
    void on_accepted(broker::ConsumerPtr) noexcept override {}
    void on_refused(Failure) noexcept override {}
    void notify_work() noexcept override {}
    void on_lost(Failure) noexcept override {}
};

} // namespace

void HeldLocks::add(Holder holder) {
    const std::uint64_t number = holder.number;
    if (!holder.consumer->has_session) {
        of_messages_.add(number, *holder.queue, holder.consumer);
    }
    const Holder& added = holders_.emplace(number, std::move(holder)).first->second;
    if (added.consumer->has_session) {
        of_sessions_.emplace(added.consumer->session_id, &added);
    }
}

void HeldLocks::remove(std::uint64_t number) {
    const auto found = holders_.find(number);
    if (found == holders_.end()) {
        return;
    }
    const Holder* const holder = &found->second;
    const bool has_session = holder->consumer->has_session;
    if (has_session) {
        const auto [begin, end] = of_sessions_.equal_range(holder->consumer->session_id);
        of_sessions_.erase(std::find_if(
            begin, end, [holder](const auto& entry) { return entry.second == holder; }));
    }
    holders_.erase(found);
    if (!has_session) {
        of_messages_.let_go();
    }
}

void HeldLocks::note_renewal(std::uint64_t number, TimePoint until) {
    if (const auto found = holders_.find(number); found != holders_.end()) {
        found->second.locked_until = until;
    }
}

const Holder* HeldLocks::of_number(std::uint64_t number) const {
    const auto found = holders_.find(number);
    return found != holders_.end() ? &found->second : nullptr;
}

const Holder* HeldLocks::of_link(const broker::Queue& queue, std::string_view link) const {
    const auto found = std::ranges::find_if(holders_, [&](const auto& entry) {
        return entry.second.queue.get() == &queue && !link.empty() && entry.second.link == link;
    });
    return found != holders_.end() ? &found->second : nullptr;
}

const Holder* HeldLocks::of_session(const broker::Queue& queue, std::string_view session_id) const {
    const auto [begin, end] = of_sessions_.equal_range(session_id);
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return entry.second->queue.get() == &queue; });
    return found != end ? found->second : nullptr;
}

broker::ConsumerPtr HeldLocks::of_token(const broker::Queue& queue, std::uint64_t number) const {
    const Holder* holder = of_number(number);
    if (holder == nullptr) {
        return of_messages_.find(queue, number);
    }
    return holder->queue.get() == &queue ? holder->consumer : nullptr;
}

core::Result<const Holder*> HeldLocks::unlinked(const broker::QueuePtr& queue, broker::Instant at) {
    if (const auto known = unlinked_.find(queue.get()); known != unlinked_.end()) {
        return of_number(known->second);
    }
    auto opened =
        queue->open(broker::ReceiveMode::peek_lock, 0, std::make_shared<DeferredOnlyTarget>(), at);
    if (!opened) {
        return opened.failure();
    }
    const std::uint64_t number = make_holder_number();
    add({.number = number, .queue = queue, .consumer = std::move(opened).value()});
    unlinked_.emplace(queue.get(), number);
    return of_number(number);
}

void HeldLocks::retire_unlinked(broker::Instant at) {
    for (const auto& [queue, number] : unlinked_) {
        if (const Holder* holder = of_number(number)) {
            holder->queue->retire(*holder->consumer, at);
        }
        remove(number);
    }
    unlinked_.clear();
}

} // namespace sessionq::server
