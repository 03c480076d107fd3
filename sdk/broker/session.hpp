#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "broker/available_messages.hpp"
#include "broker/consumer_target.hpp"

namespace sessionq::broker {

struct ReadyTag;
struct ListedTag;

/// A session that has messages, state or a holder; any other does not exist.
struct Session : core::ListHook<ReadyTag>, core::ListHook<ListedTag> {
    const std::string* id{nullptr};                         ///< the key it is found by
    core::IntrusiveList<StoredMessage, LiveTag> messages{}; ///< all, in sequence order
    AvailableMessages available{};
    ConsumerPtr holder{};
    std::unique_ptr<std::string> state{};
    std::int64_t ready_key{
        0}; ///< the first available message's sequence number when it became ready
};

} // namespace sessionq::broker
