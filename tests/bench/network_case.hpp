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

/// What the cases over the network have in common. Each measurement has a broker of its own.
namespace sessionq::bench {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t held_sessions = 64;
inline constexpr const char* queue = "bench";

/// A sessionqd of this build with an empty queue.
[[nodiscard]] test::DaemonProcess start_daemon(std::chrono::seconds lock = std::chrono::minutes{5});
void fill(const Client& client, std::size_t sessions, std::size_t messages, std::size_t body);

[[nodiscard]] inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}
/// Of two the greater.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double percentile(const std::vector<double>& sorted, double share);

/// A counter that is above zero if it was measured at all. Otherwise the case ends as an error that
/// names it.
void figure(benchmark::State& state, const std::string& name, double value);
/// p50_us, p99_us and p99.9_us.
void figures_of(benchmark::State& state, std::vector<double> microseconds);

/// A client of Azure's at the same work. As much of it as takes a second or more: rates are steady
/// before that.
struct OfficialClient {
    std::string name;
    std::size_t warm_messages;
    std::size_t messages;
    std::size_t warm_sessions;
    std::size_t sessions;
};
[[nodiscard]] const std::vector<OfficialClient>& official_clients();

/// What a client says at its end, with "processor_seconds". Nothing: the case ended; as skipped,
/// and why, if the client is not installed. SESSIONQ_BENCH_PEERS names the directory where each has
/// one of its own, with a program "peer" or a line "skipped".
[[nodiscard]] std::optional<nlohmann::json> run_client(benchmark::State& state,
                                                       const std::string& name,
                                                       const test::DaemonProcess& daemon,
                                                       const std::vector<std::string>& work);

/// Rates by case and contender, for the ratios at the end.
[[nodiscard]] std::map<std::string, std::map<std::string, std::vector<double>>>& rates();

} // namespace sessionq::bench
