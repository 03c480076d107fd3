// SPDX-License-Identifier: MIT
// Clients against an unreachable broker, over real sockets. Only upper bounds are checked, and a
// slow machine only lowers the counts.
#include <doctest/doctest.h>

#include <thread>

#include <sessionq/sessionq.hpp>

#include "faults/consumer.hpp"
#include "faults/proxy.hpp"
#include "tools/sessionqd/daemon.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;

namespace {

std::size_t attempts_in_three_seconds(const char* script) {
    sessionqd::Daemon daemon{{.listen = sessionqd::Endpoint{.address = "127.0.0.1", .port = 0},
                              .queues = {{.name = "orders", .options = {.requires_session = true}}},
                              .keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}}};
    const std::string& url = daemon.urls().at(0);
    Proxy proxy{{.port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))),
                 .script = parse_script(script)}};
    const Client client = Client::connect(connection_string(proxy.port()));
    SessionProcessor processor{client, "orders", {.max_concurrent_sessions = 32}};
    processor.on_message([](MessageContext&) {});
    processor.start();
    proxy.start();
    std::thread sender{[&] {
        for (const TimePoint until = core::system_clock().now() + 3s;
             core::system_clock().now() < until;) {
            try {
                Sender{client, "orders"}.send(Message::of("1").in_session("a"),
                                              {.context = OperationContext{Deadline::at(until)}});
            } catch (const Error&) {
                continue; // an application without a wait of its own
            }
        }
    }};
    sender.join();
    CHECK(processor.stop(10s).complete);
    return proxy.attempts().size() - 1;
}

} // namespace

TEST_CASE("R17: rejected clients connect less and less often, however many wait and ask") {
    // pauses of at least 50, 100, 200, 400, 800, 1600 ms
    CHECK(attempts_in_three_seconds("0s reject for=1000s\n100ms reset conns=all") <= 8);
}
