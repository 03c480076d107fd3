// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>

#include "support/daemon_process.hpp"

/// Shared by the cases over the network. Each measurement has a broker of its own.
namespace sessionq::bench {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t session_registry = 64;
inline constexpr const char* queue = "bench";
inline constexpr auto patience = std::chrono::minutes{2};

/// Starts a sessionqd of this build with an empty queue.
[[nodiscard]] test::DaemonProcess start_daemon(std::chrono::seconds lock = std::chrono::minutes{5},
                                               const std::vector<std::string>& options = {});
void fill(const Client& client, std::size_t sessions, std::size_t messages, std::size_t body);
/// Returns the seconds from the first handled message to the last, or zero on a timeout.
[[nodiscard]] double consume(const Client& client, SessionProcessorOptions options,
                             std::size_t messages);

[[nodiscard]] inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}
/// Returns the greater of the two middle values if their number is even.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double percentile(const std::vector<double>& sorted, double share);

/// Sets a counter. A value of zero or less ends the case with an error that names it.
void figure(benchmark::State& state, const std::string& name, double value);
/// Sets p50_us, p99_us and p99.9_us.
void figures_of(benchmark::State& state, std::vector<double> microseconds);

/// One of Azure's clients at the same work. It gets enough messages for a second or more, because
/// rates are steady then.
struct OfficialClient {
    std::string name;
    std::size_t warm_messages;
    std::size_t messages;
    std::size_t warm_sessions;
    std::size_t sessions;
};
[[nodiscard]] const std::vector<OfficialClient>& official_clients();

/// Returns the client's final report with "processor_seconds" added, or nothing if the case has
/// ended. A client that is not installed skips the case. SESSIONQ_BENCH_PEERS holds a directory for
/// each client, with a program "peer" or a file "skipped" with the reason.
[[nodiscard]] std::optional<nlohmann::json> run_client(benchmark::State& state,
                                                       const std::string& name,
                                                       const std::string& connection,
                                                       const std::vector<std::string>& work);

/// Rates by case and contender, for the ratios at the end.
[[nodiscard]] std::map<std::string, std::map<std::string, std::vector<double>>>& rates();

} // namespace sessionq::bench
