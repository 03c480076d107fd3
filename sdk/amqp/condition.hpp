// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <sessionq/error.hpp>

namespace sessionq::amqp {

/// Why a peer ended or refused something. An empty name means that there is no error.
struct Condition {
    std::string name{}; ///< a symbol of the standard or the broker
    std::string text{};
    std::string info{}; ///< an encoded map, or empty
    /// set if this side found the fault (lost stream, protocol error, timeout), not the peer
    std::optional<Errc> found{};

    [[nodiscard]] bool empty() const noexcept { return name.empty(); }
};

} // namespace sessionq::amqp
