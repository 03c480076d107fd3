// SPDX-License-Identifier: MIT
#include "bench/network_case.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "bench/process.hpp"

namespace sessionq::bench {

using namespace std::chrono_literals;

test::DaemonProcess start_daemon(std::chrono::seconds lock,
                                 const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"--listen", "127.0.0.1:0", "--queue",
                                       std::string{queue} +
                                           ":session:lock=" + std::to_string(lock.count())};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return test::DaemonProcess{SESSIONQD, arguments};
}

void fill(const Client& client, std::size_t sessions, std::size_t messages, std::size_t body) {
    Sender sender{client, queue};
    const std::size_t at_once =
        std::max<std::size_t>(1, std::min<std::size_t>(500, 200'000 / (body + 100)));
    std::vector<Message> batch;
    for (std::size_t i = 0; i < messages; ++i) {
        batch.push_back(
            Message::of(std::string(body, 'x')).in_session("s" + std::to_string(i % sessions)));
        if (batch.size() == at_once || i + 1 == messages) {
            sender.send_all(std::exchange(batch, {}));
        }
    }
}

double consume(const Client& client, SessionProcessorOptions options, std::size_t messages) {
    std::atomic<std::size_t> handled{0};
    Clock::time_point first;
    std::promise<Clock::time_point> done;
    SessionProcessor processor{client, queue, std::move(options)};
    processor.on_message([&](MessageContext&) {
        const std::size_t count = handled.fetch_add(1, std::memory_order_relaxed) + 1;
        if (count == 1) {
            first = Clock::now();
        } else if (count == messages) {
            done.set_value(Clock::now());
        }
    });
    processor.start();
    auto last = done.get_future();
    const bool is_done = last.wait_for(patience) == std::future_status::ready;
    processor.stop(10s);
    return is_done ? seconds_between(first, last.get()) : 0;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

double percentile(const std::vector<double>& sorted, double share) {
    return sorted.empty() ? 0
                          : sorted[std::min(sorted.size() - 1,
                                            static_cast<std::size_t>(
                                                static_cast<double>(sorted.size()) * share))];
}

void figure(benchmark::State& state, const std::string& name, double value) {
    if (std::isfinite(value) && value > 0) {
        state.counters[name] = value;
    } else {
        state.SkipWithError(("no figure for " + name).c_str());
    }
}

void figures_of(benchmark::State& state, std::vector<double> microseconds) {
    std::sort(microseconds.begin(), microseconds.end());
    figure(state, "p50_us", percentile(microseconds, 0.5));
    figure(state, "p99_us", percentile(microseconds, 0.99));
    figure(state, "p99.9_us", percentile(microseconds, 0.999));
}

const std::vector<OfficialClient>& official_clients() {
    static const std::vector<OfficialClient> all{
        {.name = "javascript",
         .warm_messages = 2'560,
         .messages = 12'800,
         .warm_sessions = 400,
         .sessions = 1'600},
        {.name = "python",
         .warm_messages = 2'560,
         .messages = 19'200,
         .warm_sessions = 64,
         .sessions = 320},
        {.name = "go",
         .warm_messages = 12'800,
         .messages = 96'000,
         .warm_sessions = 400,
         .sessions = 2'400},
        {.name = "java",
         .warm_messages = 32'000,
         .messages = 64'000,
         .warm_sessions = 1'600,
         .sessions = 2'400},
        {.name = "dotnet",
         .warm_messages = 32'000,
         .messages = 64'000,
         .warm_sessions = 1'600,
         .sessions = 2'400},
    };
    return all;
}

std::optional<nlohmann::json> run_client(benchmark::State& state, const std::string& name,
                                         const std::string& connection,
                                         const std::vector<std::string>& work) {
    const char* peers = std::getenv("SESSIONQ_BENCH_PEERS");
    const std::filesystem::path place = std::filesystem::path{peers != nullptr ? peers : ""} / name;
    if (peers == nullptr || !std::filesystem::exists(place / "peer")) {
        std::string why = "not installed";
        if (std::ifstream said{place / "skipped"}; said) {
            std::getline(said, why);
        }
        state.SkipWithError(("skipped: " + name + ": " + why).c_str());
        return std::nullopt;
    }
    std::vector<std::string> command{"env", "SESSIONQ_CONNECTION=" + connection,
                                     (place / "peer").string()};
    command.insert(command.end(), work.begin(), work.end());
    const Finished peer = run(command);
    if (peer.output.empty()) {
        state.SkipWithError((name + " failed").c_str());
        return std::nullopt;
    }
    nlohmann::json said = nlohmann::json::parse(peer.output);
    said["processor_seconds"] = peer.processor_seconds;
    return said;
}

std::map<std::string, std::map<std::string, std::vector<double>>>& rates() {
    static std::map<std::string, std::map<std::string, std::vector<double>>> all;
    return all;
}

} // namespace sessionq::bench
