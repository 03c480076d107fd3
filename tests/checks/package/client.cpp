// SPDX-License-Identifier: MIT
// A client of a broker elsewhere: it is linked without the broker inside the process.
#include <iostream>

#include <sessionq/sessionq.hpp>

int main(int argc, char** argv) {
    try {
        const auto client = sessionq::Client::connect(
            argc > 1 ? argv[1]
                     : "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k",
            {.operation_timeout = std::chrono::milliseconds{1}});
        sessionq::SessionProcessor orders{client, "orders"};
        orders.on_message([](sessionq::MessageContext& context) {
            std::cout << context.message().text() << '\n';
        });
        orders.start();
        sessionq::wait_for_signal();
    } catch (const sessionq::Error& error) {
        std::cout << "no broker\n";
        return error.code() == sessionq::Errc::invalid_option ? 1 : 0;
    }
}
