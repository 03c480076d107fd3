// SPDX-License-Identifier: MIT
// A topic, and subscriptions whose rules select messages and change them. The entities are in
// Config.json, which sessionqd and Microsoft's emulator read at their start.
//   sessionqd --config samples/15_topic_rules/Config.json
//   SESSIONQ_CONNECTION='Endpoint=sb://localhost;...;UseDevelopmentEmulator=true' 15_topic_rules

#include <cstdlib>
#include <iostream>
#include <latch>
#include <list>
#include <string>
#include <syncstream>

#include <sessionq/sessionq.hpp>

namespace {

sessionq::Message order(const char* customer, const char* goods, std::int64_t amount) {
    sessionq::Message message =
        sessionq::Message::of(std::string{"order of "} + goods).in_session(customer);
    message.subject = goods;
    message.properties["amount"] = amount;
    return message;
}

} // namespace

int main() {
    const char* connection = std::getenv("SESSIONQ_CONNECTION");
    if (connection == nullptr) {
        std::cerr << "usage: SESSIONQ_CONNECTION='Endpoint=sb://...' 15_topic_rules\n";
        return 2;
    }
    try {
        const auto client = sessionq::Client::connect(connection);
        sessionq::Sender topic{client, "orders"};
        topic.send(order("ada", "books", 20));
        topic.send(order("ada", "a lamp", 150));
        topic.send(order("ben", "books", 120));

        std::latch copies{3 + 2 + 2}; // of audit, large and books
        std::list<sessionq::SessionProcessor> processors;
        for (const std::string subscription : {"audit", "large", "books"}) {
            auto& processor =
                processors.emplace_back(client, "orders/subscriptions/" + subscription);
            processor.on_message([&copies, subscription](sessionq::MessageContext& context) {
                const auto& message = context.message();
                const bool has_priority = message.property("priority").has_value();
                std::osyncstream{std::cout} << subscription << ": " << message.text() << " for "
                                            << message.session_id()
                                            << (has_priority ? ", of high priority" : "") << '\n';
                copies.count_down();
            });
            processor.start();
        }
        copies.wait();
        for (auto& processor : processors) {
            processor.stop(std::chrono::seconds{10});
        }
        return 0;
    } catch (const sessionq::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
