// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/byte_budget.hpp"
#include "core/event_loop.hpp"
#include "core/mpsc_queue.hpp"
#include "core/random.hpp"
#include "core/recycler.hpp"
#include "ports/endpoint.hpp"
#include "processor/credit/drain_time.hpp"
#include "processor/report/meters.hpp"
#include "processor/report/renewal_book.hpp"
#include "processor/session/session_timers.hpp"
#include "processor/shard_call.hpp"
#include "processor/shared_state.hpp"

namespace sessionq::detail::processor {

/// The things that all sessions of a processor share on one receive thread: the endpoint, the byte
/// budget, timers, meters. The shard owns it and passes it to its slots and sessions. It decides
/// nothing. Only the loop may use it. Other threads may use `shared`, `endpoint` and `notify`, and
/// read `meters`.
struct Workplace {
    Workplace(std::shared_ptr<SharedState> state, ports::Endpoint& port, std::uint64_t seed,
              std::size_t budget_bytes, std::size_t call_bytes)
        : shared{std::move(state)},
          endpoint{port},
          random{seed},
          budget{budget_bytes, first_guess(port)},
          call_memory{call_bytes, most_kept_calls},
          timers{port.loop()} {}

    /// Returns the expected size of a message in bytes, before any message came. Some ports have
    /// their messages in this process's memory before the delivery. The processor uses no more
    /// memory if it asks such a port for messages. So the size is small, and many messages can be
    /// asked for.
    [[nodiscard]] static double first_guess(const ports::Endpoint& port) noexcept {
        return port.capabilities().has(ports::Capability::messages_in_process)
                   ? 1024
                   : core::ByteBudget::first_guess;
    }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return endpoint.loop(); }
    [[nodiscard]] const SessionProcessorOptions& options() const noexcept {
        return shared->options;
    }

    /// Queues a call that has news for the loop. Any thread.
    void notify(ShardCall& call) noexcept {
        core::EventLoop& loop = endpoint.loop();
        if (notices.push(call)) {
            loop.wake();
        }
    }

    /// The most ended calls whose memory is kept for later calls. So many calls come and go within
    /// a few turns. Their memory is at most 1.6 MB.
    static constexpr std::size_t most_kept_calls = 4096;

    const std::shared_ptr<SharedState> shared;
    ports::Endpoint& endpoint;
    std::weak_ptr<const void> life{}; ///< the shard; a late answer locks it first
    // Only the loop touches the members from here on. They have cache lines of their own.
    alignas(64) core::Random random;
    core::ByteBudget budget;
    DrainTime drain_time{};
    RenewalBook renewals{};
    core::Recycler call_memory;
    SessionActions::Spare action_memory{};
    SessionTimers timers;
    alignas(64) core::MpscQueue<ShardCall> notices{};
    alignas(64) StopReport tally{}; ///< counts since the stop began
    alignas(64) Meters meters{};    ///< any thread may read them
};

} // namespace sessionq::detail::processor
