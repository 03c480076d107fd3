#pragma once

#include <memory>
#include <string>

#include "broker/available_messages.hpp"
#include "broker/consumer_target.hpp"

namespace sessionq::broker {

struct ReadyTag;
struct ListedTag;

/// A session with messages, state or a holder. Without any of these it does not exist.
struct Session : core::ListHook<ReadyTag>, core::ListHook<ListedTag> {
    const std::string* id{nullptr};                         ///< its key in the session table
    core::IntrusiveList<StoredMessage, LiveTag> messages{}; ///< all messages, in sequence order
    AvailableMessages available{};
    ConsumerPtr holder{};
    std::unique_ptr<std::string> state{};
};

} // namespace sessionq::broker
