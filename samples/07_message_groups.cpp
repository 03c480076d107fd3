// Message groups on ActiveMQ Artemis or Qpid Broker-J: a group is a session, and the program is the one that runs on other brokers.
//   SESSIONQ_CONNECTION='amqp://user:password@host1,host2' 07_message_groups QUEUE

#include <cstdlib>
#include <iostream>
#include <latch>
#include <syncstream>

#include <sessionq/sessionq.hpp>

int main(int count, char** arguments) {
    const char* connection = std::getenv("SESSIONQ_CONNECTION");
    if (connection == nullptr || count != 2) {
        std::cerr << "usage: SESSIONQ_CONNECTION='amqp://user:password@host' 07_message_groups QUEUE\n";
        return 2;
    }
    try {
        const auto client = sessionq::Client::connect(connection);
        sessionq::Sender sender{client, arguments[1]};
        for (const char* step : {"placed", "paid", "shipped"}) {
            for (const char* customer : {"ada", "ben", "cleo"}) {
                sender.send(sessionq::Message::text(customer, step)); // the session id travels as the group id
            }
        }

        std::latch handled{9};
        sessionq::SessionProcessor orders{client, arguments[1], {.max_concurrent_sessions = 16}};
        orders.on_session_open([](sessionq::SessionContext& group) { std::osyncstream{std::cout} << group.session_id() << " opens\n"; });
        orders.on_message([&handled](sessionq::MessageContext& call) {
            std::osyncstream{std::cout} << call.message().session_id() << ": " << call.message().text() << '\n';
            handled.count_down();
        });
        orders.on_error([](const sessionq::ErrorContext& error) { std::osyncstream{std::cerr} << error.failure.to_string() << '\n'; });
        orders.start();
        handled.wait();
        orders.stop(std::chrono::seconds{10});

        try { // what a broker lacks is said before anything is sent
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
