// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>

namespace sessionq::inline v1::testing {

/// How a handler under test settled a message.
struct Settlement {
    enum class Outcome : std::uint8_t { completed, abandoned, released, deferred, dead_lettered };

    Outcome outcome{Outcome::completed};
    std::string reason{};      ///< Of `dead_letter`.
    std::string description{}; ///< Of `dead_letter`.
    Properties properties_to_modify{};
};

/// For example "dead_lettered".
[[nodiscard]] std::string_view to_string(Settlement::Outcome outcome) noexcept;

/// Writes `to_string(outcome)`.
std::ostream& operator<<(std::ostream& out, Settlement::Outcome outcome);

} // namespace sessionq::inline v1::testing
