#pragma once

#include <atomic>
#include <string>

#include <sessionq/sessionq.hpp>

#include "faults/event.hpp"
#include "faults/promptness.hpp"

namespace sessionq::faults {

/// Short enough that a few seconds hold what an hour would with the defaults.
[[nodiscard]] ClientOptions hasty_client(std::uint32_t receive_threads = 1);
inline constexpr Duration operation_timeout = std::chrono::seconds{3};

[[nodiscard]] std::string connection_string(std::uint16_t port);

struct ConsumerOptions {
    std::string connection{};
    std::string entity{};
    std::uint32_t holder{1};
    std::uint64_t seed{1};
    std::uint32_t slots{6};
    bool confirms{false}; ///< settlements are confirmed one by one, so that a lost lease repeats
                          ///< one message at most
    bool rolls_at_once{false}; ///< idle timeout zero
};

/// A processor on a client of its own, whose handlers write down what they see. Some of them fail,
/// some settle by themselves, some keep state. A handler that is left behind by `stop` may outlive
/// it, but not the log and the promptness.
class Consumer {
public:
    /// Connects. Throws Error.
    Consumer(ConsumerOptions options, EventLog& log, Promptness& promptness);

    /// False: not everything had ended by then.
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
