// SPDX-License-Identifier: MIT
// Many messages of a session in one call: one transaction for all of them. A batch that fails says
// where, and the rest comes again in order.

#include <chrono>
#include <iostream>
#include <latch>
#include <span>
#include <stdexcept>
#include <string>
#include <syncstream>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;
using Batch = std::span<sessionq::MessageContext>;

namespace {

/// A stand-in for one transaction of a database.
void store(Batch readings) {
    std::osyncstream out{std::cout};
    out << readings.front().message().session_id() << ": stores";
    for (const sessionq::MessageContext& each : readings) {
        out << ' ' << each.message().text();
    }
    out << '\n';
}

/// Stores the readings before the first one that makes no sense. Returns how many.
std::size_t store_some(Batch batch) {
    std::size_t good = 0;
    while (good < batch.size() && batch[good].message().text() != "nonsense") {
        ++good;
    }
    if (good != 0) {
        store(batch.first(good));
    }
    return good;
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("readings");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender sender{client, "readings"};
    for (int i = 1; i <= 40; ++i) {
        const std::string reading = i == 17 ? "nonsense" : std::to_string(i);
        sender.send_all({sessionq::Message::of(reading).in_session("meter 1"),
                         sessionq::Message::of(std::to_string(100 + i)).in_session("meter 2")});
    }

    std::latch stored{79};
    sessionq::SessionProcessor readings{
        client, "readings", {.failure_policy = sessionq::FailurePolicy::dead_letter()}};
    readings.on_messages(
        [&stored](Batch batch) {
            const std::size_t good = store_some(batch);
            stored.count_down(static_cast<std::ptrdiff_t>(good));
            if (good == batch.size()) {
                return; // all are completed
            }
            for (sessionq::MessageContext& each : batch.first(good)) {
                each.complete(); // this one is done
            }
            // The next one fails. Those behind it come again.
            throw std::invalid_argument{"not a reading"};
        },
        {.max_messages = 10, .max_wait = 100ms}); // whichever is first
    readings.on_error([](const sessionq::ErrorContext& error) {
        std::osyncstream{std::cout} << "error: " << error.failure.to_string() << '\n';
    });
    readings.start();
    stored.wait();
    readings.stop();

    for (const sessionq::ReceivedMessage& message :
         sessionq::Browser{client, "readings/$DeadLetterQueue"}) {
        std::cout << "dead-lettered: " << message.text() << '\n';
    }
}
