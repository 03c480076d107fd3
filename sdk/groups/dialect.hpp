// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ports/capabilities.hpp"

namespace sessionq::groups {

/// Describes as data how one broker handles message groups. Each kind of broker has a dialect,
/// which was measured on the broker itself. The links read the dialect where the brokers differ.
struct Dialect {
    std::string_view name;             ///< In a URL.
    std::string_view product;          ///< How the product in the broker's open begins.
    std::string_view messaging_system; ///< As OpenTelemetry names it.
    ports::Capabilities capabilities;
    std::string_view group_selector; ///< The property that selects a group; empty: none.
    /// The property that marks the first message after the broker dealt its group to the link. The
    /// broker sets it only if the queue is configured so. Empty: the broker has no such property. A
    /// marked message ends an open session of the group that has no message in hand, because
    /// another consumer may have had the group.
    std::string_view first_for_consumer;
    std::string_view delivery_time; ///< The annotation that schedules a message; empty: none.
    /// The broker answers an outcome with a settlement, once the outcome has taken effect.
    bool settles_in_turn{false};
};

/// Null if the name is unknown.
[[nodiscard]] const Dialect* dialect_by_name(std::string_view name) noexcept;
/// Returns the dialect of the product that the broker names in its open. Null if it is unknown.
[[nodiscard]] const Dialect* dialect_by_product(std::string_view product) noexcept;
/// Returns the text of the error for a product without a dialect. `product` is empty if the broker
/// names none.
[[nodiscard]] std::string unknown_broker(std::string_view product);
/// The capabilities that all dialects have, for a broker that is not known yet.
[[nodiscard]] const ports::Capabilities& common_capabilities() noexcept;

/// The selector for the messages of this group.
[[nodiscard]] std::string selector_for(const Dialect& dialect, std::string_view group);

} // namespace sessionq::groups
