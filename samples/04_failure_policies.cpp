// SPDX-License-Identifier: MIT
// The fate of a message whose handler throws, and of the session behind it. Runs each failure
// policy on the same three messages.

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <syncstream>
#include <thread>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;
using sessionq::FailurePolicy;

namespace {

void pay(std::string_view payment) {
    std::osyncstream{std::cout} << "  handling " << payment << '\n';
    if (payment == "bad payment") {
        throw std::runtime_error{"card refused"};
    }
}

void demonstrate(sessionq::LocalBroker& broker, const std::string& what,
                 const FailurePolicy& policy) {
    std::cout << what << '\n';
    broker.create_queue(what, {.max_delivery_count = 2}); // then the broker dead-letters it
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender{client, what}.send_all(
        {sessionq::Message::of("first payment").in_session("ada"),
         sessionq::Message::of("bad payment").in_session("ada"),
         sessionq::Message::of("last payment").in_session("ada")});

    sessionq::SessionProcessor payments{
        client, what, {.session_idle_timeout = 0s, .failure_policy = policy}};
    payments.on_message([](sessionq::MessageContext& context) { pay(context.message().text()); });
    payments.on_error([](const sessionq::ErrorContext& error) {
        std::osyncstream{std::cout} << "  error: " << error.failure.to_string() << '\n';
    });
    payments.start();
    while (broker.counts(what).active > 0) {
        std::this_thread::sleep_for(5ms);
    }
    payments.stop();

    for (const sessionq::ReceivedMessage& message :
         sessionq::Browser{client, what + "/$DeadLetterQueue"}) {
        std::cout << "  dead-lettered: " << message.text() << ", reason "
                  << message.facts().dead_letter->reason << '\n';
    }
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    const sessionq::BackoffOptions quickly{.min = 10ms, .max = 20ms};

    demonstrate(broker, "abandon", FailurePolicy::abandon());
    demonstrate(broker, "dead-letter", FailurePolicy::dead_letter());
    demonstrate(broker, "retry in place, then dead-letter",
                FailurePolicy::dead_letter().after_attempts(3, quickly));
    demonstrate(broker, "park the session, then abandon", FailurePolicy::park_session(50ms));
    demonstrate(broker, "dead-letter the rest of the session",
                FailurePolicy::dead_letter_session());
}
