// SPDX-License-Identifier: MIT
// Bytes from a peer before and after a stream becomes a WebSocket.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/web_socket.hpp"

using namespace sessionq::amqp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    for (const bool is_client : {false, true}) {
        auto upgrade = is_client
                           ? WebSocketUpgrade::client("host", "/path", "dGhlIHNhbXBsZSBub25jZQ==")
                           : WebSocketUpgrade::server("/path");
        std::string_view rest = bytes;
        if (upgrade.feed(rest) != WebSocketUpgrade::State::done) {
            rest = bytes;
        }
        WebSocketFrames frames{is_client};
        std::string payload;
        std::string answers;
        while (!rest.empty() && frames.input(rest.substr(0, 100), payload, answers)) {
            rest.remove_prefix(std::min<std::size_t>(100, rest.size()));
        }
        if (payload.size() > bytes.size()) {
            __builtin_trap();
        }
    }
    return 0;
}
