// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include <sessionq/deadline.hpp>
#include <sessionq/operation_context.hpp>

#include "core/result.hpp"
#include "ports/capabilities.hpp"
#include "ports/delivery.hpp"

namespace sessionq::client {

struct HeldDelivery;
template <typename T>
struct Operation;

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
    /// Throws lock_lost if nothing of it can be settled any more.
    virtual void require_held() const = 0;

    using DeliveryPtr = std::shared_ptr<HeldDelivery>;

    /// Sends the settlement. Unset: it is done.
    [[nodiscard]] virtual std::optional<Operation<core::Done>> settle(
        DeliveryPtr delivery, ports::Settlement settlement, const OperationContext& context) = 0;
    /// Throws the errors of the settling functions.
    [[nodiscard]] virtual Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                         const OperationContext& context) = 0;
};

} // namespace sessionq::client
