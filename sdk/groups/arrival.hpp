// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "amqp/codec/delivery_codec.hpp"
#include "groups/dialect.hpp"

namespace sessionq::groups {

/// A message as it arrived over a receiver link.
struct Arrival {
    amqp::ReceivedDelivery received{};
    std::string group{}; ///< Messages without a group id are a group of their own.
    std::optional<std::int64_t> group_sequence{}; ///< If the sender set one.
    bool dealt_anew{
        false}; ///< The first of its group since the broker dealt the group to this link.
};

[[nodiscard]] core::Result<Arrival> read_arrival(std::string_view encoded,
                                                 const amqp::ClockReading& at,
                                                 const Dialect& dialect);

} // namespace sessionq::groups
