// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>

namespace sessionq::inline v1::testing {

/// How a message of a test is settled.
struct Settlement {
    /// What became of the message.
    enum class Outcome : std::uint8_t { completed, abandoned, released, deferred, dead_lettered };

    /// Who decided it.
    enum class Decider : std::uint8_t {
        handler,   ///< It called a settling function.
        processor, ///< The handler returned, or threw, without such a call.
    };

    Outcome outcome{Outcome::completed};
    std::string reason{};      ///< Of a dead letter.
    std::string description{}; ///< Of a dead letter.
    Properties properties_to_modify{};
    Decider decided_by{Decider::handler};
};

/// For example "dead_lettered".
[[nodiscard]] std::string_view to_string(Settlement::Outcome outcome) noexcept;

/// Writes `to_string(outcome)`.
std::ostream& operator<<(std::ostream& out, Settlement::Outcome outcome);

/// For example "processor".
[[nodiscard]] std::string_view to_string(Settlement::Decider decider) noexcept;

/// Writes `to_string(decider)`.
std::ostream& operator<<(std::ostream& out, Settlement::Decider decider);

} // namespace sessionq::inline v1::testing
