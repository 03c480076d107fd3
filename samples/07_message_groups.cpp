// SPDX-License-Identifier: MIT
// Message groups on ActiveMQ Artemis or Qpid Broker-J. A group is a session, and the program is the
// same as on other brokers.
//   SESSIONQ_CONNECTION='amqp://user:password@host1,host2' 07_message_groups QUEUE

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <syncstream>

#include <sessionq/sessionq.hpp>

int main(int count, char** arguments) {
    const char* connection = std::getenv("SESSIONQ_CONNECTION");
    if (connection == nullptr || count != 2) {
        std::cerr
            << "usage: SESSIONQ_CONNECTION='amqp://user:password@host' 07_message_groups QUEUE\n";
        return 2;
    }
    try {
        const auto client = sessionq::Client::connect(connection);
        sessionq::Sender sender{client, arguments[1]};
        for (const char* step : {"placed", "paid", "shipped"}) {
            for (const char* customer : {"ada", "ben", "cleo"}) {
                // The session id travels as the group id.
                sender.send(sessionq::Message::of(step).in_session(customer));
            }
        }

        std::atomic<int> to_come{9};
        sessionq::SessionProcessor orders{client, arguments[1], {.max_concurrent_sessions = 16}};
        orders.on_session_open([](sessionq::SessionContext& group) {
            std::osyncstream{std::cout} << group.session_id() << " opens\n";
        });
        orders.on_message([&to_come](sessionq::MessageContext& context) {
            std::osyncstream{std::cout} << context.message().session_id() << ": "
                                        << context.message().text() << '\n';
            // It may fall below zero: the queue may hold others, and one may be redelivered.
            if (--to_come == 0) {
                to_come.notify_one();
            }
        });
        orders.on_error([](const sessionq::ErrorContext& error) {
            std::osyncstream{std::cerr} << error.failure.to_string() << '\n';
        });
        orders.start();
        for (int left = to_come; left > 0; left = to_come) {
            to_come.wait(left);
        }
        orders.stop(std::chrono::seconds{10});

        try { // a feature that the broker lacks fails before anything is sent
            static_cast<void>(sessionq::list_sessions(client, arguments[1]));
        } catch (const sessionq::Error& error) {
            std::cout << error.what() << '\n';
        }
        return 0;
    } catch (const sessionq::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
