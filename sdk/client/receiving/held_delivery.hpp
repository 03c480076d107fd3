// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "client/calls/pending.hpp"
#include "core/intrusive_list.hpp"
#include "ports/delivery.hpp"
#include "ports/own_lock.hpp"

namespace sessionq::client {

/// A delivery that the application has.
struct HeldDelivery final : ports::Delivery, core::ListHook<> {
    HeldDelivery() = default;
    /// Of a processor's session, whose handler asked for it.
    explicit HeldDelivery(ports::Delivery&& asked) noexcept {
        message = std::move(asked.message);
        bytes = asked.bytes;
        port_tag = asked.port_tag;
        settled_by_sender = asked.settled_by_sender;
        holder_lost = asked.holder_lost;
        lock = asked.lock;
        asked_for = true;
    }
    ~HeldDelivery() override {
        if (own_lock != nullptr) {
            own_lock->drop();
        }
    }

    /// Any thread: the settling call that counts was made.
    std::atomic<bool> decided{false};
    /// Itself, while its settlement is unanswered.
    std::shared_ptr<HeldDelivery> kept{};
    PendingPtr<core::Done> settling{};
    /// Null: its session's lock covers it.
    std::shared_ptr<ports::OwnLock> own_lock{};

    [[nodiscard]] bool is_lost() const noexcept {
        return own_lock != nullptr && own_lock->is_lost();
    }
};

} // namespace sessionq::client
