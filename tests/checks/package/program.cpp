// SPDX-License-Identifier: MIT
// A program of an application: prints the version of the library that it is linked with, and uses
// parts of the library that need each of its dependencies.
#include <filesystem>
#include <iostream>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

int main() {
    const auto data = std::filesystem::temp_directory_path() / "sessionq_package_program";
    {
        sessionq::LocalBroker broker{{.data_directory = data.string()}};
        broker.create_queue("orders");
        const auto client = sessionq::Client::in_process(broker);
        sessionq::Sender sender{client, "orders"};
        sender.send(sessionq::Message::of("placed").in_session("ada"));
    }
    std::filesystem::remove_all(data);
    try {
        static_cast<void>(sessionq::Client::connect(
            "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k",
            {.operation_timeout = std::chrono::milliseconds{1}}));
    } catch (const sessionq::Error&) { // nobody listens there
    }
    std::cout << sessionq::version().text << '\n';
}
