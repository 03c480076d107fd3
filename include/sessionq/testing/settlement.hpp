// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <sessionq/message.hpp>

namespace sessionq::testing {

/// How a handler under test settled a message.
struct Settlement {
    enum class Outcome : std::uint8_t { completed, abandoned, released, deferred, dead_lettered };

    Outcome outcome{Outcome::completed};
    std::string reason{};      ///< Of `dead_letter`.
    std::string description{}; ///< Of `dead_letter`.
    Properties properties_to_modify{};
};

} // namespace sessionq::testing
