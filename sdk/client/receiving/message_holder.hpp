// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <sessionq/call_options.hpp>
#include <sessionq/deadline.hpp>

#include "client/calls/pending.hpp"
#include "core/intrusive_list.hpp"
#include "core/result.hpp"
#include "ports/capabilities.hpp"
#include "ports/delivery.hpp"
#include "ports/own_lock.hpp"

namespace sessionq::detail::client {

template <typename T>
struct Operation;

/// A message that the application has received and settles by itself. A receiver allocates it for
/// each delivery, and a `LockedMessage` shares it.
struct HeldDelivery final : ports::Delivery, core::ListHook<> {
    HeldDelivery() = default;
    /// Takes over a delivery of a processor's session. Its handler asked for the message with
    /// `receive_deferred`, and settles it by itself.
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

    /// True from the first settling call on. Later calls fail. Any thread.
    std::atomic<bool> decided{false};
    /// Keeps this object alive while its settlement is unanswered. Else null.
    std::shared_ptr<HeldDelivery> kept{};
    PendingPtr<core::Done> settling{};
    /// The message's own lock. Null: the lock of its session holds it.
    std::shared_ptr<ports::OwnLock> own_lock{};

    [[nodiscard]] bool is_lost() const noexcept {
        return own_lock != nullptr && own_lock->is_lost();
    }
};

/// The owner of messages that an application settles by itself. It is a receiver (`HeldSession`),
/// the session of a processor's handler (`HandlerSession`), or the session of an application's test
/// (`TestSession`). A `LockedMessage` asks its owner to settle it and to renew its lock. Any
/// thread.
class MessageHolder {
public:
    MessageHolder() = default;
    MessageHolder(const MessageHolder&) = delete;
    MessageHolder& operator=(const MessageHolder&) = delete;
    virtual ~MessageHolder() = default;

    [[nodiscard]] virtual Deadline lock_expires() const noexcept = 0;
    [[nodiscard]] virtual std::stop_token stop_token() const noexcept = 0;

    /// Throws not_supported if the broker lacks the capability.
    virtual void require(ports::Capability capability) const = 0;
    /// Throws lock_lost if the owner has lost its session or was closed: none of its messages can
    /// be settled any more.
    virtual void require_held() const = 0;

    using DeliveryPtr = std::shared_ptr<HeldDelivery>;

    /// Returns the operation that sends the settlement. Unset: the message is settled already, as
    /// in a test.
    [[nodiscard]] virtual std::optional<Operation<core::Done>> settle(DeliveryPtr delivery,
                                                                      ports::Settlement settlement,
                                                                      const CallOptions& call) = 0;
    /// Returns the operation that renews the lock of the message. Throws if the lock cannot be
    /// renewed.
    [[nodiscard]] virtual Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                         const CallOptions& call) = 0;
};

} // namespace sessionq::detail::client
