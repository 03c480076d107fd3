// SPDX-License-Identifier: MIT
// A broker's configuration. Any text is rejected, or its entities can be created and used.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "server/configuration.hpp"

using namespace sessionq;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto configuration =
        server::read_configuration({reinterpret_cast<const char*>(data), size});
    if (!configuration) {
        return 0;
    }
    broker::Broker broker;
    const broker::Instant at{.now = TimePoint{Duration{1}}, .wall = WallTime{}};
    if (!server::create_entities(broker, configuration.value(), at)) {
        std::abort(); // a configuration that was read can be created
    }
    for (const auto kind : {broker::EntityKind::queue, broker::EntityKind::topic}) {
        for (const std::string& name : broker.names(kind)) {
            static_cast<void>(broker.find(name).value()->send(
                std::vector{Message::of("body").in_session("s")}, at));
        }
    }
    return 0;
}
