// SPDX-License-Identifier: MIT
// A program whose sessionq objects are static: they begin before `main` and end after it.

#include <chrono>
#include <future>
#include <iostream>
#include <string>

#include <sessionq/sessionq.hpp>

namespace {

using namespace std::chrono_literals;

std::promise<std::string> handled;

const bool logs = [] {
    sessionq::set_log_level(sessionq::LogLevel::info);
    sessionq::set_log_sink([](const sessionq::LogRecord& record) {
        std::cout << "the log tells " << record.event << std::endl;
    });
    return true;
}();

sessionq::LocalBroker& orders_broker() {
    static sessionq::LocalBroker broker;
    broker.create_queue("orders");
    return broker;
}

// Nothing listens on port 1.
const bool refused = [] {
    try {
        (void)sessionq::Client::connect("Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=k;"
                                        "SharedAccessKey=dg==;UseDevelopmentEmulator=true");
    } catch (const sessionq::Error& failed) {
        return failed.code() == sessionq::Errc::connection_refused;
    }
    return false;
}();

const sessionq::Client client = sessionq::Client::in_process(orders_broker());
sessionq::SessionProcessor processor{client, "orders"};

const bool is_started = [] {
    processor.on_message([](sessionq::MessageContext& context) {
        handled.set_value(std::string{context.message().text()});
    });
    processor.start();
    sessionq::Sender{client, "orders"}.send(sessionq::Message::of("hello").in_session("ada"));
    return true;
}();

} // namespace

int main() {
    auto body = handled.get_future();
    if (!logs || !refused || !is_started || body.wait_for(60s) != std::future_status::ready) {
        std::cout << "nothing was handled" << std::endl;
        return 1;
    }
    std::cout << "handled " << body.get() << std::endl;
}
