// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <sessionq/deadline.hpp>
#include <sessionq/operation_context.hpp>

#include "client/calls/pending.hpp"
#include "core/intrusive_list.hpp"
#include "core/result.hpp"
#include "ports/capabilities.hpp"
#include "ports/delivery.hpp"
#include "ports/own_lock.hpp"

namespace sessionq::client {

template <typename T>
struct Operation;

/// A delivery in the hands of the application. A `LockedMessage` refers to it.
struct HeldDelivery final : ports::Delivery, core::ListHook<> {
    HeldDelivery() = default;
    /// Takes over a delivery that a processor's handler asked for.
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

    /// The first settling call was made, and it counts. Any thread.
    std::atomic<bool> decided{false};
    /// A reference to itself while its settlement is unanswered.
    std::shared_ptr<HeldDelivery> kept{};
    PendingPtr<core::Done> settling{};
    /// Null: the lock of the session covers it.
    std::shared_ptr<ports::OwnLock> own_lock{};

    [[nodiscard]] bool is_lost() const noexcept {
        return own_lock != nullptr && own_lock->is_lost();
    }
};

/// A holder of messages that an application settles by itself: a receiver, the session of a
/// processor's handler, or the session of an application's test. Any thread.
class MessageHolder {
public:
    MessageHolder() = default;
    MessageHolder(const MessageHolder&) = delete;
    MessageHolder& operator=(const MessageHolder&) = delete;
    virtual ~MessageHolder() = default;

    [[nodiscard]] virtual Deadline lock_expires() const noexcept = 0;
    [[nodiscard]] virtual std::stop_token stop_token() const noexcept = 0;

    /// Throws not_supported.
    virtual void require(ports::Capability capability) const = 0;
    /// Throws lock_lost if no message of it can be settled any more.
    virtual void require_held() const = 0;

    using DeliveryPtr = std::shared_ptr<HeldDelivery>;

    /// Sends the settlement. Unset: the settlement is complete already.
    [[nodiscard]] virtual std::optional<Operation<core::Done>> settle(
        DeliveryPtr delivery, ports::Settlement settlement, const OperationContext& context) = 0;
    /// Throws the errors of the settling functions.
    [[nodiscard]] virtual Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                         const OperationContext& context) = 0;
};

} // namespace sessionq::client
