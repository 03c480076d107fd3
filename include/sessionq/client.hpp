#pragma once

#include <cstdint>
#include <memory>

#include <sessionq/time.hpp>

namespace sessionq {

class LocalBroker;

namespace client {
class ClientCore;
}

/// How a `Client` works. An aggregate for designated initialisers; a value out of range throws `Error{Errc::invalid_option}` naming the member,
/// nothing is clamped.
struct ClientOptions {
    /// Threads that carry connections, sessions, leases and timers. What is made from the client is spread over them in turn. One serves thousands of
    /// sessions. Range: 1 to 64. Default 1.
    std::uint32_t receive_threads{1};

    /// How long a call may take that has no deadline in scope, neither explicit nor ambient (R20). Range: 1 ms to 24 h. Default 60 s.
    Duration operation_timeout{std::chrono::seconds{60}};

    /// How long a receive thread that runs dry looks for new work before it sleeps. Trades processor time for the cost of a wake-up; worth it only with cores
    /// to spare. Zero: sleeps at once. Range: 0 to 1 ms. Default 0.
    Duration receive_spin{};
};

/// The way to a broker: a shared handle to its receive threads and what they carry. Senders, receivers and processors made from it keep
/// them alive; they end with the last of these. The destructor of the last one waits until the threads have ended, which does not depend on the broker.
///
/// Thread safety:
/// Distinct objects: safe, also when they share a client.
/// Shared objects: safe to read (making things from it is reading).
class Client {
public:
    /// A client of a broker in this process. The broker's queues live as long as the `LocalBroker` or a client of it.
    ///
    /// Errors: invalid_option (a member of `options`), resource_exhausted (no thread could be started).
    [[nodiscard]] static Client in_process(const LocalBroker& broker, ClientOptions options = {});

    [[nodiscard]] const ClientOptions& options() const noexcept;

    /// For sessionq's own parts.
    [[nodiscard]] const std::shared_ptr<client::ClientCore>& core() const noexcept { return core_; }

private:
    explicit Client(std::shared_ptr<client::ClientCore> core) noexcept;

    std::shared_ptr<client::ClientCore> core_;
};

} // namespace sessionq
