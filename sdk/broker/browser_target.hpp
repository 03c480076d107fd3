// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/error.hpp>

namespace sessionq::broker {

/// The messages that a browser waits for.
struct BrowseSpec {
    std::int64_t from{0};                    ///< this sequence number or a higher one
    std::optional<std::string> session_id{}; ///< set: messages of this session only
};

/// The broker's view of a browser that waits for a message (DG8). Called as a `ConsumerTarget` is:
/// directly, under no lock, on the thread that caused the event. A wait is answered once. A call
/// may arrive while the client cancels the wait.
class BrowserTarget {
public:
    virtual ~BrowserTarget() = default;

    /// There is a message to peek. It may be gone when the browser looks.
    virtual void notify_message() noexcept = 0;

    /// There will be none: the entity was deleted.
    virtual void on_deleted(Failure why) noexcept = 0;
};

} // namespace sessionq::broker
