// SPDX-License-Identifier: MIT
// Handlers on the application's own io_context: they run on its thread, so they share its data with
// the rest of the program without a lock. The processor's workers only hand them over.

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <sessionq/sessionq.hpp>

namespace {

/// Runs a handler on the thread of `loop`. `Completion` may be used there.
sessionq::MessageHandler on_loop(asio::io_context& loop,
                                 std::function<void(sessionq::MessageContext&)> handler) {
    return sessionq::MessageHandler::started_by(
        [&loop, handler = std::move(handler)](sessionq::MessageContext& context,
                                              sessionq::Completion completion) {
            asio::post(loop, [&handler, &context, completion = std::move(completion)] {
                try {
                    handler(context);
                    completion.done();
                } catch (...) {
                    completion.failed(std::current_exception()); // the failure policy decides
                }
            });
        });
}

} // namespace

int main() {
    constexpr int messages = 12;
    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender sender{client, "orders"};
    for (int i = 0; i < messages; ++i) {
        sender.send(sessionq::Message::of("order").in_session("customer " + std::to_string(i % 3)));
    }

    asio::io_context loop;
    auto work = asio::make_work_guard(loop); // it runs although nothing is there yet
    std::map<std::string, int> orders;       // used on the loop's thread alone
    int handled = 0;

    sessionq::SessionProcessor processor{client, "orders", {.worker_threads = 1}};
    processor.on_message(on_loop(loop, [&](sessionq::MessageContext& context) {
        ++orders[std::string{context.message().session_id()}];
        if (++handled == messages) {
            work.reset();
        }
    }));
    processor.start();
    loop.run(); // the application's own work would run here, too
    // The last handlers may still wait for their end to be seen. Stop the processor before the loop
    // goes: a handler that the loop has not run would never end.
    processor.stop(std::chrono::seconds{10});

    for (const auto& [customer, count] : orders) {
        std::cout << customer << ": " << count << " orders\n";
    }
    return handled == messages ? 0 : 1;
}
