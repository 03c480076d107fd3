// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/backoff.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

class Engine;

/// Decides when a connection is made and to which host, and keeps those who wait for it. Hosts are
/// tried in order, from the first after a loss, with a backoff between rounds (R17). A connection
/// that did not last counts as a round that failed. No I/O, no clock.
class ConnectionKeeper {
public:
    using WaitId = std::uint64_t;
    using Handler = std::function<void(core::Result<Engine*>)>;
    using Handlers = std::vector<Handler>;
    enum class Phase : std::uint8_t { disconnected, connecting, open, closed };

    struct Options {
        std::size_t hosts{1};
        BackoffOptions backoff{};
        std::uint64_t seed{0};
    };

    /// The owner's next step: nothing, connect to `host`, or call `next` again at `when`.
    struct Step {
        enum class Kind : std::uint8_t { none, connect, wait };
        Kind kind{Kind::none};
        std::size_t host{0};
        TimePoint when{};
    };

    explicit ConnectionKeeper(const Options& options) noexcept
        : hosts_{options.hosts},
          lasting_{options.backoff.min * 10},
          backoff_{options.backoff},
          random_{options.seed} {}

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// Since when there has been no connection. Unset: it is open, or was never asked for.
    [[nodiscard]] std::optional<TimePoint> down_since() const noexcept { return down_since_; }

    /// The handler waits until a result is known. It is never run from within the keeper.
    [[nodiscard]] WaitId add(Handler handler);
    /// Forgets the handler. Ids that are not waiting are ignored.
    void give_up(WaitId id) { waiting_.erase(id); }

    /// Call after every other input and when a wait has passed. `connect` starts an attempt, which
    /// ends with `opened` or `failed`.
    [[nodiscard]] Step next(TimePoint now);

    /// The attempt succeeded. Returns the handlers to run with the connection.
    [[nodiscard]] Handlers opened(TimePoint now);
    /// The attempt failed. Returns the handlers to run with the failure: none while there are hosts
    /// left to try.
    [[nodiscard]] Handlers failed(TimePoint now);
    /// The open connection ended. Handlers that wait get the next one.
    void lost(TimePoint now);
    /// No connection is made from now on. Returns the handlers to run with `cancelled`.
    [[nodiscard]] Handlers close();

private:
    [[nodiscard]] Handlers take_waiting();

    const std::size_t hosts_;
    const Duration lasting_; // a connection that stayed for so long ends the row of failures
    core::Backoff backoff_;
    core::Random random_;
    Phase phase_{Phase::disconnected};
    std::map<WaitId, Handler> waiting_{};
    WaitId last_id_{0};
    std::size_t host_{0};
    TimePoint opened_at_{};
    std::optional<TimePoint> down_since_{};
    TimePoint not_before_{TimePoint::min()};
};

} // namespace sessionq::amqp
