// SPDX-License-Identifier: MIT
#pragma once

#include "broker/delivered.hpp"
#include "broker/entity_consumers.hpp"
#include "broker/settlement.hpp"

namespace sessionq::broker {

/// The operations of consumers on messages, from delivery to settlement.
class EntityDeliveries {
public:
    EntityDeliveries(EntityState& entity, EntityMessages& messages,
                     EntityConsumers& consumers) noexcept
        : entity_{entity}, messages_{messages}, consumers_{consumers} {}

    bool pull(Consumer& consumer, std::uint32_t max, std::uint64_t max_bytes,
              std::vector<Delivered>& to);
    core::Result<core::Done> receive_deferred(Consumer& consumer,
                                              std::span<const std::int64_t> sequences,
                                              std::uint64_t max_bytes, std::vector<Delivered>& to);
    void settle(Consumer& consumer, SettleOrder& order);
    core::Result<TimePoint> renew_message(Consumer& consumer, DeliveryTable::Token token);

private:
    void deliver(StoredMessage& message, Consumer& consumer, std::vector<Delivered>& to);

    EntityState& entity_;
    EntityMessages& messages_;
    EntityConsumers& consumers_;
};

} // namespace sessionq::broker
