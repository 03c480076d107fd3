// SPDX-License-Identifier: MIT
// Handles messages of one queue, and sends another message to a second queue from each handler. It
// sends the trace context that the handler ran under as the body. Other people's clients are at
// both ends. Ends when its input does.
//   trace_relay FROM TO    with SESSIONQ_CONNECTION, and SESSIONQ_CA over TLS

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>
#include <sessionq/testing/recording_tracer.hpp>

namespace {

using namespace sessionq;

std::string traceparent_of(const TraceContext* context) {
    return context == nullptr ? std::string{} : context->traceparent;
}

void relay(const std::string& from, const std::string& to) {
    const char* const authority = std::getenv("SESSIONQ_CA");
    const Client client =
        Client::connect(std::getenv("SESSIONQ_CONNECTION"),
                        {.tracer = std::make_shared<testing::RecordingTracer>()},
                        {.ca_file = authority == nullptr ? std::string{} : std::string{authority}});
    const Sender sender{client, to};
    SessionProcessor processor{client, from};
    processor.on_message([&sender](MessageContext& context) {
        const auto sent = context.message().trace();
        const nlohmann::json seen{{"body", std::string{context.message().text()}},
                                  {"sent", traceparent_of(sent ? &*sent : nullptr)},
                                  {"handler", traceparent_of(OperationContext::current().trace())}};
        sender.send(Message::of(seen.dump()).in_session(context.message().session_id()));
    });
    processor.on_error([](const ErrorContext& error) {
        std::cerr << "trace_relay: " << error.failure.to_string() << std::endl;
    });
    processor.start();
    std::cout << "ready" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
    }
    processor.stop(std::chrono::seconds{10});
}

} // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: trace_relay FROM TO\n";
        return 2;
    }
    try {
        relay(arguments[1], arguments[2]);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "trace_relay: " << error.what() << '\n';
        return 1;
    }
}
