// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::server {

/// The session filter in a receiver's source. Absent, null and the empty string have different
/// meanings.
struct SessionFilter {
    enum class Wish : std::uint8_t {
        none,       ///< no session
        any,        ///< the next session
        named,      ///< the session `id`
        unreadable, ///< not a valid session id
    };

    Wish wish{Wish::none};
    std::string id{};         ///< for `named`
    amqp::Value descriptor{}; ///< the descriptor of a described value; null for a plain one
};

/// Reads an encoded filter map. Empty bytes mean no filter.
[[nodiscard]] SessionFilter read_session_filter(std::string_view encoded);

/// Returns the name of a filter that is not a session filter, or an empty string. `encoded` is a
/// filter map, or empty.
[[nodiscard]] std::string find_unknown_filter(std::string_view encoded);

/// Returns the filter map for the accepted session, in the form the client used. Some clients read
/// only plain values, others only described ones.
[[nodiscard]] std::string answer_session_filter(const SessionFilter& asked, std::string_view id);

} // namespace sessionq::server
