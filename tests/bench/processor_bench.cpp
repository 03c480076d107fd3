// SPDX-License-Identifier: MIT
// The whole in-process path: sender, broker, port, lanes, workers, settlement.

#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <sessionq/sessionq.hpp>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns a figure of /proc/self/status in its own unit.
long process_status(const std::string& name) {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stol(line.substr(name.size() + 1));
        }
    }
    return 0;
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Sends `messages` to `sessions` in turn, in the queue "bench".
void fill(const sessionq::Client& client, std::size_t sessions, std::size_t messages) {
    sessionq::Sender sender{client, "bench"};
    std::vector<sessionq::Message> batch;
    for (std::size_t i = 0; i < messages; ++i) {
        batch.push_back(sessionq::Message::of("0123456789abcdef")
                            .in_session("s" + std::to_string(i % sessions)));
        if (batch.size() == 1000 || i + 1 == messages) {
            sender.send_all(std::exchange(batch, {}));
        }
    }
}

struct Bench {
    explicit Bench(std::size_t sessions, std::size_t messages) {
        broker.create_queue("bench", {.requires_session = true});
        fill(client, sessions, messages);
    }

    sessionq::LocalBroker broker{};
    sessionq::Client client{sessionq::Client::in_process(broker)};
};

/// Starts a processor, waits until `messages` are handled, and returns the seconds. `batch`: most
/// messages in a batch; zero: one at a time.
double consume(Bench& bench, sessionq::SessionProcessorOptions options, std::size_t messages,
               std::uint32_t batch = 0) {
    std::atomic<std::size_t> left{messages};
    std::promise<void> done;
    const auto handled = [&](std::size_t count) {
        if (left.fetch_sub(count, std::memory_order_relaxed) == count) {
            done.set_value();
        }
    };
    sessionq::SessionProcessor processor{bench.client, "bench", std::move(options)};
    if (batch == 0) {
        processor.on_message([&](sessionq::MessageContext&) { handled(1); });
    } else {
        processor.on_messages([&](std::span<sessionq::MessageContext> all) { handled(all.size()); },
                              {.max_messages = batch});
    }
    const auto begin = Clock::now();
    processor.start();
    done.get_future().wait();
    const double seconds = seconds_since(begin);
    processor.stop(10s);
    return seconds;
}

/// Messages a second with this many sessions locked at once.
void steady_with(benchmark::State& state, std::optional<sessionq::CrashGuard> guard) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    constexpr std::size_t messages = 400'000;
    for (auto _ : state) {
        Bench bench{sessions, messages};
        state.SetIterationTime(
            consume(bench,
                    {.max_concurrent_sessions = static_cast<std::uint32_t>(sessions),
                     .session_idle_timeout = 10s,
                     .worker_threads = 2,
                     .crash_guard = guard},
                    messages));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(messages) *
                            static_cast<std::int64_t>(state.iterations()));
}
void steady(benchmark::State& state) { steady_with(state, {}); }
/// A guard that has nothing to do, because no consumer was lost.
void steady_guarded(benchmark::State& state) { steady_with(state, sessionq::CrashGuard{}); }
BENCHMARK(steady)
    ->Arg(1)
    ->Arg(64)
    ->Arg(1'000)
    ->Arg(10'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK(steady_guarded)->Arg(64)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

/// Messages a second with 64 sessions, handled one by one (0), and in batches.
void batches(benchmark::State& state) {
    constexpr std::size_t sessions = 64;
    constexpr std::size_t messages = 400'000;
    for (auto _ : state) {
        Bench bench{sessions, messages};
        state.SetIterationTime(consume(
            bench,
            {.max_concurrent_sessions = sessions, .session_idle_timeout = 10s, .worker_threads = 2},
            messages, static_cast<std::uint32_t>(state.range(0))));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(messages) *
                            static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(batches)
    ->Arg(0)
    ->Arg(1)
    ->Arg(100)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

/// Sessions a second, each with one message and left as soon as it is empty.
void rolling_with(benchmark::State& state, std::optional<sessionq::CrashGuard> guard) {
    constexpr std::size_t sessions = 100'000;
    for (auto _ : state) {
        Bench bench{sessions, sessions};
        state.SetIterationTime(
            consume(bench,
                    {.max_concurrent_sessions = static_cast<std::uint32_t>(state.range(0)),
                     .session_idle_timeout = 0s,
                     .worker_threads = 2,
                     .crash_guard = guard},
                    sessions));
    }
    state.counters["sessions/s"] =
        benchmark::Counter(static_cast<double>(sessions) * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
}
void rolling(benchmark::State& state) { rolling_with(state, {}); }
void rolling_guarded(benchmark::State& state) { rolling_with(state, sessionq::CrashGuard{}); }
BENCHMARK(rolling)
    ->Arg(64)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);
BENCHMARK(rolling_guarded)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);

/// Returns the allocated bytes, without freed memory that the allocator keeps.
double bytes_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// The cost of a locked session without messages: bytes, threads, and the processor share of all of
/// them. The bytes are those freed once all sessions are released and the processor is gone, in the
/// client and in the broker.
void waiting(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        Bench bench{sessions, sessions};
        std::atomic<std::size_t> left{sessions};
        std::promise<void> done;
        std::optional<sessionq::SessionProcessor> processor{
            std::in_place, bench.client, "bench",
            sessionq::SessionProcessorOptions{.max_concurrent_sessions =
                                                  static_cast<std::uint32_t>(sessions),
                                              .session_idle_timeout = sessionq::Duration::max(),
                                              .worker_threads = 2}};
        processor->on_message([&](sessionq::MessageContext&) {
            if (left.fetch_sub(1, std::memory_order_relaxed) == 1) {
                done.set_value();
            }
        });
        const auto begin = Clock::now();
        processor->start();
        done.get_future().wait();
        state.SetIterationTime(seconds_since(begin));
        std::this_thread::sleep_for(500ms); // for settlements
        state.counters["process_threads"] = static_cast<double>(process_status("Threads"));
        const double used_before = processor_seconds();
        constexpr auto watched = 5s;
        std::this_thread::sleep_for(watched);
        state.counters["idle_core_percent"] = 100 * (processor_seconds() - used_before) /
                                              std::chrono::duration<double>(watched).count();
        const double held = bytes_in_use();
        processor->stop(10s);
        processor.reset();
        state.counters["bytes/session"] = (held - bytes_in_use()) / static_cast<double>(sessions);
    }
}
BENCHMARK(waiting)->Arg(10'000)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

} // namespace
