// SPDX-License-Identifier: MIT
// Messages that cannot be handled now, or never: a policy for each failure, and a delay that is
// kept with the session.

#include <chrono>
#include <iostream>
#include <latch>
#include <stdexcept>
#include <syncstream>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

struct BankIsClosed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void pay(const sessionq::ReceivedMessage& payment) {
    std::osyncstream{std::cout} << payment.session_id() << ": " << payment.text() << '\n';
    if (payment.text() == "no amount") {
        throw std::invalid_argument{"a payment needs an amount"};
    }
    if (payment.text() == "to the bank" && payment.delivery_count() < 2) {
        throw BankIsClosed{"the bank is closed"};
    }
}

sessionq::FailurePolicy choose(const sessionq::FailureContext& failure) {
    try {
        std::rethrow_exception(failure.exception);
    } catch (const std::invalid_argument&) {
        return sessionq::FailurePolicy::dead_letter(); // it will never succeed
    } catch (const BankIsClosed&) {
        // Nothing of the session is handled before, by any processor, also after a restart.
        return sessionq::FailurePolicy::retry_later({200ms, 500ms});
    } catch (...) {
        return failure.configured;
    }
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("payments");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender sender{client, "payments"};
    sender.send_all({sessionq::Message::of("no amount").in_session("ada"),
                     sessionq::Message::of("by card").in_session("ada"),
                     sessionq::Message::of("to the bank").in_session("ben"),
                     sessionq::Message::of("in cash").in_session("ben")});

    std::latch paid{3};
    sessionq::SessionProcessor payments{client, "payments"};
    payments.on_message([&paid](sessionq::MessageContext& context) {
        pay(context.message());
        paid.count_down();
    });
    payments.on_failure(choose);
    payments.start();
    paid.wait();
    payments.stop();

    for (const sessionq::ReceivedMessage& message :
         sessionq::Browser{client, "payments/$DeadLetterQueue"}) {
        std::cout << "dead-lettered: " << message.text() << ", "
                  << message.facts().dead_letter->description << '\n';
    }
}
