// SPDX-License-Identifier: MIT
#include "processor/counters.hpp"

namespace sessionq::processor {

void Counters::ended(Ending ending) noexcept {
    switch (ending) {
    case Ending::handled: add(messages_handled); break;
    case Ending::failed: add(messages_failed); break;
    case Ending::expired: add(messages_expired); break;
    case Ending::not_started:
    case Ending::unexamined:
    case Ending::given_back: break;
    }
}

void Counters::settled(ports::Outcome outcome, bool success) noexcept {
    if (!success) {
        add(settlement_failures);
    } else if (outcome == ports::Outcome::complete) {
        add(messages_completed);
    } else if (outcome == ports::Outcome::release) {
        add(messages_released);
    }
}

ProcessorCounters Counters::read() const noexcept {
    const auto get = [](const Count& count) { return count.load(std::memory_order_relaxed); };
    return {
        .messages_handled = get(messages_handled),
        .messages_failed = get(messages_failed),
        .messages_completed = get(messages_completed),
        .messages_released = get(messages_released),
        .messages_expired = get(messages_expired),
        .sessions_opened = get(sessions_opened),
        .sessions_closed = get(sessions_closed),
        .sessions_parked = get(sessions_parked),
        .locks_lost = get(locks_lost),
        .empty_accepts = get(empty_accepts),
        .accept_failures = get(accept_failures),
        .late_accepts = get(late_accepts),
        .surplus_accepts = get(surplus_accepts),
        .settlement_failures = get(settlement_failures),
        .lock_renewals = get(lock_renewals),
        .longest_ready_wait = Duration{longest_ready_wait.load(std::memory_order_relaxed)},
    };
}

} // namespace sessionq::processor
