// SPDX-License-Identifier: MIT
// The same processor on Azure Service Bus, or on a broker that speaks like it.
//   export SESSIONQ_CONNECTION='Endpoint=sb://...;SharedAccessKeyName=...;SharedAccessKey=...'
//   05_service_bus QUEUE

#include <cstdlib>
#include <iostream>
#include <syncstream>

#include <sessionq/sessionq.hpp>

int main(int count, char** arguments) {
    const char* connection = std::getenv("SESSIONQ_CONNECTION");
    if (connection == nullptr || count != 2) {
        std::cerr << "usage: SESSIONQ_CONNECTION='Endpoint=sb://...' 05_service_bus QUEUE\n";
        return 2;
    }
    try {
        const auto client = sessionq::Client::connect(connection);
        sessionq::SessionProcessor orders{client, arguments[1], {.max_concurrent_sessions = 16}};
        orders.on_message([](sessionq::MessageContext& context) {
            std::osyncstream{std::cout} << context.message().session_id() << ": "
                                        << context.message().text() << '\n';
        });
        orders.on_error([](const sessionq::ErrorContext& error) {
            std::osyncstream{std::cerr} << error.failure.to_string() << '\n';
        });
        orders.start();
        sessionq::wait_for_signal(); // Ctrl-C
        const auto report = orders.stop(std::chrono::seconds{10});
        return report.complete ? 0 : 1;
    } catch (const sessionq::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
