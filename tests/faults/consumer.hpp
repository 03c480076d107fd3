// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>

#include <sessionq/sessionq.hpp>

#include "faults/event.hpp"
#include "faults/promptness.hpp"

namespace sessionq::faults {

/// Client options with short timeouts, so that a run of seconds covers what takes an hour with the
/// defaults.
[[nodiscard]] ClientOptions hasty_client(std::uint32_t receive_threads = 1);
inline constexpr Duration operation_timeout = std::chrono::seconds{3};

[[nodiscard]] std::string connection_string(std::uint16_t port);

struct ConsumerOptions {
    std::string connection{};
    std::string entity{};
    std::uint32_t holder{1};
    std::uint64_t seed{1};
    std::uint32_t slots{6};
    /// confirms settlements one by one, so that a lost lock repeats at most one message
    bool confirms{false};
    bool rolls_at_once{false}; ///< idle timeout zero
};

/// A processor with its own client, whose handlers record events. Some handlers throw, some settle,
/// some keep state. A handler that `stop` leaves behind may outlive the consumer, but not the log
/// and the promptness.
class Consumer {
public:
    /// Connects. Throws Error.
    Consumer(ConsumerOptions options, EventLog& log, Promptness& promptness);

    /// Returns false if handlers were left behind.
    bool stop(Duration timeout);

    [[nodiscard]] ProcessorCounters counters() const { return processor_.counters(); }
    [[nodiscard]] ProcessorDescription describe() const { return processor_.describe(); }
    [[nodiscard]] std::size_t window() const noexcept { return options_.confirms ? 1 : prefetch; }

    static constexpr std::uint32_t prefetch = 8;
    static constexpr std::uint32_t workers = 2;

private:
    const ConsumerOptions options_;
    EventLog& log_;
    Promptness& promptness_;
    Client client_;
    SessionProcessor processor_;
};

} // namespace sessionq::faults
