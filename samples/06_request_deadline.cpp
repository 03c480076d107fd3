// SPDX-License-Identifier: MIT
// One deadline for a request and everything it causes. It travels with the messages that are sent
// within it, is ambient in their handlers, bounds every operation there, and travels on with the
// messages that the handlers send.

#include <atomic>
#include <chrono>
#include <iostream>
#include <syncstream>
#include <thread>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

std::chrono::milliseconds left(sessionq::Deadline deadline) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline.remaining(std::chrono::steady_clock::now()));
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("requests", {.requires_session = true});
    broker.create_queue("invoices", {.requires_session = true});
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender invoices{client, "invoices"};

    sessionq::SessionProcessor requests{client, "requests"};
    requests.on_message([&](sessionq::MessageContext& context) {
        std::osyncstream{std::cout}
            << "request '" << context.message().text()
            << "': " << (left(context.deadline()) <= 10s ? "within its 10 s" : "without a deadline")
            << '\n';
        // The send gives up at the deadline, and the message carries the time that is left.
        invoices.send(sessionq::Message::of("invoice for " + std::string{context.message().text()})
                          .in_session(context.message().session_id()));
    });
    std::atomic<int> handled{0};
    sessionq::SessionProcessor billing{client, "invoices"};
    billing.on_message([&](sessionq::MessageContext& context) {
        std::osyncstream{std::cout}
            << context.message().text() << ": "
            << (left(context.deadline()) <= 10s ? "still within them" : "without a deadline")
            << '\n';
        ++handled;
        handled.notify_one();
    });
    requests.start();
    billing.start();

    // The requester: everything in this scope shares ten seconds.
    {
        const auto deadline = sessionq::Deadline::in(10s);
        const sessionq::OperationContext::Scope scope{sessionq::OperationContext{deadline}};
        sessionq::Sender sender{client, "requests"};
        sender.send(sessionq::Message::of("two books").in_session("customer-1"));
    }
    // A request past its deadline is dead-lettered, not handled.
    sessionq::Message late = sessionq::Message::of("a lamp").in_session("customer-2");
    late.deadline = sessionq::Deadline::in(0s);
    sessionq::Sender{client, "requests"}.send(std::move(late));

    handled.wait(0);
    sessionq::Browser dead_letters{client, "requests/$DeadLetterQueue"};
    auto refused = dead_letters.peek(1);
    for (int tries = 0; tries < 1000 && refused.empty(); ++tries, refused = dead_letters.peek(1)) {
        std::this_thread::sleep_for(5ms);
    }
    requests.stop(10s);
    billing.stop(10s);
    for (const auto& message : refused) {
        std::cout << "too late for '" << message.text()
                  << "': " << message.facts().dead_letter->reason << '\n';
    }
    return refused.empty() ? 1 : 0;
}
