#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::groups {

/// How a broker treats messages that go back to it.
struct ReturnTraits {
    /// A detach counts unsettled messages as delivered; they are released before.
    bool counts_detached{false};
    /// The broker answers an outcome with a settlement, once the outcome has taken effect.
    bool settles_in_turn{false};
};

/// When a receiver link is given up, so that the broker may give its groups to other consumers. A
/// busy link is kept: a queue whose busy groups must move is configured so at the broker (Artemis:
/// rebalance with pause dispatch; Broker-J: shared groups).
struct RecycleTraits {
    bool pins_groups{true}; ///< A group stays with its link even when it is idle.
    Duration idle{};        ///< How long all groups of the link must have been idle.
};

/// How one broker handles message groups, as data. Measured on the brokers themselves.
struct Dialect {
    std::string_view name;    ///< In a URL.
    std::string_view product; ///< How the product in the broker's open begins.
    ports::Capabilities capabilities;
    std::string_view group_selector; ///< The property that selects a group; empty: none.
    std::string_view priority_property{"priority"};
    /// The property that marks the first message of a group since the broker dealt the group to the
    /// link, where the queue is configured so; empty: none. An open session that has no message in
    /// hand ends then: another consumer may have had the group.
    std::string_view first_for_consumer;
    std::string_view delivery_time; ///< The annotation that schedules a message; empty: none.
    ReturnTraits returns{};
    RecycleTraits recycle{};
};

/// Null if the name is unknown.
[[nodiscard]] const Dialect* dialect_by_name(std::string_view name) noexcept;
/// By the product in the broker's open. Null if it is unknown.
[[nodiscard]] const Dialect* dialect_by_product(std::string_view product) noexcept;
/// What all dialects have, for a broker that is not known yet.
[[nodiscard]] const ports::Capabilities& common_capabilities() noexcept;

/// The selector for the messages of this group.
[[nodiscard]] std::string selector_for(const Dialect& dialect, std::string_view group);

} // namespace sessionq::groups
