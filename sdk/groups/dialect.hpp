#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::groups {

/// What a broker says of a message that goes back to it.
struct ReturnTraits {
    bool counts_detached{
        false}; ///< a detach counts what is unsettled as delivered: it is released before
    bool settles_in_turn{
        false}; ///< an outcome without settlement is answered with one, once it has taken effect
};

/// When a receiver link is given up, so that the broker may give the groups that are pinned to it
/// to others. Never while it is busy: a queue whose busy groups must move is told so at the broker
/// (Artemis: rebalance with pause dispatch; Broker-J: shared groups).
struct RecycleTraits {
    bool pins_groups{true}; ///< a group stays with its link although nothing of it is unsettled
    Duration idle{};        ///< how long all groups of the link must have been idle
};

/// How one broker orders messages by group, as data. Measured on the brokers themselves.
struct Dialect {
    std::string_view name;    ///< in a URL
    std::string_view product; ///< what the peer's open begins with
    ports::Capabilities capabilities;
    std::string_view
        group_selector; ///< the property that a selector finds a group by; empty: there is none
    std::string_view priority_property{"priority"};
    /// The property that marks the first message of a group since the broker dealt it to the link,
    /// where the queue is told to set it; empty: there is none. A session that is open then, and
    /// has nothing in hand, is over: another consumer may have had the group.
    std::string_view first_for_consumer;
    std::string_view delivery_time; ///< the annotation that holds a message back until then; empty:
                                    ///< there is none
    ReturnTraits returns{};
    RecycleTraits recycle{};
};

/// Null: there is none of that name.
[[nodiscard]] const Dialect* dialect_by_name(std::string_view name) noexcept;
/// By what a peer calls itself in its open. Null: not known.
[[nodiscard]] const Dialect* dialect_by_product(std::string_view product) noexcept;
/// Of a peer that has not said yet who it is: only what all dialects have.
[[nodiscard]] const ports::Capabilities& common_capabilities() noexcept;

/// The selector that finds messages of this group only.
[[nodiscard]] std::string selector_for(const Dialect& dialect, std::string_view group);

} // namespace sessionq::groups
