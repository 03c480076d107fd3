// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "broker/browser_target.hpp"
#include "broker/entity_state.hpp"
#include "broker/purgatory.hpp"

namespace sessionq::broker {

/// The browsers that wait for a message of an entity. Each is told once. Telling it takes no
/// message and no notification from a consumer.
///
/// An operation that stores nothing costs one comparison. Each browser looks at a new message once.
class BrowserLine {
public:
    explicit BrowserLine(EntityState& entity) noexcept : entity_{entity} {}

    /// Returns the id of the wait, or zero if the browser was told at once.
    OperationId wait(BrowseSpec spec, std::shared_ptr<BrowserTarget> target);
    void cancel(OperationId id) { waiting_.erase(id); }
    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

    /// Tells the browsers of messages that were stored since the last call.
    void serve();
    /// The entity is being deleted: tells all.
    void shut_down();

private:
    struct Wait {
        BrowseSpec spec;
        std::shared_ptr<BrowserTarget> target;
    };

    /// Returns true if there is a message for the browser, and tells it. Otherwise it looks behind
    /// the last message from now on.
    bool tell(Wait& wait);

    EntityState& entity_;
    std::map<OperationId, Wait> waiting_; // told in this order
    std::int64_t looked_at_{0};           // the last number that all of them have looked at
    OperationId last_id_{0};
};

} // namespace sessionq::broker
