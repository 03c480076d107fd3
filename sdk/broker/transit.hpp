// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/message_content.hpp>

#include "broker/journal.hpp"

namespace sessionq::broker {

class EntityMessages;

/// How often a message may be forwarded before it is dead-lettered. Documented by Azure Service
/// Bus.
inline constexpr std::uint8_t max_hops = 4;

/// Where a forwarded message comes from. The journal records its removal there together with its
/// arrival. So after a crash it is never in both places, nor in neither.
struct Origin {
    EntityId entity{0};
    std::int64_t sequence{0};
    bool is_shared{false}; ///< other destinations get it too, and it stays until all have it
};

/// A message on its way into an entity.
struct Arrival {
    MessageContentPtr content{};
    std::optional<std::chrono::milliseconds> time_to_live{}; ///< an upper limit; unset: unlimited
    std::uint8_t hops{0};                                    ///< how often it was forwarded
    std::optional<Origin> origin{};                          ///< unset: sent by a client
    std::int64_t first_sequence{0};                          ///< as `StoredMessage::first_sequence`
    std::shared_ptr<const DeadLetterInfo> dead_letter{};     ///< it has been in a dead-letter queue
    /// As it was before a rule's action, for a subscription that cannot take the result. Null: no
    /// action has changed it.
    MessageContentPtr unchanged{};
    bool is_too_large{false}; ///< the result of the action is, and was left out
};

/// A message on its way out of an entity. The entity holds it until it has arrived, so it survives
/// a crash in between.
struct Transit {
    EntityMessages* from{nullptr};
    std::int64_t sequence{0};
    Arrival message{};
    std::vector<EntityId> forwarded_to{};        ///< the subscriptions that have it already
    bool is_held{false};                         ///< the result: it must wait
    std::optional<DeadLetterInfo> failed_with{}; ///< the result; unset: it has arrived
};

/// The dead-letter reason of a message that could not be forwarded. For a missing session id, the
/// text of Azure Service Bus.
[[nodiscard]] DeadLetterInfo describe_transit_failure(const Failure& why);

} // namespace sessionq::broker
