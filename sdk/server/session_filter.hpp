#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::server {

/// What a receiver's source filter says of sessions. Absent, null and the empty string are three
/// different things.
struct SessionFilter {
    enum class Wish : std::uint8_t {
        none,       ///< not a receiver of sessions
        any,        ///< the next one
        named,      ///< this one
        unreadable, ///< of a type that is no session id
    };

    Wish wish{Wish::none};
    std::string id{};         ///< named only
    amqp::Value descriptor{}; ///< what the value was described by; null: a plain value
};

/// Of a source's encoded filter map; empty bytes: none.
[[nodiscard]] SessionFilter read_session_filter(std::string_view encoded);

/// The filter map that answers it with the session that was accepted, in the shape in which it was
/// asked for: some clients read only a plain value, others only a described one.
[[nodiscard]] std::string answer_session_filter(const SessionFilter& asked, std::string_view id);

} // namespace sessionq::server
