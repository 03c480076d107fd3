// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// The idle direction of a connection: receiving or sending.
enum class IdleDirection : std::uint8_t {
    /// The client received nothing for `ClientOptions::connection_idle_timeout`, not even a
    /// heartbeat. It considers the broker gone and ends the connection.
    read,

    /// The client sent nothing and sends a heartbeat. See
    /// `ClientOptions::connection_write_idle_timeout`.
    write,
};

/// For example "read".
[[nodiscard]] std::string_view to_string(IdleDirection direction) noexcept;

/// Writes `to_string(direction)`.
std::ostream& operator<<(std::ostream& out, IdleDirection direction);

/// Idleness of one connection, as `ClientOptions::on_connection_idle` receives it.
///
/// Example:
///
///     const auto tell = [](const ConnectionIdleness& idleness) {
///         if (idleness.direction == IdleDirection::read) {
///             std::cerr << idleness.broker << " is silent\n";
///         }
///     };
///     const Client watched =
///         Client::connect(std::getenv("SESSIONQ_CONNECTION"), {.on_connection_idle = tell});
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct ConnectionIdleness {
    IdleDirection direction{IdleDirection::read};
    std::string broker{}; ///< HOST:PORT of the connection.

    /// How long it has been idle. Heartbeats that the client sent do not count as sending.
    Duration idle{};

    friend bool operator==(const ConnectionIdleness&, const ConnectionIdleness&) = default;
};

} // namespace sessionq::inline v1
