// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/backoff_options.hpp>

#include "amqp/client_connection.hpp"
#include "amqp/connector.hpp"
#include "servicebus/token_source.hpp"

namespace sessionq::detail::servicebus {

struct EndpointSettings {
    amqp::Target target{};
    TokenSourcePtr tokens{};                              ///< Null: no token is sent to $cbs.
    Duration operation_timeout{std::chrono::seconds{60}}; ///< For work without a deadline.
    Duration idle_timeout{std::chrono::seconds{120}}; ///< A peer silent for so long is given up.
    Duration write_idle_timeout{};                    ///< As `ClientConnectionOptions` has it.
    amqp::IdleHandler on_idle{};                      ///< Null: nobody asks.
    BackoffOptions backoff{};                         ///< Between attempts to connect.
    std::uint64_t seed{0};
    amqp::Dial dial{amqp::dial_socket}; ///< Makes the connections' streams.
    core::ConnectionCountsPtr counts{std::make_shared<core::ConnectionCounts>()};
};

} // namespace sessionq::detail::servicebus
