#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/message_content.hpp>

#include "broker/journal.hpp"

namespace sessionq::broker {

class Entity;

/// How often a message is passed on from queue to queue before it counts as lost on its way.
/// (Documented by Azure Service Bus)
inline constexpr std::uint8_t most_hops = 4;

/// Where a message comes from. A journal is to hear of its end there together with its arrival, so
/// that it is never in both places after a crash, nor in none.
struct Origin {
    EntityId entity{0};
    std::int64_t sequence{0};
    bool is_shared{false}; ///< it goes to others too, and stays until all have it
};

/// A message on its way into an entity from another one.
struct Arrival {
    MessageContentPtr content{};
    std::optional<std::chrono::milliseconds> time_to_live{}; ///< at most; unset: unlimited
    std::uint8_t hops{0};                                    ///< how often it was passed on
    std::optional<Origin> origin{};                          ///< unset: a sender
};

/// A message on its way out of an entity, which keeps it until it has arrived: a broker that dies
/// in between still has it.
struct Transit {
    Entity* from{nullptr};
    std::int64_t sequence{0};
    Arrival message{};
    std::vector<EntityId> passed_to{};           ///< these have it already
    bool is_held{false};                         ///< the answer: it has to wait
    std::optional<DeadLetterInfo> failed_with{}; ///< the answer; unset: it has arrived
};

/// What is noted on a message that could not get where it was to go; of a missing session id, in
/// the words of the service.
[[nodiscard]] DeadLetterInfo describe_transit_failure(const Failure& why);

} // namespace sessionq::broker
