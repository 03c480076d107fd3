// SPDX-License-Identifier: MIT
#include "processor/report/counters.hpp"

namespace sessionq::detail::processor {

void Counters::ended(Ending ending, std::uint32_t attempt) noexcept {
    switch (ending) {
    case Ending::handled: messages_handled.add(); break;
    case Ending::failed: messages_failed.add(); break;
    case Ending::expired: messages_expired.add(); break;
    case Ending::not_started:
    case Ending::unexamined:
    case Ending::given_back: break;
    }
    messages_retried.add(ran(ending) && attempt > 1 ? 1 : 0);
}

void Counters::settled(ports::Outcome outcome, bool success) noexcept {
    if (!success) {
        settlement_failures.add();
        return;
    }
    switch (outcome) {
    case ports::Outcome::complete: messages_completed.add(); break;
    case ports::Outcome::abandon: messages_abandoned.add(); break;
    case ports::Outcome::release: messages_released.add(); break;
    case ports::Outcome::defer: messages_deferred.add(); break;
    case ports::Outcome::dead_letter: messages_dead_lettered.add(); break;
    }
}

void Counters::add_to(ProcessorCounters& totals) const noexcept {
    totals.messages_received += messages_received.read();
    totals.messages_redelivered += messages_redelivered.read();
    totals.messages_handled += messages_handled.read();
    totals.messages_failed += messages_failed.read();
    totals.messages_retried += messages_retried.read();
    totals.messages_completed += messages_completed.read();
    totals.messages_abandoned += messages_abandoned.read();
    totals.messages_dead_lettered += messages_dead_lettered.read();
    totals.messages_deferred += messages_deferred.read();
    totals.messages_released += messages_released.read();
    totals.messages_expired += messages_expired.read();
    totals.messages_lost += messages_lost.read();
    totals.sessions_opened += sessions_opened.read();
    for (const Count& each : sessions_closed) {
        totals.sessions_closed += each.read();
    }
    totals.sessions_parked += sessions_parked.read();
    totals.locks_lost += locks_lost.read();
    totals.empty_accepts += empty_accepts.read();
    totals.accept_failures += accept_failures.read();
    totals.late_accepts += late_accepts.read();
    totals.surplus_accepts += surplus_accepts.read();
    totals.settlement_failures += settlement_failures.read();
    totals.lock_renewals += lock_renewals.read();
}

} // namespace sessionq::detail::processor
