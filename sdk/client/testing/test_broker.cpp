// SPDX-License-Identifier: MIT
#include "client/testing/test_broker.hpp"

#include <memory>
#include <utility>

#include "client/receiving/held_delivery.hpp"

namespace sessionq::client {
namespace {

bool is_final(testing::Settlement::Outcome outcome) noexcept {
    using Outcome = testing::Settlement::Outcome;
    return outcome == Outcome::completed || outcome == Outcome::dead_lettered;
}

} // namespace

void TestBroker::begin_request() const {
    if (kept_.lost || kept_.fails) {
        throw Error{kept_.lost ? Errc::lock_lost : *kept_.fails, "the session of a test"};
    }
}

std::optional<std::string> TestBroker::read_state() const {
    const std::lock_guard lock{mutex_};
    begin_request();
    return kept_.state;
}

void TestBroker::write_state(std::optional<std::string> state) {
    const std::lock_guard lock{mutex_};
    begin_request();
    keep(std::move(state));
}

Deliveries TestBroker::receive_deferred(std::span<const std::int64_t> numbers, bool removes) {
    const std::lock_guard lock{mutex_};
    begin_request();
    Deliveries deliveries;
    for (const std::int64_t number : numbers) {
        const auto found = kept_.deferred.find(number);
        if (found == kept_.deferred.end() || found->second.held || found->second.gone) {
            throw Error{Errc::message_not_found,
                        "no deferred message has the sequence number " + std::to_string(number)};
        }
        auto held = std::make_unique<HeldDelivery>();
        held->message = found->second.message;
        held->port_tag = static_cast<std::uint64_t>(number);
        held->settled_by_sender = removes;
        deliveries.push_back(std::move(held));
    }
    for (const std::int64_t number : numbers) {
        Deferred& message = kept_.deferred[number];
        (removes ? message.gone : message.held) = true;
    }
    return deliveries;
}

void TestBroker::settle_deferred(std::int64_t number, testing::Settlement settlement) {
    const std::lock_guard lock{mutex_};
    begin_request();
    Deferred& message = kept_.deferred[number];
    message.held = false;
    message.gone = is_final(settlement.outcome);
    message.settlement = std::move(settlement);
}

void TestBroker::require_held() const {
    const std::lock_guard lock{mutex_};
    if (kept_.lost) {
        throw Error{Errc::lock_lost, "the session of a test"};
    }
}

void TestBroker::release() noexcept {
    const std::lock_guard lock{mutex_};
    kept_.released = true;
}

std::int64_t TestBroker::next_sequence() noexcept {
    const std::lock_guard lock{mutex_};
    return ++kept_.last_sequence;
}

void TestBroker::defer(ReceivedMessage message) {
    const std::lock_guard lock{mutex_};
    kept_.deferred[message.sequence_number()].message = std::move(message);
}

std::optional<testing::Settlement> TestBroker::settlement_of(std::int64_t number) const {
    const std::lock_guard lock{mutex_};
    const auto found = kept_.deferred.find(number);
    return found != kept_.deferred.end() ? found->second.settlement : std::nullopt;
}

std::optional<std::string> TestBroker::state() const {
    const std::lock_guard lock{mutex_};
    return kept_.state;
}

void TestBroker::set_state(std::optional<std::string> state) {
    const std::lock_guard lock{mutex_};
    keep(std::move(state));
}

void TestBroker::keep(std::optional<std::string> state) {
    kept_.state = state && state->empty() ? std::nullopt : std::move(state);
}

bool TestBroker::released() const {
    const std::lock_guard lock{mutex_};
    return kept_.released;
}

void TestBroker::lose() {
    const std::lock_guard lock{mutex_};
    kept_.lost = true;
}

void TestBroker::fail_requests(std::optional<Errc> why) {
    const std::lock_guard lock{mutex_};
    kept_.fails = why;
}

} // namespace sessionq::client
